package oauth

import (
	"errors"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
)

// decodeObject reads exactly one JSON object. Members keep their exact names (decoding
// into a struct would fold case) and numbers their exact digits, as json.Number. It
// returns an error for text that is not UTF-8: the decoder would replace it, and make
// one subject of two. It also returns an error if a member is repeated, at any depth.
// Two readers might believe different ones of the two (RFC 8725 section 2.4, RFC 7519
// section 4).
func decodeObject(data []byte) (map[string]any, error) {
	object, err := jsonscan.Decode(data)
	switch {
	case errors.Is(err, jsonscan.ErrRepeated):
		return nil, errors.New("a member is repeated")
	case err != nil:
		return nil, errors.New("not exactly one JSON object in UTF-8")
	}
	return object, nil
}

// text returns an optional string member. It returns "" for a member that is absent or
// null, and an error for any other type.
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

// texts returns an optional array of strings. It returns nil for a member that is absent
// or null, and an error for any other type.
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

// allStrings returns list as strings. It returns an error that has name in it if an
// element is of another type.
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
