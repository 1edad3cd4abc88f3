package sealed

import (
	"strings"
	"testing"
	"time"
)

// TestOpen has a row for each text that must not open.
func TestOpen(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	box := func(at time.Time, tenant, salt string, secrets ...string) *Box {
		return New(secrets, salt, tenant, func() time.Time { return at })
	}
	const salt = "salt of a list"
	text, err := box(now, "red", salt, "a secret").Seal("position", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		box   *Box
		text  string
		opens bool
	}{
		{"as it was sealed", box(now, "red", salt, "a secret"), text, true},
		{"after the secret was replaced", box(now, "red", salt, "new", "a secret"), text, true},
		{"to the end of its life", box(now.Add(time.Hour-1), "red", salt, "a secret"), text, true},
		{"after its life", box(now.Add(time.Hour), "red", salt, "a secret"), text, false},
		{"of another tenant", box(now, "blue", salt, "a secret"), text, false},
		{"of another list", box(now, "red", "another salt", "a secret"), text, false},
		{"under another secret", box(now, "red", salt, "other"), text, false},
		{"changed", box(now, "red", salt, "a secret"), text[:len(text)-2] + "xx", false},
		{"empty", box(now, "red", salt, "a secret"), "", false},
		{"too long", box(now, "red", salt, "a secret"), text + strings.Repeat("x", longest), false},
		{"without a box", nil, text, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got string
			if opens := c.box.Open(c.text, &got); opens != c.opens || opens && got != "position" {
				t.Errorf("Open: %v, %q; want %v", opens, got, c.opens)
			}
		})
	}
}

// TestSealNeedsJSON refuses a value that has no form in JSON.
func TestSealNeedsJSON(t *testing.T) {
	if _, err := New([]string{"a secret"}, "salt", "", time.Now).Seal(func() {}, time.Hour); err == nil {
		t.Error("a function was sealed")
	}
}

// TestDigest tells values apart.
func TestDigest(t *testing.T) {
	if a, b := Digest("ada"), Digest("bob"); a == b || a != Digest("ada") || len(a) != 32 {
		t.Errorf("Digest: %q and %q", a, b)
	}
}
