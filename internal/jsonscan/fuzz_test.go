package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
)

func FuzzMembers(f *testing.F) {
	for _, payload := range []string{session, `{}`, `{"a":[1,{"b":"\u00e9"}],"a":-1.5e-3}`, `{"\u0061":1}`, `{"a":"\ud800"}`, `[]`, `{"a":01}`, ` {"":null} `} {
		f.Add([]byte(payload))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		payload = slices.Clip(payload) // so that a step past the end is a panic and not a lucky read
		members, err := jsonscan.Members(payload, nil)
		if err != nil {
			var object map[string]json.RawMessage
			if json.Unmarshal(payload, &object) == nil && object != nil && utf8.Valid(payload) && len(payload) < 1000 {
				t.Errorf("refused %q", payload)
			}
			return
		}
		sameAsStandard(t, payload, members)
		if distinct, err := jsonscan.DistinctMembers(payload, nil); err == nil && write(distinct) != write(members) {
			t.Errorf("DistinctMembers = %s, want %s", write(distinct), write(members))
		}
		for _, m := range members {
			if text, ok := m.Text(); ok {
				var want string
				if err := json.Unmarshal(m.Raw, &want); err != nil || text != want {
					t.Errorf("Text = %q, want %q, %v", text, want, err)
				}
				var back string
				if err := json.Unmarshal(jsonscan.AppendText(nil, text), &back); err != nil || back != text {
					t.Errorf("AppendText does not read back: %q, %v", back, err)
				}
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{session, `{}`, `{"a":[1,{"b":"\u00e9","b":2}],"c":-1.5e-3}`, `{"\u0061":1,"a":2}`, `{"a":"\ud800"}`, `[]`, `null`, `{"a":01}`, ` {"":null} `, `{"a":[[],{},true,false]}x`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		text = slices.Clip(text)
		got, err := jsonscan.Decode(text)
		var want map[string]any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		valid := utf8.Valid(text) && d.Decode(&want) == nil && want != nil && onlySpace(text[d.InputOffset():])
		switch {
		case errors.Is(err, jsonscan.ErrRepeated):
			if !valid || !repeats(text) {
				t.Errorf("%q has no member twice", text)
			}
		case err != nil:
			if valid && len(text) < 1000 { // else it may be nested too deep
				t.Errorf("refused %q", text)
			}
		case !valid || repeats(text) || !reflect.DeepEqual(got, want):
			t.Errorf("%q became %v, want %v", text, got, want)
		}
	})
}

func onlySpace(text []byte) bool { return len(bytes.Trim(text, " \t\r\n")) == 0 }

// repeats says whether an object in valid JSON has a member twice.
func repeats(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	var open []map[string]bool // the names of each object that is open; nil: an array
	name := false              // a name comes next
	for {
		token, err := d.Token()
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
				if open[len(open)-1][text] {
					return true
				}
				open[len(open)-1][text], name = true, false
				continue
			}
		}
		name = len(open) > 0 && open[len(open)-1] != nil
	}
}
