package cookie

import (
	"net/http"
	"strings"
)

// Line is the Set-Cookie line of c, exactly as c.String has it; empty: c is no
// valid cookie. net/http writes everything but the value, which it would look
// at several times, byte by byte: with a session that costs as much as
// decrypting it.
func Line(c *http.Cookie) string {
	if !isPlain(c.Value) || c.Quoted {
		return c.String()
	}
	bare := *c
	bare.Value = ""
	name, attributes, ok := strings.Cut(bare.String(), "=")
	if !ok {
		return ""
	}
	return name + "=" + c.Value + attributes
}

// isPlain: a cookie's value may have all of these bytes as they are.
func isPlain(value string) bool {
	for i := range len(value) {
		if !plainBytes[value[i]] {
			return false
		}
	}
	return true
}

// plainBytes are those of cookie-octet (RFC 6265 section 4.1.1). Sessions are
// long, and looking up is faster than comparing.
var plainBytes = func() (plain [256]bool) {
	for b := '!'; b <= '~'; b++ {
		plain[b] = b != '"' && b != ',' && b != ';' && b != '\\'
	}
	return plain
}()
