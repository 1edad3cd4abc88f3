package storage_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/storage"
)

func TestFoldName(t *testing.T) {
	for in, want := range map[string]string{"Erdős  Pál": "erdos pal", "": "", "STRASSE": storage.FoldName("straße"), "Zoe\u0308": "zoe"} {
		if got := storage.FoldName(in); got != want {
			t.Errorf("P-011 %q becomes %q, want %q", in, got, want)
		}
	}
	if got := storage.FoldName(strings.Repeat("王", 100)); len(got) > 200 || !utf8.ValidString(got) {
		t.Errorf("a long name becomes %d bytes", len(got))
	}
}

func FuzzAfterPrefix(f *testing.F) {
	f.Add("ada", "ada lovelace")
	f.Add("\U0010FFFF", "\U0010FFFF!")
	f.Add("\uD7FF", "\uE000")
	f.Fuzz(func(t *testing.T, prefix, text string) {
		if !utf8.ValidString(prefix) || !utf8.ValidString(text) {
			return
		}
		end := storage.AfterPrefix(prefix)
		inRange := text >= prefix && (end == "" || text < end)
		if inRange != strings.HasPrefix(text, prefix) {
			t.Errorf("%q begins with %q: %v, and is before %q: %v", text, prefix, !inRange, end, inRange)
		}
	})
}

func TestSuspensionHolds(t *testing.T) {
	now := time.Now()
	for name, row := range map[string]struct {
		s    *storage.Suspension
		want bool
	}{
		"none":                           {nil, false},
		"until it is taken back":         {&storage.Suspension{Since: now.Add(-time.Hour)}, true},
		"made by a clock that is ahead":  {&storage.Suspension{Since: now.Add(time.Minute)}, true},
		"P-021 a millisecond before":     {&storage.Suspension{Until: now.Add(time.Millisecond)}, true},
		"P-021 at its end":               {&storage.Suspension{Until: now}, false},
		"P-021 a millisecond after that": {&storage.Suspension{Until: now.Add(-time.Millisecond)}, false},
	} {
		if got := row.s.Holds(now); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// TestUserJSONIsAsBefore: what the record gains leaves the program in no JSON.
func TestUserJSONIsAsBefore(t *testing.T) {
	u := storage.User{ID: "1", Created: time.Now(), Provisioned: time.Now(), Suspension: &storage.Suspension{Reason: "canary", By: "canary"}}
	raw, err := json.Marshal(u)
	if err != nil || string(raw) != `{"id":"1","name":null,"email":null,"image":null}` {
		t.Errorf("P-023 %s, %v", raw, err)
	}
}
