package swar_test

import (
	"bytes"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/swar"
)

// Every byte in every place, among neighbours that carry and borrow.
func TestAgreesWithLookingAtEachByte(t *testing.T) {
	for _, around := range []byte{0, 1, ' ', '"', 'A', 0x7e, 0x7f, 0x80, 0xff} {
		for place := range 8 {
			for b := range 256 {
				text := bytes.Repeat([]byte{around}, 8)
				text[place] = byte(b)
				check(t, text)
			}
		}
	}
}

func FuzzWord(f *testing.F) {
	f.Add([]byte(`{"a":"\u`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) >= 8 {
			check(t, text[:8])
		}
	})
}

func check(t *testing.T, text []byte) {
	t.Helper()
	word := swar.Load(text)
	if word != swar.Load(string(text)) {
		t.Fatalf("%q: not the same as text", text)
	}
	any := func(is func(b byte) bool) bool {
		return bytes.ContainsFunc(latin1(text), func(r rune) bool { return is(byte(r)) })
	}
	for _, n := range []byte{1, ' ', '%', 0x7f, 0x80} {
		if got := swar.Below(word, n) != 0; got != any(func(b byte) bool { return b < n }) {
			t.Errorf("Below(%q, %d) = %t", text, n, got)
		}
	}
	for _, c := range []byte{0, '"', '\\', 0x7f, 0x80, 0xff} {
		if got := swar.Is(word, c) != 0; got != any(func(b byte) bool { return b == c }) {
			t.Errorf("Is(%q, %d) = %t", text, c, got)
		}
	}
	if got := swar.FromDEL(word) != 0; got != any(func(b byte) bool { return b >= 0x7f }) {
		t.Errorf("FromDEL(%q) = %t", text, got)
	}
	if got := swar.NonASCII(word) != 0; got != any(func(b byte) bool { return b >= 0x80 }) {
		t.Errorf("NonASCII(%q) = %t", text, got)
	}
}

// latin1 is text with a rune for each byte.
func latin1(text []byte) []byte {
	var runes []byte
	for _, b := range text {
		runes = append(runes, string(rune(b))...)
	}
	return runes
}
