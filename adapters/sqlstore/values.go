package sqlstore

import (
	"bytes"
	"encoding/json"
	"errors"
)

// null returns v, or nil for an empty text and for false.
func null[T string | bool](v T) any {
	var none T
	if v == none {
		return nil
	}
	return v
}

var errJSON = errors.New("a member is no JSON")

// toJSON returns v as JSON, a string, or nil if v is empty. It returns errJSON if v
// cannot be encoded.
func toJSON[T map[string]any | []map[string]any](v T) (any, error) {
	if len(v) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, errJSON // the cause may quote a value
	}
	return string(raw), nil
}

// fromJSON decodes text into to, a pointer. Numbers become [json.Number]. It does nothing
// if text is empty, and returns errJSON if text is no JSON that fits.
func fromJSON(text string, to any) error {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber() // a float64 would round large ids
	if d.Decode(to) != nil {
		return errJSON
	}
	return nil
}
