// Package wirejson writes the members that users, sessions and records have in
// JSON, as Auth.js writes them.
package wirejson

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
)

// Decode decodes into v the JSON value that raw begins with. It does not look at what
// follows. Numbers become [json.Number] where v leaves the type open.
func Decode(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

// AddExtra sets the decoded value of m in *extra, under the name of m. It makes the map
// if that is nil. Numbers become [json.Number]: a float64 rounds integers above 2^53.
func AddExtra[M ~map[string]any](extra *M, m jsonscan.Member) error {
	var v any
	if err := Decode(m.Raw, &v); err != nil {
		return err
	}
	if *extra == nil {
		*extra = M{}
	}
	(*extra)[string(m.Key)] = v
	return nil
}

// Null is the JSON text null.
var Null = []byte("null")

// AppendMember appends a member with this name, which needs no escapes. The value is
// text or, if that is empty, said, the raw JSON that a token had there. If said is a
// text that is not empty, the application has emptied it since, and AppendMember writes
// null. If text is empty and said is nil, it appends nothing. start is the length of b
// after the opening brace.
func AppendMember(b []byte, start int, name, text string, said []byte) []byte {
	if text == "" && said == nil {
		return b
	}
	b = append(AppendComma(b, start), '"')
	b = append(append(b, name...), `":`...)
	switch {
	case text != "":
		return jsonscan.AppendText(b, text)
	case said[0] == '"' && len(said) > 2: // it was text, and the application has emptied it since
		return append(b, Null...)
	}
	return append(b, said...)
}

// AppendComma writes a comma, unless nothing was written since start.
func AppendComma(b []byte, start int) []byte {
	if len(b) > start {
		return append(b, ',')
	}
	return b
}

// AppendTime appends t as JSON.stringify writes a Date: a quoted text in UTC, to the
// millisecond.
func AppendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	b = t.AppendFormat(append(b, '"'), time.RFC3339) // which package time writes without reading the layout
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-len("Z")], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z', '"')
}

// AppendExtra appends the members of extra, in order of name, to the object that b ends
// with. b has at least the opening brace. It leaves out the reserved names. It returns
// nil and an error for a value that JSON cannot express.
func AppendExtra(b []byte, extra map[string]any, reserved []string) ([]byte, error) {
	var few [8]string // most have no more, and no memory is needed for their names
	names := few[:0]
	for name := range extra {
		if !slices.Contains(reserved, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(jsonscan.AppendText(b, name), ':')
		if text, ok := extra[name].(string); ok {
			b = jsonscan.AppendText(b, text)
			continue
		}
		value, err := json.Marshal(extra[name])
		if err != nil {
			return nil, errors.New("latchkey: member " + name + " cannot be written as JSON")
		}
		b = append(b, value...)
	}
	return b, nil
}
