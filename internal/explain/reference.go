package explain

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
)

// A reference code has 60 bits: version 1, detail 10, minutes since 2026 25, random
// 20, check 4. A keyed permutation of all of them hides even whether two codes are
// about the same kind of failure.
const (
	bitsDetail, bitsMinute, bitsRandom, bitsCheck = 10, 25, 20, 4

	half     = 30 // bits, of a code
	halfMask = 1<<half - 1
	rounds   = 4

	codeLetters = 12
	alphabet    = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // Crockford's base32

	keyInfo = "latchkey reference code"
)

// firstMinute returns the minute from which codes count.
func firstMinute() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// mostAhead is how far the clock of the machine that made a code may be ahead: more than
// the widest mistake in a time zone.
const mostAhead = 26 * time.Hour

// ErrForeign reports that no secret opens a reference code.
var ErrForeign = errors.New("not a reference code of this site, or its secret is gone, or another instance has other secrets")

// Codec makes and opens the reference codes of a site. It is safe for concurrent use. A
// nil or zero Codec makes no code and opens none.
type Codec struct {
	keys [][]byte // the one in use first
}

// NewCodec returns the codec of a site. Make uses the first of secrets; Open tries all of
// them. Without secrets the codec makes no code and opens none.
func NewCodec(secrets []string) *Codec {
	c := &Codec{}
	for _, secret := range secrets {
		key, err := hkdf.Key(sha256.New, []byte(secret), nil, keyInfo, sha256.Size)
		if err == nil {
			c.keys = append(c.keys, key)
		}
	}
	return c
}

// Reference is what a code says.
type Reference struct {
	Detail fault.Detail
	Time   time.Time // UTC, to the minute
}

// Make returns a code for the detail d and the minute of now, or "" if c has no secret. A
// detail that is not in the list becomes fault.Other. Two codes of the same failure
// differ.
func (c *Codec) Make(d fault.Detail, now time.Time) string {
	if c == nil || len(c.keys) == 0 {
		return ""
	}
	var random [4]byte
	_, _ = rand.Read(random[:]) // ends the program rather than fail
	minute := uint64(max(0, now.Sub(firstMinute())/time.Minute)) & (1<<bitsMinute - 1)
	v := uint64(numberOf(d))
	v = v<<bitsMinute | minute
	v = v<<bitsRandom | uint64(binary.BigEndian.Uint32(random[:]))&(1<<bitsRandom-1)
	v = v<<bitsCheck | checkOf(v)
	return spell(permute(c.keys[0], v, false))
}

// Open returns the detail and the minute in a code. It forgives lower case, missing
// hyphens, spaces, and the letters O, I and L in place of 0 and 1. It returns ErrForeign
// for any other text, for a detail that is not in the list, and for a minute that lies
// more than 26 hours after now. A Reference that is later than now comes from a machine
// whose clock is ahead of the one that tells now.
func (c *Codec) Open(code string, now time.Time) (Reference, error) {
	v, ok := unspell(code)
	if !ok || c == nil {
		return Reference{}, ErrForeign
	}
	for _, key := range c.keys {
		if r, ok := read(permute(key, v, true), now); ok {
			return r, nil
		}
	}
	return Reference{}, ErrForeign
}

// read returns what the 60 bits of a decrypted code say. It returns false if their check
// does not match, if they name no known detail, or if their minute lies more than
// mostAhead after now. A wrong key gives false but for a small chance.
func read(v uint64, now time.Time) (Reference, bool) {
	check := v & (1<<bitsCheck - 1)
	v >>= bitsCheck
	if checkOf(v) != check {
		return Reference{}, false
	}
	minute := v >> bitsRandom & (1<<bitsMinute - 1)
	number := v >> (bitsRandom + bitsMinute)
	if number>>bitsDetail != 0 { // of another version
		return Reference{}, false
	}
	text, known := byNumber()[int(number)]
	at := firstMinute().Add(time.Duration(minute) * time.Minute)
	if !known || at.After(now.Add(mostAhead)) {
		return Reference{}, false
	}
	return Reference{text.Detail, at}, true
}

// checkOf folds v into the bits of the check.
func checkOf(v uint64) (check uint64) {
	v *= 0x9E3779B97F4A7C15 // spreads each bit
	return v >> (64 - bitsCheck)
}

// permute encrypts 60 bits with a Feistel network. With back it decrypts them.
func permute(key []byte, v uint64, back bool) uint64 {
	left, right := uint32(v>>half), uint32(v&halfMask)
	mac := hmac.New(sha256.New, key)
	var block [5]byte
	var sum [sha256.Size]byte
	for i := range rounds {
		round := i
		if back {
			round = rounds - 1 - i
			left, right = right, left
		}
		block[0] = byte(round)
		binary.BigEndian.PutUint32(block[1:], right)
		mac.Reset()
		mac.Write(block[:])
		mixed := left ^ binary.BigEndian.Uint32(mac.Sum(sum[:0]))&halfMask
		left, right = right, mixed
		if back {
			left, right = right, left
		}
	}
	return uint64(left)<<half | uint64(right)
}

// spell writes 60 bits in groups of four letters.
func spell(v uint64) string {
	var b [codeLetters + 2]byte
	at := len(b)
	for i := range codeLetters {
		if i > 0 && i%4 == 0 {
			at--
			b[at] = '-'
		}
		at--
		b[at] = alphabet[v&31]
		v >>= 5
	}
	return string(b[:])
}

// longestCode bounds what a person may have typed around a code.
const longestCode = 64

// unspell reads the letters of a code. It returns false for text that cannot be a code.
func unspell(code string) (v uint64, ok bool) {
	if len(code) > longestCode {
		return 0, false
	}
	letters := 0
	for _, r := range strings.ToUpper(code) {
		switch r {
		case '-', ' ':
			continue
		case 'O':
			r = '0'
		case 'I', 'L':
			r = '1'
		}
		digit := strings.IndexRune(alphabet, r)
		if digit < 0 || letters == codeLetters {
			return 0, false
		}
		v, letters = v<<5|uint64(digit), letters+1
	}
	return v, letters == codeLetters
}
