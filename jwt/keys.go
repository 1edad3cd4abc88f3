package jwt

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"sync"
)

// cbcKey is what sealing and opening under one secret need, made once.
type cbcKey struct {
	kid    string
	header string    // encoded protected header of every token made with this key
	aad    []byte    // the same text, in the form that hashing wants
	pool   sync.Pool // *scratch
}

// scratch is the memory of one operation. What passes through an interface
// would otherwise be allocated anew each time; the HMAC in it remembers its key
// as a hash state, which saves two of seven compressions on a typical session.
type scratch struct {
	mac      hash.Hash
	enc, dec cbcMode
	iv       [aes.BlockSize]byte
	sum      [sha512.Size]byte
	ct       []byte // ciphertext
	out      []byte // token
}

// cbcMode is a CBC mode that can begin anew with another IV, as those of
// crypto/aes can; crypto/tls relies on that, too. A new one would copy the whole
// expanded key.
type cbcMode interface {
	cipher.BlockMode
	SetIV(iv []byte)
}

// maxKept bounds the buffers that stay in the pool; it is more than a session
// in pieces ordinarily has.
const maxKept = 32 << 10

// newCBCKey derives the A256CBC-HS512 key of a secret and a salt, with its kid and its
// header. It fails only where the platform forbids a key, as FIPS 140 does with very short
// secrets.
func newCBCKey(secret, salt string) (*cbcKey, error) {
	key, err := derive(secret, salt, 64)
	if err != nil {
		return nil, err
	}
	macKey, encryptionKey := key[:32], key[32:] // RFC 7518 section 5.2.2.1
	block, err := aes.NewCipher(encryptionKey)
	if err != nil {
		return nil, err
	}
	sum := sha512.Sum512(thumbprintInput(key))
	kid := base64.RawURLEncoding.EncodeToString(sum[:])
	encoded := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"dir","enc":"` + encCBC + `","kid":"` + kid + `"}`))
	k := &cbcKey{kid: kid, header: encoded, aad: []byte(encoded)}
	k.pool.New = func() any { return newScratch(macKey, block) }
	return k, nil
}

// newScratch returns memory whose MAC has the key macKey, and whose modes use block.
func newScratch(macKey []byte, block cipher.Block) *scratch {
	s := &scratch{mac: hmac.New(sha512.New, macKey)}
	s.enc = cipher.NewCBCEncrypter(block, s.iv[:]).(cbcMode)
	s.dec = cipher.NewCBCDecrypter(block, s.iv[:]).(cbcMode)
	return s
}

// borrow takes memory for one operation from the pool, with the MAC reset. The caller
// returns it with giveBack.
func (k *cbcKey) borrow() *scratch {
	s := k.pool.Get().(*scratch)
	s.mac.Reset()
	return s
}

// giveBack puts s into the pool, or drops it if its buffers are larger than maxKept.
func (k *cbcKey) giveBack(s *scratch) {
	if cap(s.out) <= maxKept {
		k.pool.Put(s)
	}
}

// gcmKey opens tokens made elsewhere with A256GCM; we never make them.
type gcmKey struct {
	kid  string
	aead cipher.AEAD
}

// newGCMKey derives the A256GCM key of a secret and a salt, with its kid. It fails only
// where the platform forbids the key or the mode.
func newGCMKey(secret, salt string) (*gcmKey, error) {
	key, err := derive(secret, salt, 32)
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
	sum := sha256.Sum256(thumbprintInput(key))
	return &gcmKey{kid: base64.RawURLEncoding.EncodeToString(sum[:]), aead: aead}, nil
}

// derive returns a key of size bytes by HKDF-SHA256. The info of HKDF names the salt as
// well, as in Auth.js, so that keys of different cookies have nothing in common. It fails
// only where the platform forbids so short a secret.
func derive(secret, salt string, size int) ([]byte, error) {
	return hkdf.Key(sha256.New, []byte(secret), []byte(salt), "Auth.js Generated Encryption Key ("+salt+")", size)
}

// thumbprintInput returns the canonical JWK of a symmetric key (RFC 7638
// section 3.2).
func thumbprintInput(key []byte) []byte {
	return []byte(`{"k":"` + base64.RawURLEncoding.EncodeToString(key) + `","kty":"oct"}`)
}
