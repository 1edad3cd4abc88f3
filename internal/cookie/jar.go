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

// What a request may make us look at. Of a request that brings more no cookie
// exists: which of them were planted cannot be told.
const (
	maxPairs  = 1000     // browsers keep at most 180 or so for one site
	maxHeader = 64 << 10 // bytes
)

// Jar is the Cookie header of one request. It keeps the header's own text and
// parses while it searches, so making one costs nothing; it must not outlive a
// change of that header. The zero Jar is empty. Safe for concurrent use.
type Jar struct {
	lines []string
}

// Parse returns the cookies of h. HTTP/2 clients may send several Cookie lines; they
// count as one. If the lines have more than 1,000 pairs or 64 KiB together, the Jar is
// empty.
func Parse(h http.Header) Jar {
	lines := h["Cookie"]
	if isTooMuch(lines) {
		return Jar{}
	}
	return Jar{lines: lines}
}

// isTooMuch reports whether lines have more than maxHeader bytes or maxPairs pairs. To be
// quick, it does not count the pairs of a header that is too short for so many.
func isTooMuch(lines []string) bool {
	size := 0
	for _, line := range lines {
		size += len(line) + 1
	}
	if size <= maxPairs {
		return false
	}
	if size-len(lines) > maxHeader {
		return true
	}
	pairs := len(lines)
	for _, line := range lines {
		pairs += strings.Count(line, ";")
	}
	return pairs > maxPairs
}

// Get returns the value of the first cookie called name, as it was sent: not
// percent-decoded and not unquoted, because Latchkey quotes nothing. It returns "" and
// false if there is no such cookie, or if the first one has bytes that no cookie may
// have. A second cookie of that name does not take its place.
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
	lines []string
	rest  string // what is left of the current line
	name  string
	value string
}

// cursor returns a cursor before the first pair of j.
func (j Jar) cursor() cursor { return cursor{lines: j.lines} }

// next moves to the next pair and puts it into c.name and c.value, without whitespace
// around them. It returns false at the end. Text without a name or without "=" is no
// pair.
func (c *cursor) next() bool {
	for c.more() {
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

// more moves to the next line if rest is empty. It returns false at the end of the
// header.
func (c *cursor) more() bool {
	for c.rest == "" {
		if len(c.lines) == 0 {
			return false
		}
		c.rest, c.lines = c.lines[0], c.lines[1:]
	}
	return true
}

// trim drops the optional whitespace of HTTP around s: spaces and tabs, and not what else
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

// clean returns value, or "" and false if it has bytes outside cookie-octet (RFC 6265
// section 4.1.1). It allows the space and the comma, which net/http tolerates too. It
// keeps NUL and invalid UTF-8 out of every store.
func clean(value string) (string, bool) {
	if bytesOf(value)&foreignByte != 0 {
		return "", false
	}
	return value, true
}
