package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
)

// sealPrefix begins every sealed value. A value without it is plain.
const sealPrefix = "lk1."

// keyIDLength is the length of the key id that follows the prefix.
const keyIDLength = 8

// sealInfo derives keys that seal stored provider tokens and nothing else.
const sealInfo = "latchkey provider token at rest"

// Seals encrypts tokens for the store. It is safe for concurrent use.
type Seals struct {
	keys  []sealKey // the newest first
	plain bool      // new values are written unsealed
	own   bool      // nothing else reads what is stored, though it is plain
}

// Unsealed returns seals that leave tokens as they are, for rows that exist in the
// memory of this process alone.
func Unsealed() *Seals { return &Seals{plain: true, own: true} }

// isShared reports whether other programs may read the tokens: they are plain, and the
// rows are not those of Unsealed.
func (s *Seals) isShared() bool { return s.plain && !s.own }

type sealKey struct {
	id   string
	aead cipher.AEAD
}

// Place is where a sealed value is stored. A value that is copied to another place
// does not open.
type Place struct {
	Provider, AccountID string
	Field               string // such as "refresh_token"
}

// Grant names the client that a token was issued to. The zero Grant is not known.
type Grant struct {
	Issuer string // or the URL of the token endpoint
	Client string // client id
}

var errEmptyKey = errors.New("a key is empty")

// NewSeals returns the seals of keys, the newest first. With plain it opens sealed values
// and writes new ones unsealed. It returns an error if there is neither a key nor plain,
// and for an empty key.
func NewSeals(keys []string, plain bool) (*Seals, error) {
	s := &Seals{plain: plain}
	for _, secret := range keys {
		if secret == "" {
			return nil, errEmptyKey
		}
		key, err := hkdf.Key(sha256.New, []byte(secret), nil, sealInfo, 32)
		if err != nil {
			return nil, err
		}
		name, err := hkdf.Key(sha256.New, []byte(secret), nil, sealInfo+" id", keyIDLength*6/8)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, sealKey{base64.RawURLEncoding.EncodeToString(name), aead})
	}
	if len(s.keys) == 0 && !plain {
		return nil, errors.New("vault: there is no key")
	}
	return s, nil
}

// Seal returns the stored form of a token that belongs to a grant: sealed under the
// newest key, or the token itself if the seals are plain. An empty token stays empty.
func (s *Seals) Seal(at Place, g Grant, token string) string {
	if token == "" || s.plain {
		return token
	}
	key := s.keys[0]
	content := appendText(appendText(appendText(nil, g.Issuer), g.Client), token)
	nonce := make([]byte, key.aead.NonceSize(), key.aead.NonceSize()+len(content)+key.aead.Overhead())
	rand.Read(nonce) // never fails
	sealed := key.aead.Seal(nonce, nonce, content, at.additional())
	return sealPrefix + key.id + "." + base64.RawURLEncoding.EncodeToString(sealed)
}

// Open returns the token of a stored value and the grant that it belongs to. A value that
// is not sealed is the token itself, and its grant is zero. A sealed value that does not
// open at this place with any key is ErrTokenKey.
func (s *Seals) Open(at Place, value string) (token string, g Grant, err error) {
	rest, sealed := strings.CutPrefix(value, sealPrefix)
	if !sealed {
		return value, g, nil
	}
	id, text, _ := strings.Cut(rest, ".")
	for _, key := range s.keys {
		if key.id != id {
			continue
		}
		if token, g, ok := key.open(at, text); ok {
			return token, g, nil
		}
	}
	return "", g, failure.WrapFor(fault.ErrTokenKey, at.Provider, errors.New("a stored token does not open: its key is not among Config.Tokens.Keys (or Config.Secrets, if Keys is empty), or the row was changed"))
}

// open decrypts text, a sealed value without its prefix and key id. It returns false if
// the value is malformed, was changed, or was sealed for another place.
func (k *sealKey) open(at Place, text string) (token string, g Grant, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < k.aead.NonceSize() {
		return "", g, false
	}
	content, err := k.aead.Open(nil, raw[:k.aead.NonceSize()], raw[k.aead.NonceSize():], at.additional())
	if err != nil {
		return "", g, false
	}
	texts, ok := cutTexts(content, 3)
	if !ok {
		return "", g, false
	}
	return texts[2], Grant{texts[0], texts[1]}, true
}

// additional returns the data that a sealed value is bound to.
func (p Place) additional() []byte {
	return appendText(appendText(appendText(appendText(nil, "provider token"), p.Field), p.Provider), p.AccountID)
}

// KeyIDOf returns the id of the key that a stored value is sealed under, whether that key
// is known or not. It is empty for a plain value.
func KeyIDOf(value string) string {
	rest, sealed := strings.CutPrefix(value, sealPrefix)
	if !sealed {
		return ""
	}
	id, _, _ := strings.Cut(rest, ".")
	return id
}

// appendText appends a text with its length, so that no two lists of texts are
// written alike.
func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// cutTexts reads n texts that appendText has written. It returns false unless from has
// these and nothing behind them.
func cutTexts(from []byte, n int) (texts []string, ok bool) {
	for range n {
		length, used := binary.Uvarint(from)
		if used <= 0 || length > uint64(len(from)-used) {
			return nil, false
		}
		texts = append(texts, string(from[used:used+int(length)]))
		from = from[used+int(length):]
	}
	return texts, len(from) == 0
}
