package kvstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// What records hold, as JSON. Names of members never change; an older version of
// this package keeps those that it does not know.

// value is what a record of one kind holds.
type value interface {
	// isWhole reports whether the value has everything without which the record means
	// nothing.
	isWhole() bool
}

// stamp is a time in whole milliseconds since 1970.
type stamp struct{ Time time.Time }

// IsZero reports whether there is no time. The option omitzero of encoding/json calls it.
func (s stamp) IsZero() bool { return s.Time.IsZero() }

// stampOf returns t truncated to the millisecond. The zero time stays zero.
func stampOf(t time.Time) stamp {
	if t.IsZero() {
		return stamp{}
	}
	return stamp{t.Truncate(time.Millisecond).UTC()}
}

// MarshalJSON implements [json.Marshaler].
func (s stamp) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, s.Time.UnixMilli(), 10), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *stamp) UnmarshalJSON(data []byte) error {
	n, err := strconv.ParseInt(string(data), 10, 64)
	s.Time = time.UnixMilli(n).UTC()
	return err
}

// decode returns the value of a record. It returns an error if the value cannot be read
// or lacks what it needs. The text of the error quotes no value.
func decode[V value](r *Record) (v V, err error) {
	if f, is := any(&v).(flat); !is || !readFlat(r.Value, f) {
		v = *new(V)
		err = json.Unmarshal(r.Value, &v)
	}
	if err != nil || !v.isWhole() { // the cause may quote a value
		return v, fmt.Errorf("kvstore: a record of kind %q is not as it was written", r.Kind)
	}
	return v, nil
}

var (
	errJSON = errors.New("kvstore: a member is no JSON")
	errText = errors.New("kvstore: a text is not UTF-8")
)

// encode returns v as JSON. It returns errJSON if v cannot be encoded.
func encode(v value) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, errJSON // the cause may quote a value
	}
	return raw, nil
}

// encodeOver returns v as JSON, together with the members of the old value that the type
// of v has no fields for. It returns errJSON if v cannot be encoded, or if old is no
// JSON object.
func encodeOver(old []byte, v value) ([]byte, error) {
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	var all, ours map[string]json.RawMessage
	if json.Unmarshal(old, &all) != nil || json.Unmarshal(raw, &ours) != nil {
		return nil, errJSON
	}
	forget(all, reflect.TypeOf(v))
	if len(all) == 0 {
		return raw, nil
	}
	maps.Copy(all, ours)
	return json.Marshal(all)
}

// forget deletes from the map those members for which the struct type has a field. A
// field of an embedded struct counts, too.
func forget(all map[string]json.RawMessage, of reflect.Type) {
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			forget(all, f.Type)
		}
		delete(all, name)
	}
}

// isText reports whether all texts are UTF-8, so that JSON holds them as they are.
func isText(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// open returns v, members of any name, as JSON. It returns nil if v is empty, and errJSON
// if v cannot be encoded.
func open[T map[string]any | []map[string]any](v T) (json.RawMessage, error) {
	if len(v) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, errJSON
	}
	return raw, nil
}

// opened decodes raw, which open returned, into *to. Numbers become [json.Number]. If
// raw is empty it leaves *to as it is. It returns errJSON if raw is no JSON.
func opened[T map[string]any | []map[string]any](raw json.RawMessage, to *T) error {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // a float64 would round large ids
	if d.Decode(to) != nil {
		return errJSON
	}
	return nil
}

// owner is the user that a record belongs to. An id can be used again when its
// user was deleted. So an owner also has a text that was made with the user, and
// what is left of the former user never belongs to the next one.
type owner struct {
	User string `json:"user"`
	Born string `json:"born,omitempty"`
}

// isWhole implements value. An owner has the id of a user; an owner of sessions has no
// Born.
func (o owner) isWhole() bool { return o.User != "" }

// of implements ownedValue: it returns the id of the user.
func (o owner) of() string { return o.User }
