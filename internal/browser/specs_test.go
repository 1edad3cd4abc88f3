package browser

import (
	"slices"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/failure"
)

// TestFaultsOfCookiesHaveAnOrder: a program that prints them prints the same at every start.
func TestFaultsOfCookiesHaveAnOrder(t *testing.T) {
	same := CookieOptions{Name: "same", Domain: "localhost"}
	specs := NewSpecs(Options{SessionToken: same, CallbackURL: same, CSRFToken: same, PKCE: same, State: same, Browser: same}, nil, false, func(salt string) string { return salt })
	faults := func() (texts []string) {
		var all failure.List
		specs.Check(&all, nil)
		for _, err := range all {
			texts = append(texts, err.Error())
		}
		return texts
	}
	first := faults()
	if len(first) < 11 {
		t.Fatalf("got %d faults: %q", len(first), first)
	}
	for range 20 {
		if again := faults(); !slices.Equal(again, first) {
			t.Fatalf("got %q, then %q", first, again)
		}
	}
}
