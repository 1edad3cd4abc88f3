package redisadapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// members are a record as Auth.js writes it: one JSON object. Those that
// a struct of this package has no field for are kept.
type members = map[string]json.RawMessage

// iso is a time as JSON.stringify writes it, to the millisecond. The zero time is null.
type iso struct{ Time time.Time }

// IsZero reports whether there is no time. The option omitzero of encoding/json calls it.
func (t iso) IsZero() bool { return t.Time.IsZero() }

const isoLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON implements [json.Marshaler].
func (t iso) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(t.Time.UTC().Format(`"` + isoLayout + `"`)), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *iso) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil || text == "" { // null leaves it empty
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	t.Time = at.UTC()
	return err
}

var (
	errMember = errors.New("redisadapter: a member is no JSON")
	errNoUTF8 = errors.New("redisadapter: a text is not UTF-8")
)

// decodeObject reads those members of a JSON object that v, a pointer to a
// struct, has fields for. It returns false if text is nil or no such object.
// Names are exact, as in JavaScript: package json would take "Email" for "email".
func decodeObject(text *string, v any) bool {
	all := members{}
	if text == nil || !strings.HasPrefix(*text, "{") || json.Unmarshal([]byte(*text), &all) != nil {
		return false
	}
	to := reflect.ValueOf(v).Elem()
	for i, name := range fieldsOf(to.Interface()) {
		if raw, there := all[name]; there && json.Unmarshal(raw, to.Field(i).Addr().Interface()) != nil {
			return false
		}
	}
	return true
}

// decodeOpen returns raw as an object or a list of objects, as T says, with numbers as
// [json.Number]. It returns nil for an absent member, for null and for any other JSON.
func decodeOpen[T map[string]any | []map[string]any](raw json.RawMessage) (v T) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// encodeOpen returns v, an object or a list of objects, as JSON, or nil if v is empty. It
// returns errMember if v cannot be encoded.
func encodeOpen[T map[string]any | []map[string]any](v T) (json.RawMessage, error) {
	if len(v) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, errMember
	}
	return raw, nil
}

// encodeObject returns a JSON object with the members of v and of extra. It keeps the
// members of over, an object or nil, that v has no fields for. It does not keep a member
// that v has a field for and leaves out. It ignores a member of extra with the name of a
// field of v. It returns errMember if something cannot be encoded, or if over is no JSON
// object.
func encodeObject(over *string, v any, extra map[string]any) (string, error) {
	all := members{}
	if over != nil && json.Unmarshal([]byte(*over), &all) != nil {
		return "", errMember
	}
	known := fieldsOf(v)
	for name, value := range extra {
		if slices.Contains(known, name) {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return "", errMember
		}
		all[name] = raw
	}
	for _, name := range known {
		delete(all, name)
	}
	raw, err := marshal(v)
	var ours members
	if err == nil {
		err = json.Unmarshal(raw, &ours)
	}
	if err != nil {
		return "", errMember // the cause may quote a value
	}
	maps.Copy(all, ours)
	raw, err = marshal(all)
	return string(raw), err
}

// marshal returns JSON as JavaScript writes it, with "<" as it is.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// extraOf returns the members of a record that v has no field for, or nil if
// there are none. text is not nil.
func extraOf(text *string, v any) map[string]any {
	var all map[string]any
	d := json.NewDecoder(strings.NewReader(*text))
	d.UseNumber() // a float64 would round large ids
	if d.Decode(&all) != nil {
		return nil
	}
	for _, name := range fieldsOf(v) {
		delete(all, name)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// fieldsOf returns the names that the fields of a struct have in JSON, in their
// order.
func fieldsOf(v any) (names []string) {
	for f := range reflect.TypeOf(v).Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// areUTF8 reports whether all texts are UTF-8.
func areUTF8(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// orNull returns a pointer to the text, or nil for the empty text, which Auth.js keeps
// as null.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// orEmpty returns the text, and "" for nil.
func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
