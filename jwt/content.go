package jwt

import (
	"crypto/aes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"slices"
)

// The content encryptions we know (RFC 7518 section 5.1). A256GCM is read only.
const (
	encCBC = "A256CBC-HS512"
	encGCM = "A256GCM"
)

const (
	cbcTagSize = sha512.Size / 2 // the MAC is cut in half (RFC 7518 section 5.2.5)
	gcmIVSize  = 12
	gcmTagSize = 16
)

// strict refuses a last character whose unused bits are set; without it several
// texts would mean the same bytes, and a token could be altered without losing
// its validity.
var strict = base64.RawURLEncoding.Strict()

// seal encrypts payload with A256CBC-HS512 (RFC 7518 section 5.2.2.1) and returns the
// token in the compact serialization of RFC 7516. It returns ErrTooLong for a token over
// MaxLen.
func (k *cbcKey) seal(payload []byte) (string, error) {
	padded := len(payload) + aes.BlockSize - len(payload)%aes.BlockSize
	if k.tokenLen(padded) > MaxLen {
		return "", ErrTooLong
	}
	s := k.borrow()
	defer k.giveBack(s)
	rand.Read(s.iv[:]) // never fails
	s.ct = pad(append(slices.Grow(s.ct[:0], padded), payload...))
	s.enc.SetIV(s.iv[:])
	s.enc.CryptBlocks(s.ct, s.ct)
	tag := s.tag(k.aad, s.ct)

	s.out = append(slices.Grow(s.out[:0], k.tokenLen(padded)), k.header...)
	s.out = base64.RawURLEncoding.AppendEncode(append(s.out, ".."...), s.iv[:])
	s.out = base64.RawURLEncoding.AppendEncode(append(s.out, '.'), s.ct)
	s.out = base64.RawURLEncoding.AppendEncode(append(s.out, '.'), tag)
	return string(s.out), nil
}

// tokenLen returns the length of a token with a ciphertext of so many bytes.
func (k *cbcKey) tokenLen(ciphertext int) int {
	enc := base64.RawURLEncoding
	return len(k.header) + len("....") + enc.EncodedLen(aes.BlockSize) + enc.EncodedLen(ciphertext) + enc.EncodedLen(cbcTagSize)
}

// open decrypts a token and appends the payload to dst (RFC 7518 section 5.2.2.2). aad
// is the text of p.header. open compares the tag first, in constant time. A wrong tag
// and wrong padding are the same error, ErrInvalid.
func (k *cbcKey) open(dst []byte, p parts, aad []byte) ([]byte, error) {
	s := k.borrow()
	defer k.giveBack(s)
	var want [cbcTagSize]byte
	if !decodeExactly(s.iv[:], p.iv) || !decodeExactly(want[:], p.tag) {
		return nil, ErrInvalid
	}
	opened := slices.Grow(dst, strict.DecodedLen(len(p.ciphertext)))
	text := opened[len(dst) : len(dst)+strict.DecodedLen(len(p.ciphertext))]
	if !decodeExactly(text, p.ciphertext) || len(text) == 0 || len(text)%aes.BlockSize != 0 {
		return nil, ErrInvalid
	}
	if !hmac.Equal(s.tag(aad, text), want[:]) {
		return nil, ErrInvalid
	}
	s.dec.SetIV(s.iv[:])
	s.dec.CryptBlocks(text, text)
	size, ok := unpadded(text)
	if !ok {
		return nil, ErrInvalid
	}
	return opened[:len(dst)+size], nil
}

// tag returns the MAC over AAD, IV, ciphertext and the length of the AAD in bits, cut to
// its first half. The result is part of s. Call it once after each borrow, which resets
// the MAC.
func (s *scratch) tag(aad, ciphertext []byte) []byte {
	s.mac.Write(aad)
	s.mac.Write(s.iv[:])
	s.mac.Write(ciphertext)
	length := binary.BigEndian.AppendUint64(s.sum[:0], uint64(len(aad))*8)
	s.mac.Write(length)
	return s.mac.Sum(s.sum[:0])[:cbcTagSize]
}

// open decrypts a token and appends the payload to dst (RFC 7518 section 5.3). Its error
// is ErrInvalid.
func (k *gcmKey) open(dst []byte, p parts) ([]byte, error) {
	var iv [gcmIVSize]byte
	size := strict.DecodedLen(len(p.ciphertext))
	sealed := make([]byte, size+gcmTagSize)
	if !decodeExactly(iv[:], p.iv) || !decodeExactly(sealed[:size], p.ciphertext) || !decodeExactly(sealed[size:], p.tag) {
		return nil, ErrInvalid
	}
	opened, err := k.aead.Open(dst, iv[:], sealed, []byte(p.header))
	if err != nil {
		return nil, ErrInvalid
	}
	return opened, nil
}

// decodeExactly decodes text into dst. It reports whether text is the canonical base64url
// of exactly len(dst) bytes; if not, dst has no defined content. The count is compared
// because the decoder skips line breaks.
func decodeExactly(dst []byte, text string) bool {
	if strict.EncodedLen(len(dst)) != len(text) {
		return false
	}
	n, err := strict.Decode(dst, []byte(text))
	return err == nil && n == len(dst)
}

// pad appends to b the padding of PKCS #7 (RFC 5652 section 6.3).
func pad(b []byte) []byte {
	n := aes.BlockSize - len(b)%aes.BlockSize
	for range n {
		b = append(b, byte(n))
	}
	return b
}

// unpadded returns the length of b without its padding. It returns false for a malformed
// padding. b must consist of one or more whole blocks.
func unpadded(b []byte) (size int, ok bool) {
	n := int(b[len(b)-1])
	if n == 0 || n > aes.BlockSize {
		return 0, false
	}
	for _, x := range b[len(b)-n:] {
		if int(x) != n {
			return 0, false
		}
	}
	return len(b) - n, true
}
