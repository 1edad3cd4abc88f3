package browser

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

// FuzzTokenCookie: whatever a sealed cookie says, what is read of it names a session and
// at most three accounts.
func FuzzTokenCookie(f *testing.F) {
	f.Add([]byte(`{"purpose":"provider tokens","sub":"u","sid":"s","accounts":[{"p":"google","a":"1","rt":"r","e":1}]}`))
	f.Add([]byte(`{"purpose":"provider tokens","sub":"u","sid":"s","accounts":{"p":[]},"iat":1e400}`))
	f.Add([]byte(`{"purpose":"provider tokens","sub":"u","sid":7,"accounts":[{},{},{},{}]}`))
	f.Add([]byte(`{"purpose":"logout","sub":"u","sid":"s","accounts":[]}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var claims jwt.Claims
		if json.Unmarshal(payload, &claims) != nil {
			return
		}
		got, ok := tokenCookieOf(claims)
		if ok && (got.Subject == "" || got.Session == "" || len(got.Accounts) > mostTokenAccounts || claims["purpose"] != purposeTokens) {
			t.Errorf("read %+v", got)
		}
	})
}

// provider tokens that end are not kept by what the same response put before.
func TestEndedTokensAreTakenBack(t *testing.T) {
	specs := NewSpecs(Options{}, []string{"a secret of the site, long enough"}, true, func(salt string) string { return salt })
	now, name := time.Now(), specs.Tokens.Name()
	tokens := TokenCookie{Subject: "1", Session: "s", Accounts: []HeldTokens{{Provider: "a", Refresh: strings.Repeat("r", 3000)}}}
	put := func(c *Cookies, t TokenCookie) error { _, err := c.PutTokenCookie(t, now, time.Hour); return err }
	for how, end := range map[string]func(*Cookies) error{
		"ended":              func(c *Cookies) error { c.EndTokenCookie(); return nil },
		"put without tokens": func(c *Cookies) error { return put(c, TokenCookie{Subject: "1", Session: "s"}) },
	} {
		for _, sent := range []string{"", name + "=x", name + ".0=x; " + name + ".1=y; " + name + ".2=z"} {
			h := http.Header{}
			h.Set("Cookie", sent)
			c := NewCookies(h, specs, now)
			c.Set(&http.Cookie{Name: "other", Value: "stays"})
			if err := put(&c, tokens); err != nil {
				t.Fatal(err)
			}
			if len(c.Out) < 3 {
				t.Fatalf("put %v, want two pieces", c.Out)
			}
			if err := end(&c); err != nil {
				t.Fatal(err)
			}
			kept := map[string]bool{}
			for _, k := range cookiesOf(sent) {
				kept[k] = true
			}
			for _, k := range c.Out {
				kept[k.Name] = k.MaxAge >= 0
			}
			for k, is := range kept {
				if is != (k == "other") {
					t.Errorf("%s, the browser sent %q: %s is kept: %t", how, sent, k, is)
				}
			}
		}
	}
}

func cookiesOf(header string) (names []string) {
	for _, pair := range strings.Split(header, "; ") {
		if name, _, ok := strings.Cut(pair, "="); ok {
			names = append(names, name)
		}
	}
	return names
}
