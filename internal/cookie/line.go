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
		if b := value[i]; b <= ' ' || b >= 0x7f || b == '"' || b == ',' || b == ';' || b == '\\' {
			return false
		}
	}
	return true
}
