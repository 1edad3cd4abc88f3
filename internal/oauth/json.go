package oauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// decodeObject reads exactly one JSON object. Members keep their exact names
// (decoding into a struct would fold case) and numbers
// their exact digits, as json.Number. Text that is not UTF-8 is refused: the
// decoder would replace it, and make one subject of two.
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
	return object, nil
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
