package jwt_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"testing"
)

// forger makes tokens with a free choice of every part, from the documented key
// derivation and nothing of this package.
type forger struct {
	tb           testing.TB
	secret, salt string
	fixed        bool // an IV of zeros, for fuzzing, whose processes must agree on what is genuine
}

func (f forger) newIV(size int) []byte {
	iv := make([]byte, size)
	if !f.fixed {
		rand.Read(iv)
	}
	return iv
}

var b64 = base64.RawURLEncoding

func (f forger) key(size int) []byte {
	f.tb.Helper()
	key, err := hkdf.Key(sha256.New, []byte(f.secret), []byte(f.salt), "Auth.js Generated Encryption Key ("+f.salt+")", size)
	if err != nil {
		f.tb.Fatal(err)
	}
	return key
}

func (f forger) kid(size int) string {
	jwk := []byte(`{"k":"` + b64.EncodeToString(f.key(size)) + `","kty":"oct"}`)
	if size == 32 {
		sum := sha256.Sum256(jwk)
		return b64.EncodeToString(sum[:])
	}
	sum := sha512.Sum512(jwk)
	return b64.EncodeToString(sum[:])
}

func (f forger) header() string {
	return `{"alg":"dir","enc":"A256CBC-HS512","kid":"` + f.kid(64) + `"}`
}

// cbc seals payload under header with A256CBC-HS512, whatever header says.
func (f forger) cbc(header, payload string) string {
	n := 16 - len(payload)%16
	text := []byte(payload)
	for range n {
		text = append(text, byte(n))
	}
	return f.cbcPadded(header, text)
}

// cbcPadded leaves the padding to the caller.
func (f forger) cbcPadded(header string, text []byte) string {
	f.tb.Helper()
	block, err := aes.NewCipher(f.key(64)[32:])
	if err != nil {
		f.tb.Fatal(err)
	}
	iv := f.newIV(16)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(text, text)
	return f.authentic(header, iv, text)
}

// authentic makes the tag of A256CBC-HS512 over anything.
func (f forger) authentic(header string, iv, ciphertext []byte) string {
	f.tb.Helper()
	aad := b64.EncodeToString([]byte(header))
	mac := hmac.New(sha512.New, f.key(64)[:32])
	mac.Write([]byte(aad))
	mac.Write(iv)
	mac.Write(ciphertext)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(aad))*8))
	return aad + ".." + b64.EncodeToString(iv) + "." + b64.EncodeToString(ciphertext) + "." + b64.EncodeToString(mac.Sum(nil)[:32])
}

// gcm seals payload under header with AES-GCM and a key of size bytes.
func (f forger) gcm(header, payload string, size int) string {
	f.tb.Helper()
	block, err := aes.NewCipher(f.key(size))
	if err != nil {
		f.tb.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		f.tb.Fatal(err)
	}
	iv, aad := f.newIV(12), b64.EncodeToString([]byte(header))
	sealed := aead.Seal(nil, iv, []byte(payload), []byte(aad))
	text, tag := sealed[:len(sealed)-16], sealed[len(sealed)-16:]
	return aad + ".." + b64.EncodeToString(iv) + "." + b64.EncodeToString(text) + "." + b64.EncodeToString(tag)
}
