package jsontext_test

import (
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/internal/jsontext"
)

func FuzzMembers(f *testing.F) {
	for _, payload := range []string{session, `{}`, `{"a":[1,{"b":"\u00e9"}],"a":-1.5e-3}`, `{"\u0061":1}`, `{"a":"\ud800"}`, `[]`, `{"a":01}`, ` {"":null} `} {
		f.Add([]byte(payload))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		payload = slices.Clip(payload) // so that a step past the end is a panic and not a lucky read
		members, err := jsontext.Members(payload, nil)
		if err != nil {
			var object map[string]json.RawMessage
			if json.Unmarshal(payload, &object) == nil && object != nil && utf8.Valid(payload) && len(payload) < 1000 {
				t.Errorf("refused %q", payload)
			}
			return
		}
		sameAsStandard(t, payload, members)
		if distinct, err := jsontext.DistinctMembers(payload, nil); err == nil && write(distinct) != write(members) {
			t.Errorf("DistinctMembers = %s, want %s", write(distinct), write(members))
		}
		for _, m := range members {
			if text, ok := m.Text(); ok {
				var want string
				if err := json.Unmarshal(m.Raw, &want); err != nil || text != want {
					t.Errorf("Text = %q, want %q, %v", text, want, err)
				}
				var back string
				if err := json.Unmarshal(jsontext.AppendText(nil, text), &back); err != nil || back != text {
					t.Errorf("AppendText does not read back: %q, %v", back, err)
				}
			}
		}
	})
}
