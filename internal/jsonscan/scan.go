package jsonscan

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/swar"
)

// maxDepth bounds nesting, and with it the stack.
const maxDepth = 1000

// scanObject reads text as exactly one JSON object (RFC 8259) and appends its members to
// dst, repeated names included. It returns false for any other text.
func scanObject(text []byte, dst []Member) ([]Member, bool) {
	s := scanner{text: text}
	if !utf8.Valid(text) || !s.object(&dst, 0) {
		return nil, false
	}
	s.space()
	return dst, s.at == len(text)
}

// scanner reads JSON text. Each method moves past the element that it is named for and
// reports whether it was there; if not, it may have moved past a part. No method moves
// past the end, wherever the text is cut off: token headers are read before they are
// authentic.
type scanner struct {
	text []byte
	at   int
}

// space moves past white space, if there is any.
func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0, which begins nothing in JSON.
func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// char moves past c if that comes next, and otherwise stays.
func (s *scanner) char(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

// object moves past white space and an object that is inside of depth objects and
// arrays. It appends the members to dst unless dst is nil.
func (s *scanner) object(dst *[]Member, depth int) bool {
	s.space()
	if !s.char('{') {
		return false
	}
	s.space()
	if s.char('}') {
		return true
	}
	for {
		s.space()
		start := s.at
		plain, ok := s.quoted()
		if !ok {
			return false
		}
		name := s.text[start:s.at]
		s.space()
		if !s.char(':') {
			return false
		}
		s.space()
		start = s.at
		if !s.value(depth) {
			return false
		}
		if dst != nil {
			*dst = append(*dst, Member{Key: unquote(name, plain), Raw: s.text[start:s.at]})
		}
		s.space()
		if !s.char(',') {
			return s.char('}')
		}
	}
}

// nests reports whether an object or array comes next.
func (s *scanner) nests() bool { return s.peek() == '{' || s.peek() == '[' }

// array moves past an array. The caller has seen its opening bracket, which comes next.
func (s *scanner) array(depth int) bool {
	s.at++
	s.space()
	if s.char(']') {
		return true
	}
	for {
		s.space()
		if !s.value(depth) {
			return false
		}
		s.space()
		if !s.char(',') {
			return s.char(']')
		}
	}
}

// value moves past any value. The object or array that holds it is inside of depth others.
// value returns false for an object or array nested more than maxDepth deep. The caller has
// moved past white space.
func (s *scanner) value(depth int) bool {
	depth++
	if s.nests() && depth >= maxDepth {
		return false
	}
	switch s.peek() {
	case '"':
		_, ok := s.quoted()
		return ok
	case '{':
		return s.object(nil, depth)
	case '[':
		return s.array(depth)
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *scanner) word(w string) bool {
	if len(s.text)-s.at < len(w) || string(s.text[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

func (s *scanner) number() bool {
	s.char('-')
	if !s.char('0') && !s.digits() {
		return false
	}
	if s.char('.') && !s.digits() {
		return false
	}
	if s.char('e') || s.char('E') {
		if !s.char('+') {
			s.char('-')
		}
		return s.digits()
	}
	return true
}

// digits moves past one or more decimal digits.
func (s *scanner) digits() bool {
	start := s.at
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.at++
	}
	return s.at > start
}

// quoted moves past a string. plain reports whether the string is free of escapes.
func (s *scanner) quoted() (plain, ok bool) {
	if !s.char('"') {
		return false, false
	}
	plain = true
	s.plainText()
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		switch {
		case c == '"':
			return plain, true
		case c < 0x20:
			return false, false
		case c == '\\':
			plain = false
			if !s.escape() {
				return false, false
			}
			s.plainText()
		}
	}
	return false, false
}

// plainText moves past the unescaped text of a string, eight bytes at a time. It
// stops within eight bytes of the first byte that is not plain.
func (s *scanner) plainText() {
	for len(s.text)-s.at >= 8 && isPlainWord(swar.Load(s.text[s.at:])) {
		s.at += 8
	}
}

// isPlainWord reports whether none of the eight bytes is a quotation mark, a
// backslash or a control character.
func isPlainWord(word uint64) bool {
	return swar.Below(word, ' ')|swar.Is(word, '"')|swar.Is(word, '\\') == 0
}

// escape moves past the part of an escape sequence that follows the backslash.
func (s *scanner) escape() bool {
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.at++
		return true
	case 'u':
		s.at++
		for range 4 {
			if !isHex(s.peek()) {
				return false
			}
			s.at++
		}
		return true
	}
	return false
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// unquote returns the text of quoted, a scanned string with its quotation marks. The
// result is a part of quoted if the string is plain.
func unquote(quoted []byte, plain bool) []byte {
	if plain {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	if json.Unmarshal(quoted, &text) != nil { // impossible: the scanner has accepted it
		return nil
	}
	return []byte(text)
}
