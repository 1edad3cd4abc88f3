// Package swar looks at eight bytes of text at a time (SIMD within a register),
// for text that is long and of which hardly any byte needs a closer look.
package swar

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// Load returns the first eight bytes of s, as the other functions take them. It panics
// if s has fewer.
func Load[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// Below returns 0 if none of the eight bytes is less than n, which is at most 128, and
// another number otherwise.
func Below(word uint64, n byte) uint64 { return (word - ones*uint64(n)) &^ word & highs }

// Is returns 0 if none of the eight bytes is b, and another number otherwise.
func Is(word uint64, b byte) uint64 { return Below(word^ones*uint64(b), 1) }

// FromDEL returns 0 if none of the eight bytes is DEL, the last of ASCII, or greater,
// and another number otherwise.
func FromDEL(word uint64) uint64 { return (word | (word + ones)) & highs }

// NonASCII returns 0 if all of the eight bytes are ASCII, and another number otherwise.
func NonASCII(word uint64) uint64 { return word & highs }
