// Package cookie reads the cookies of one request and cuts values that are too
// long for one cookie.
//
// A Cookie header is whatever a client cares to send, so reading is bounded in
// number and size, never allocates by a number found in it, and resolves every
// ambiguity the same way for every reader: the first cookie of a name is the
// only one.
package cookie

import (
	"net/http"
	"strings"
)

// What a request may make us look at. Beyond it cookies do not exist.
const (
	maxPairs  = 300      // browsers keep at most 180 or so for one site
	maxHeader = 96 << 10 // a value of 64 KiB in pieces, and room for the other cookies
)

// Jar is the Cookie header of one request. It keeps the header's own text and
// parses while it searches, so making one costs nothing; it must not outlive a
// change of that header. The zero Jar is empty. Safe for concurrent use.
type Jar struct {
	lines []string
}

// Parse returns the cookies of h. HTTP/2 clients may send several Cookie lines;
// they count as one.
func Parse(h http.Header) Jar {
	return Jar{lines: h["Cookie"]}
}

// Get returns the value of the first cookie called name, as it was sent: not
// percent-decoded and not unquoted: Latchkey quotes nothing. A cookie whose
// value has bytes that no cookie may have is reported as absent, and does not
// make room for a second one of its name.
func (j Jar) Get(name string) (value string, ok bool) {
	for c := j.cursor(); c.next(); {
		if c.name == name {
			return clean(c.value)
		}
	}
	return "", false
}

// cursor walks over the name=value pairs of a Jar.
type cursor struct {
	lines  []string
	rest   string // what is left of the current line
	pairs  int    // still allowed
	budget int    // bytes still allowed
	name   string
	value  string
}

func (j Jar) cursor() cursor {
	return cursor{lines: j.lines, pairs: maxPairs, budget: maxHeader}
}

// next moves to the next pair. Text without a name or without "=" is no pair.
func (c *cursor) next() bool {
	for c.pairs > 0 && c.more() {
		c.pairs--
		var pair string
		pair, c.rest, _ = strings.Cut(c.rest, ";")
		name, value, found := strings.Cut(pair, "=")
		if name = trim(name); found && name != "" {
			c.name, c.value = name, trim(value)
			return true
		}
	}
	return false
}

// more makes rest non-empty if it can. A line that would exceed the budget ends
// the walk as a whole: a pair that was cut in two must not be mistaken for a
// short one.
func (c *cursor) more() bool {
	for c.rest == "" {
		if len(c.lines) == 0 || len(c.lines[0]) > c.budget {
			return false
		}
		c.rest, c.lines = c.lines[0], c.lines[1:]
		c.budget -= len(c.rest)
	}
	return true
}

// trim drops the optional whitespace of HTTP, which is narrower than what
// strings.TrimSpace drops.
func trim(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// clean refuses bytes outside cookie-octet (RFC 6265 section 4.1.1), except the
// space and the comma, which net/http tolerates too. It keeps NUL and invalid
// UTF-8 out of every store.
func clean(value string) (string, bool) {
	for i := range len(value) {
		if b := value[i]; b < 0x20 || b >= 0x7f || b == '"' || b == '\\' {
			return "", false
		}
	}
	return value, true
}
