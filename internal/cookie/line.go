package cookie

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/swar"
)

// Lines returns the Set-Cookie lines of cookies, without those of malformed ones.
func Lines(cookies ...*http.Cookie) []string {
	lines := make([]string, 0, len(cookies))
	for _, c := range cookies {
		if line := Line(c); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// Line returns the Set-Cookie line of c, exactly as c.String does. It is empty if c is no
// valid cookie. net/http looks at every byte of a value several times: with a session
// that costs as much as decrypting it. So Line itself writes a cookie of the form that
// Latchkey sets, and leaves all others to net/http.
func Line(c *http.Cookie) string {
	if !isUsual(c) {
		return c.String()
	}
	var b strings.Builder
	size := len(c.Name) + len(c.Value) + len(c.Path) + longestAttributes
	if c.MaxAge != 0 {
		size += len("; Max-Age=") + longestMaxAge
	}
	b.Grow(size)
	b.WriteString(c.Name)
	b.WriteByte('=')
	b.WriteString(c.Value)
	b.WriteString("; Path=")
	b.WriteString(c.Path)
	if !c.Expires.IsZero() {
		var date [len(http.TimeFormat)]byte
		b.WriteString("; Expires=")
		b.Write(c.Expires.UTC().AppendFormat(date[:0], http.TimeFormat))
	}
	if c.MaxAge != 0 {
		var seconds [longestMaxAge]byte
		b.WriteString("; Max-Age=")
		b.Write(strconv.AppendInt(seconds[:0], int64(max(c.MaxAge, 0)), 10))
	}
	if c.HttpOnly {
		b.WriteString("; HttpOnly")
	}
	if c.Secure {
		b.WriteString("; Secure")
	}
	b.WriteString("; SameSite=Lax")
	return b.String()
}

const (
	longestMaxAge     = len("9223372036854775807")
	longestAttributes = len("=; Path=; Expires=; HttpOnly; Secure; SameSite=Lax") + len(http.TimeFormat)
)

// isUsual reports whether Line can write c itself: c has no attributes but those that
// Latchkey sets, and nothing of it has to be quoted or left out.
func isUsual(c *http.Cookie) bool {
	year := c.Expires.Year()
	return c.Name != "" && c.Path == "/" && c.SameSite == http.SameSiteLaxMode && c.Domain == "" &&
		!c.Quoted && !c.Partitioned && (c.Expires.IsZero() || year > 1601 && year < 9999) && isPlainName(c.Name) && isPlain(c.Value)
}

// isPlainName reports whether name has only letters and digits of ASCII, "-", "." and
// "_".
func isPlainName(name string) bool {
	for i := range len(name) {
		b := name[i]
		if (b|0x20 < 'a' || b|0x20 > 'z') && (b < '0' || b > '9') && b != '-' && b != '.' && b != '_' {
			return false
		}
	}
	return true
}

// isPlain reports whether value may be written as the value of a cookie without quotes.
func isPlain(value string) bool { return bytesOf(value) == plainByte }

// What a byte may be in a cookie's value.
const (
	plainByte     byte = 0
	toleratedByte byte = 1 // net/http reads it, and quotes it when it writes
	foreignByte   byte = 2
)

// bytesOf returns the kinds of all bytes of value, joined by OR. Values of sessions are
// long, so it reads eight bytes at a time while all eight are plain, and then looks each
// byte up without a branch. That is several times faster.
func bytesOf(value string) (found byte) {
	for len(value) >= 8 {
		word := swar.Load(value)
		if swar.Below(word, '%')|swar.Is(word, ',')|swar.Is(word, ';')|swar.Is(word, '\\')|swar.FromDEL(word) != 0 {
			break // one of the eight is not plain, or one of the few below "%", which no token has
		}
		value = value[8:]
	}
	for i := range len(value) {
		found |= byteKinds[value[i]]
	}
	return found
}

// byteKinds has cookie-octet (RFC 6265 section 4.1.1) as plain.
var byteKinds = func() (kinds [256]byte) {
	for i := range kinds {
		kinds[i] = foreignByte
	}
	for b := '!'; b <= '~'; b++ {
		kinds[b] = plainByte
	}
	for _, b := range `";\` {
		kinds[b] = foreignByte
	}
	kinds[' '], kinds[','] = toleratedByte, toleratedByte
	return kinds
}()
