package password_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/latchkeyhq/latchkey/password"
)

// TestImports checks hashes that other programs made: Django of Debian 12, Devise, PHP
// as Laravel calls it, and better-auth. testdata/hashes.json names the versions.
func TestImports(t *testing.T) {
	text, err := os.ReadFile("testdata/hashes.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ Source, Password, Hash, Pepper string }
	if err := json.Unmarshal(text, &rows); err != nil || len(rows) < 25 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		t.Run(row.Source, func(t *testing.T) {
			t.Parallel()
			h, err := password.New(password.Options{DevisePepper: row.Pepper, Memory: 128 << 20})
			if err != nil {
				t.Fatal(err)
			}
			got, err := h.Check(t.Context(), row.Hash, row.Password)
			if err != nil || !got.OK || !got.Stale {
				t.Errorf("%.12s… and %q: %+v, %v", row.Hash, row.Password, got, err)
			}
			if got, err := h.Check(t.Context(), row.Hash, "y"+row.Password); err != nil || got != (password.Result{}) {
				t.Errorf("%.12s… and a wrong password: %+v, %v", row.Hash, got, err)
			}
		})
	}
}

// TestOtherFormats shows how a format of its own is checked.
func TestOtherFormats(t *testing.T) {
	h := newHasher(t, password.Options{Verify: map[string]func(hash, password string) (bool, error){
		"plain:": func(hash, password string) (bool, error) { return hash == "plain:"+password, nil },
	}})
	for typed, want := range map[string]password.Result{"tea": {OK: true, Stale: true}, "coffee": {}} {
		if got, err := h.Check(t.Context(), "plain:tea", typed); err != nil || got != want {
			t.Errorf("%s: %+v, %v", typed, got, err)
		}
	}
}
