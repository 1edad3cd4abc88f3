package jsonscan

import (
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/swar"
)

// AppendText appends s to dst as a JSON string, written as JSON.stringify
// writes it: quotes, backslashes and control characters are escaped, nothing
// else is, and invalid UTF-8 becomes U+FFFD. It is not safe to put the result
// into HTML.
func AppendText(dst []byte, s string) []byte {
	return appendText(dst, s)
}

func appendText[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	if isPlain(s) {
		return append(append(dst, s...), '"')
	}
	for _, r := range string(s) {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < 0x20:
			dst = appendControl(dst, byte(r))
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// isPlain reports whether s can stand between quotes as it is. Text outside
// ASCII is left to the slow path, which also repairs it.
func isPlain[T string | []byte](s T) bool {
	for len(s) >= 8 {
		if word := swar.Load(s); !isPlainWord(word) || swar.NonASCII(word) != 0 {
			return false
		}
		s = s[8:]
	}
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// appendControl appends the escape of c, which is below 0x20.
func appendControl(dst []byte, c byte) []byte {
	const short = "btn\x00fr" // \b is 8, \t 9, \n 10, 11 has none, \f 12, \r 13
	if c >= '\b' && c <= '\r' && c != '\v' {
		return append(dst, '\\', short[c-'\b'])
	}
	return append(dst, '\\', 'u', '0', '0', '0'+c>>4, "0123456789abcdef"[c&15])
}
