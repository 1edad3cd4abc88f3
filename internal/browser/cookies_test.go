package browser

import (
	"net/http"
	"slices"
	"testing"
)

// the callback cookie holds a page of the site, which is no secret; its query may
// be one.
func TestSecretsOfCookies(t *testing.T) {
	specs := NewSpecs(Options{}, []string{"secret"}, true, func(salt string) string { return salt })
	h := http.Header{"Cookie": {
		specs.CSRF.Name() + "=token%7Chash; " + specs.CallbackURL.Name() + "=https%3A%2F%2Fapp.example%2Finvite%3Ftoken%3Dcanary",
		"other=https://app.example",
	}}
	got := Secrets(h, specs)
	for secret, want := range map[string]bool{
		"token%7Chash": true, "token|hash": true, "token=canary": true, "token%3Dcanary": true, "https://app.example": true,
		"https://app.example/invite": false, "https://app.example/invite?token=canary": false,
	} {
		if slices.Contains(got, secret) != want {
			t.Errorf("%q is among %q: %t", secret, got, !want)
		}
	}
	if early := Secrets(h, nil); !slices.Contains(early, "https://app.example/invite?token=canary") {
		t.Errorf("before the names are known: %q", early)
	}
}
