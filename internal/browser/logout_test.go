package browser

import (
	"net/http"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

// TestReturnsFromLogout shows which return from a logout at a provider leads to where the
// user wanted to go, and spends the cookie (T-064, T-135).
func TestReturnsFromLogout(t *testing.T) {
	specs := NewSpecs(Options{}, []string{"a secret of the site, long enough"}, true, func(salt string) string { return salt })
	now, sent := time.Now(), Logout{Tenant: "t", Provider: "p", State: "state", CallbackURL: "/back"}
	for name, c := range map[string]struct {
		tenant, provider, state string
		after                   time.Duration
		change                  func(jwt.Claims)
		ok                      bool
	}{
		"T-064 as it was sent":        {"t", "p", "state", 0, nil, true},
		"T-064 another state":         {"t", "p", "other", 0, nil, false},
		"T-064 no state":              {"t", "p", "", 0, nil, false},
		"T-064 no state on each side": {"t", "p", "", 0, func(c jwt.Claims) { c["state"] = "" }, false},
		"T-064 another provider":      {"t", "q", "state", 0, nil, false},
		"T-064 another tenant":        {"u", "p", "state", 0, nil, false},
		"T-064 too late":              {"t", "p", "state", 16 * time.Minute, nil, false},
		"T-135 another purpose":       {"t", "p", "state", 0, func(c jwt.Claims) { c["purpose"] = "state" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			first := NewCookies(http.Header{}, specs, now)
			if err := first.PutLogout(sent, now); err != nil {
				t.Fatal(err)
			}
			value := first.Out[0].Value
			if c.change != nil {
				claims, err := specs.Logout.Codec.OpenClaims(value, now, logoutMaxAge)
				if err != nil {
					t.Fatal(err)
				}
				c.change(claims)
				if value, err = specs.Logout.Codec.SealClaims(claims, now, logoutMaxAge); err != nil {
					t.Fatal(err)
				}
			}
			k := NewCookies(http.Header{"Cookie": {first.Out[0].Name + "=" + value}}, specs, now)
			to, ok := k.EndLogout(c.tenant, c.provider, c.state, now.Add(c.after))
			if ok != c.ok || (to == sent.CallbackURL) != c.ok || (len(k.Out) == 1) != c.ok {
				t.Errorf("%q, %t; the browser is sent %d cookies", to, ok, len(k.Out))
			}
		})
	}
}
