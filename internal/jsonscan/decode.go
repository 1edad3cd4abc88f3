package jsonscan

import (
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// ErrRepeated reports that an object has a member twice.
var ErrRepeated = errors.New("jsonscan: a member is repeated")

// Decode returns the one JSON object that text holds (RFC 8259), as encoding/json with
// UseNumber does. It returns [ErrInvalid] for text that is not UTF-8 or not exactly one
// object, or that is nested more than 1000 deep. It returns [ErrRepeated] for a member that
// comes twice, at any depth, since two readers might read that differently.
func Decode(text []byte) (map[string]any, error) {
	d := decoder{scanner: scanner{text: text}}
	if !utf8.Valid(text) {
		return nil, ErrInvalid
	}
	d.space()
	object, ok := d.object(0)
	d.space()
	switch {
	case !ok || d.at != len(text):
		return nil, ErrInvalid
	case d.repeated:
		return nil, ErrRepeated
	}
	return object, nil
}

// decoder makes values of the text that the scanner moves past.
type decoder struct {
	scanner
	repeated bool
}

// object reads an object here, inside of depth others. It sets d.repeated for a repeated name.
func (d *decoder) object(depth int) (map[string]any, bool) {
	if !d.char('{') {
		return nil, false
	}
	object := map[string]any{}
	d.space()
	if d.char('}') {
		return object, true
	}
	for {
		d.space()
		name, ok := d.string()
		d.space()
		if !ok || !d.char(':') {
			return nil, false
		}
		_, twice := object[name]
		d.repeated = d.repeated || twice
		if object[name], ok = d.value(depth); !ok {
			return nil, false
		}
		d.space()
		if !d.char(',') {
			return object, d.char('}')
		}
	}
}

// array reads an array. The caller has seen its opening bracket, which comes next. depth
// is how many objects and arrays surround the array. An empty array is an empty slice,
// not nil.
func (d *decoder) array(depth int) ([]any, bool) {
	d.at++
	list := []any{}
	d.space()
	if d.char(']') {
		return list, true
	}
	for {
		v, ok := d.value(depth)
		if !ok {
			return nil, false
		}
		list = append(list, v)
		d.space()
		if !d.char(',') {
			return list, d.char(']')
		}
	}
}

// value reads any value, and white space before it. It returns a string, bool, nil,
// json.Number, []any or map[string]any. depth is how many objects and arrays surround the
// one that holds the value: 0 in the top-level object. It returns false for an
// object or array that is nested more than maxDepth deep.
func (d *decoder) value(depth int) (any, bool) {
	depth++
	d.space()
	if d.nests() && depth >= maxDepth {
		return nil, false
	}
	start := d.at
	switch d.peek() {
	case '"':
		return d.string()
	case '{':
		return d.object(depth)
	case '[':
		return d.array(depth)
	case 't':
		return true, d.word("true")
	case 'f':
		return false, d.word("false")
	case 'n':
		return nil, d.word("null")
	}
	ok := d.number()
	return json.Number(d.text[start:d.at]), ok
}

// string reads a string and resolves its escapes.
func (d *decoder) string() (string, bool) {
	start := d.at
	plain, ok := d.quoted()
	if !ok {
		return "", false
	}
	return string(unquote(d.text[start:d.at], plain)), true
}
