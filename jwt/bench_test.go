package jwt_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/latchkeyhq/latchkey/jwt"
)

const (
	benchSecret = "a secret of more than 32 characters!"
	benchSalt   = "authjs.session-token"
)

// benchPayload is a session as a sign-in leaves it: 195 bytes.
var benchPayload = []byte(`{"name":"Alice Example","email":"alice@example.com","picture":null,"sub":"a3bb189e-8bf9-4c5c-9d5e-000000000000","iat":1800000000,"exp":1802592000,"jti":"0e37df36-f698-4b5c-8e10-9b1f9f0a0a0a"}    `)

func BenchmarkOpen(b *testing.B) {
	token, err := jwt.NewCodec([]string{benchSecret}, benchSalt).Seal(benchPayload)
	if err != nil {
		b.Fatal(err)
	}
	hand := newByHand(b)
	codec := jwt.NewCodec([]string{benchSecret}, benchSalt)
	rotated := jwt.NewCodec([]string{"n1 n1 n1", "n2 n2 n2", "n3 n3 n3", benchSecret}, benchSalt)
	for _, way := range []struct {
		name string
		open func(string) ([]byte, error)
	}{
		{"handwritten", hand.open},
		{"codec", codec.Open},
		{"codec/fourth secret", rotated.Open},
		{"go-jose", func(token string) ([]byte, error) {
			o, err := jose.ParseEncryptedCompact(token, []jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256CBC_HS512})
			if err != nil {
				return nil, err
			}
			return o.Decrypt(hand.key)
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if text, err := way.open(token); err != nil || len(text) != len(benchPayload) {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSeal(b *testing.B) {
	hand := newByHand(b)
	options := (&jose.EncrypterOptions{}).WithHeader("kid", hand.kid)
	general, err := jose.NewEncrypter(jose.A256CBC_HS512, jose.Recipient{Algorithm: jose.DIRECT, Key: hand.key}, options)
	if err != nil {
		b.Fatal(err)
	}
	codec := jwt.NewCodec([]string{benchSecret}, benchSalt)
	for _, way := range []struct {
		name string
		seal func([]byte) (string, error)
	}{
		{"handwritten", hand.seal},
		{"codec", codec.Seal},
		{"go-jose", func(text []byte) (string, error) {
			o, err := general.Encrypt(text)
			if err != nil {
				return "", err
			}
			return o.CompactSerialize()
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := way.seal(benchPayload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRefused shows that what is refused costs no more than what is
// accepted.
func BenchmarkRefused(b *testing.B) {
	codec := jwt.NewCodec([]string{benchSecret, "an older secret"}, benchSalt)
	token, err := codec.Seal(benchPayload)
	if err != nil {
		b.Fatal(err)
	}
	foreign, err := jwt.NewCodec([]string{"another secret"}, benchSalt).Seal(benchPayload)
	if err != nil {
		b.Fatal(err)
	}
	last := strings.LastIndexByte(token, '.') + 1
	for _, way := range []struct{ name, token string }{
		{"wrong tag", token[:last] + flip(token[last:last+1]) + token[last+1:]},
		{"unknown kid", foreign},
		{"too long", strings.Repeat("a.", jwt.MaxLen)},
		{"no token", "hello"},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := codec.Open(way.token); err == nil {
					b.Fatal("accepted")
				}
			}
		})
	}
}

func flip(char string) string {
	if char == "A" {
		return "B"
	}
	return "A"
}

func BenchmarkDecode(b *testing.B) {
	clock := func() time.Time { return time.Unix(1800000000, 0) }
	p := jwt.Params{Secrets: []string{benchSecret}, Salt: benchSalt, Time: clock}
	token, err := jwt.Encode(jwt.Claims{"name": "Alice Example", "sub": "1"}, p)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jwt.Decode(token, p); err != nil {
			b.Fatal(err)
		}
	}
}

// byHand is the yardstick: what one writes with the standard library in an
// afternoon, keys derived once.
type byHand struct {
	key    []byte
	kid    string
	header string
}

func newByHand(tb testing.TB) *byHand {
	tb.Helper()
	key, err := hkdf.Key(sha256.New, []byte(benchSecret), []byte(benchSalt), "Auth.js Generated Encryption Key ("+benchSalt+")", 64)
	if err != nil {
		tb.Fatal(err)
	}
	sum := sha512.Sum512([]byte(`{"k":"` + base64.RawURLEncoding.EncodeToString(key) + `","kty":"oct"}`))
	kid := base64.RawURLEncoding.EncodeToString(sum[:])
	header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"dir","enc":"A256CBC-HS512","kid":"` + kid + `"}`))
	return &byHand{key: key, kid: kid, header: header}
}

func (h *byHand) tag(iv, text []byte) []byte {
	mac := hmac.New(sha512.New, h.key[:32])
	mac.Write([]byte(h.header))
	mac.Write(iv)
	mac.Write(text)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(h.header)*8)))
	return mac.Sum(nil)[:32]
}

func (h *byHand) seal(payload []byte) (string, error) {
	block, err := aes.NewCipher(h.key[32:])
	if err != nil {
		return "", err
	}
	iv := make([]byte, 16)
	rand.Read(iv)
	n := 16 - len(payload)%16
	text := append(bytes.Clone(payload), bytes.Repeat([]byte{byte(n)}, n)...)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(text, text)
	e := base64.RawURLEncoding
	return h.header + ".." + e.EncodeToString(iv) + "." + e.EncodeToString(text) + "." + e.EncodeToString(h.tag(iv, text)), nil
}

func (h *byHand) open(token string) ([]byte, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 5 || parts[0] != h.header {
		return nil, errors.New("form")
	}
	e := base64.RawURLEncoding.Strict()
	iv, err1 := e.DecodeString(parts[2])
	text, err2 := e.DecodeString(parts[3])
	tag, err3 := e.DecodeString(parts[4])
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	if !hmac.Equal(tag, h.tag(iv, text)) {
		return nil, errors.New("tag")
	}
	block, err := aes.NewCipher(h.key[32:])
	if err != nil {
		return nil, err
	}
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(text, text)
	return text[:len(text)-int(text[len(text)-1])], nil
}
