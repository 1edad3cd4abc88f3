package oauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// decodeObject reads exactly one JSON object. Members keep their exact names
// (decoding into a struct would fold case) and numbers their exact digits, as
// json.Number. Text that is not UTF-8 is refused: the decoder would replace it,
// and make one subject of two. So is a member that is repeated, at any depth:
// of two, another reader might believe the other one (RFC 8725 section 2.4, RFC
// 7519 section 4).
func decodeObject(data []byte) (map[string]any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil || object == nil {
		return nil, errors.New("not a JSON object")
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	if repeats(data) {
		return nil, errors.New("a member is repeated")
	}
	return object, nil
}

// repeats says whether an object in valid JSON has a member twice.
func repeats(data []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(data))
	var open []map[string]bool // the names of each object that is open; nil: an array
	name := false              // a name comes next
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		switch token {
		case json.Delim('{'):
			open, name = append(open, map[string]bool{}), true
			continue
		case json.Delim('['):
			open, name = append(open, nil), false
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if text, ok := token.(string); ok && name {
				names := open[len(open)-1]
				if names[text] {
					return true
				}
				names[text], name = true, false
				continue
			}
		}
		name = len(open) > 0 && open[len(open)-1] != nil
	}
}

// text reads an optional string member. Absent and null are the same; any other
// type is an error.
func text(object map[string]any, name string) (string, error) {
	value, present := object[name]
	if !present || value == nil {
		return "", nil
	}
	s, ok := value.(string)
	if !ok {
		return "", errors.New(name + " is not a string")
	}
	return s, nil
}

// texts reads an optional array of strings.
func texts(object map[string]any, name string) ([]string, error) {
	value, present := object[name]
	if !present || value == nil {
		return nil, nil
	}
	list, ok := value.([]any)
	if !ok {
		return nil, errors.New(name + " is not an array")
	}
	return allStrings(list, name)
}

func allStrings(list []any, name string) ([]string, error) {
	out := make([]string, len(list))
	for i, value := range list {
		s, ok := value.(string)
		if !ok {
			return nil, errors.New(name + " holds something that is not a string")
		}
		out[i] = s
	}
	return out, nil
}
