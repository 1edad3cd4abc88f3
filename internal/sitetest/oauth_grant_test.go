package sitetest

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// received is every account that the application was handed on the way of one
// sign-in, by who got it.
type received map[string]latchkey.Account

func receiving(got received) func(*latchkey.Config) {
	return func(c *latchkey.Config) {
		c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error {
			got["SignIn"] = a.Account
			return nil
		}
		c.Callbacks.Token = func(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
			if t.Account != nil {
				got["Token"] = *t.Account
			}
			return t.Claims, nil
		}
		c.Events.SignIn = func(_ context.Context, e latchkey.SignInEvent) error {
			got["Events.SignIn"] = e.Account
			return nil
		}
		c.Events.LinkAccount = func(_ context.Context, e latchkey.LinkAccountEvent) error {
			got["Events.LinkAccount"] = e.Account
			return nil
		}
	}
}

func TestR306TokensAreKeptForTheStoreAlone(t *testing.T) {
	answer := latchkeytest.Misbehaviour{Token: func(a map[string]any) {
		maps.Copy(a, map[string]any{
			"session_state": map[string]any{"of": "another kind"}, "realm_id": "7", "expires_in": 600,
			"authorization_details": []any{map[string]any{"type": "payment"}},
		})
	}}
	for name, row := range map[string]struct {
		keep  func(latchkey.Tokens) latchkey.Tokens
		check func(t *testing.T, stored latchkey.Tokens)
	}{
		"R-306 nothing is stored": {
			func(latchkey.Tokens) latchkey.Tokens { return latchkey.Tokens{} },
			func(t *testing.T, stored latchkey.Tokens) {
				if stored.AccessToken != "" || stored.RefreshToken != "" || stored.IDToken != "" || len(stored.Extra) != 0 || stored.ExpiresIn != 0 {
					t.Error("something was stored")
				}
			},
		},
		"R-306 by default what Auth.js stores, and the lifetime": {nil, func(t *testing.T, stored latchkey.Tokens) {
			if stored.AccessToken == "" || stored.RefreshToken == "" || stored.IDToken == "" || stored.ExpiresAt.IsZero() || stored.ExpiresIn != 0 || len(stored.Extra) != 1 || fmt.Sprint(stored.Extra["expires_in"]) != "600" {
				t.Error("not what Auth.js stores, and the lifetime")
			}
		}},
		"R-306 a function that spoils what it is given": {func(given latchkey.Tokens) latchkey.Tokens {
			clear(given.Extra)
			clear(given.AuthorizationDetails)
			return latchkey.Tokens{Scope: given.Scope}
		}, func(t *testing.T, stored latchkey.Tokens) {
			if stored.Scope == "" || stored.AccessToken != "" {
				t.Error("not what was kept")
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := received{}
			s := newOAuthSite(t, receiving(got), withIssuer(func(o *latchkey.OAuth) { o.KeepTokens = row.keep }))
			s.issuer.Misbehave(answer)
			s.mustSignIn(s.newBrowser())
			if len(got) != 4 {
				t.Fatalf("%d were told, want 4", len(got))
			}
			for who, account := range got {
				tokens := account.Tokens
				if tokens.AccessToken == "" || tokens.RefreshToken == "" || tokens.IDToken == "" || tokens.Extra["realm_id"] != "7" {
					t.Errorf("%s lacks tokens", who)
				}
				if tokens.ExpiresIn != 10*time.Minute || !tokens.ExpiresAt.Equal(s.clock.Now().Truncate(time.Second).Add(10*time.Minute)) {
					t.Errorf("%s: expires in %v, at %v", who, tokens.ExpiresIn, tokens.ExpiresAt)
				}
				if state, _ := tokens.Extra["session_state"].(map[string]any); state["of"] != "another kind" || tokens.SessionState != "" {
					t.Errorf("%s: session_state is %v", who, tokens.Extra["session_state"])
				}
				if len(tokens.AuthorizationDetails) != 1 || tokens.AuthorizationDetails[0]["type"] != "payment" {
					t.Errorf("%s: authorization_details are %v", who, tokens.AuthorizationDetails)
				}
			}
			row.check(t, s.store.Contents().Accounts[0].Tokens)
		})
	}
	t.Run("R-306 members that do not fit their field", func(t *testing.T) {
		for _, details := range []any{"none", 5, map[string]any{"type": "x"}, []any{"x"}} {
			got := received{}
			s := newOAuthSite(t, receiving(got))
			s.issuer.Misbehave(latchkeytest.Misbehaviour{Token: func(a map[string]any) {
				a["authorization_details"], a["session_state"] = details, "a text"
			}})
			s.mustSignIn(s.newBrowser())
			tokens := got["SignIn"].Tokens
			if tokens.Extra["authorization_details"] == nil || tokens.AuthorizationDetails != nil {
				t.Errorf("%v became %v", details, tokens.AuthorizationDetails)
			}
			if _, twice := tokens.Extra["session_state"]; twice || tokens.SessionState != "a text" {
				t.Errorf("session_state is %q", tokens.SessionState)
			}
		}
	})
}

func TestR385PicturesAreWebAddresses(t *testing.T) {
	for picture, want := range map[string]string{
		"https://pictures.example/ada.png":  "https://pictures.example/ada.png",
		"http://pictures.example/ada.png":   "http://pictures.example/ada.png",
		"javascript:alert(1)":               "",
		"JavaScript:alert(1)":               "",
		" javascript:alert(1)":              "",
		"java\nscript:alert(1)":             "",
		"data:text/html,<script>":           "",
		"data:image/png;base64,iVBORw0KGgo": "",
		"data:image/svg+xml,<svg/>":         "",
		"file:///etc/passwd":                "",
		"vbscript:msgbox":                   "",
		"blob:https://app.example/1":        "",
		"//pictures.example/ada.png":        "",
		"/ada.png":                          "",
		"ada.png":                           "",
		"https://":                          "",
		"https://user:pw@pictures.example/": "",
	} {
		t.Run("R-385 "+picture, func(t *testing.T) {
			s := newOAuthSite(t)
			s.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com", Picture: picture})
			s.mustSignIn(s.newBrowser())
			if got := s.store.Contents().Users[0].Image; got != want {
				t.Errorf("stored %q, want %q", got, want)
			}
		})
	}
	t.Run("R-385 nor does a mapping bring others", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(func(o *latchkey.OAuth) {
			o.Identify = func(latchkey.Grant) (latchkey.Identity, error) {
				return latchkey.Identity{Subject: "ada", Image: "javascript:alert(1)"}, nil
			}
		}))
		s.mustSignIn(s.newBrowser())
		if got := s.store.Contents().Users[0].Image; got != "" {
			t.Errorf("stored %q", got)
		}
	})
	for name, row := range map[string]struct{ photo, kind string }{
		"a JPEG":                 {"\xff\xd8\xff\xe0", "image/jpeg"},
		"a PNG":                  {"\x89PNG\r\n\x1a\n", "image/png"},
		"HTML is shown as image": {"<html><script>alert(1)</script>", "image/jpeg"},
		"SVG is shown as JPEG":   {"<svg onload=alert(1)>", "image/jpeg"},
	} {
		t.Run("R-385 a photo: "+name, func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(func(o *latchkey.OAuth) {
				o.Identify = func(latchkey.Grant) (latchkey.Identity, error) {
					return latchkey.Identity{Subject: "ada", Photo: []byte(row.photo)}, nil
				}
			}))
			s.mustSignIn(s.newBrowser())
			want := "data:" + row.kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(row.photo))
			if got := s.store.Contents().Users[0].Image; got != want {
				t.Errorf("stored %q, want %q", got, want)
			}
		})
	}
}

func TestR367UserInfoCompletesTheIDToken(t *testing.T) {
	without := func(claims ...string) func(map[string]any) {
		return func(c map[string]any) {
			for _, name := range claims {
				delete(c, name)
			}
		}
	}
	person := latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com", EmailVerified: true, Picture: "https://pictures.example/ada"}
	for name, row := range map[string]struct {
		idToken    func(map[string]any)
		userInfo   func(map[string]any)
		scopes     []string
		asked      int
		user       string // name, e-mail, vouched, picture
		wantsClaim string
	}{
		"R-367 a whole ID token":               {nil, nil, nil, 0, "Ada ada@example.com true https://pictures.example/ada", ""},
		"R-367 neither name nor e-mail":        {without("name", "email", "email_verified", "picture"), nil, nil, 1, "Ada ada@example.com true https://pictures.example/ada", "name email"},
		"R-367 no name":                        {without("name"), nil, nil, 1, "Ada ada@example.com true https://pictures.example/ada", "name"},
		"R-367 null as name":                   {func(c map[string]any) { c["name"] = nil }, nil, nil, 1, "Ada ada@example.com true https://pictures.example/ada", "name"},
		"R-367 an empty name is one":           {func(c map[string]any) { c["name"] = "" }, nil, nil, 0, " ada@example.com true https://pictures.example/ada", ""},
		"R-348 nobody vouches for the e-mail":  {without("email"), without("email_verified"), nil, 1, "Ada ada@example.com false https://pictures.example/ada", "email"},
		"R-367 no e-mail":                      {without("email"), nil, nil, 1, "Ada ada@example.com true https://pictures.example/ada", "email"},
		"R-367 scopes that promise nothing":    {without("name", "email"), nil, []string{"openid"}, 0, "  false https://pictures.example/ada", ""},
		"R-367 scopes that promise the name":   {without("name", "email"), without("email"), []string{"openid", "profile"}, 1, "Ada  false https://pictures.example/ada", "name"},
		"R-367 userinfo does not replace":      {without("name"), func(c map[string]any) { c["email"], c["picture"] = "eve@example.com", "https://x.example" }, nil, 1, "Ada ada@example.com true https://pictures.example/ada", "name"},
		"R-367 userinfo vouches for its own":   {without("name", "email_verified"), func(c map[string]any) { c["email"] = "eve@example.com" }, nil, 1, "Ada ada@example.com false https://pictures.example/ada", "name"},
		"R-367 nor does the ID token for it":   {without("email"), func(c map[string]any) { c["email_verified"] = false }, nil, 1, "Ada ada@example.com false https://pictures.example/ada", "email"},
		"R-367 nobody knows a name":            {without("name"), without("name"), nil, 1, " ada@example.com true https://pictures.example/ada", "name"},
		"R-367 userinfo keeps to its subject":  {without("name"), func(c map[string]any) { c["iss"], c["aud"] = "https://evil.example", "x" }, nil, 1, "Ada ada@example.com true https://pictures.example/ada", "name"},
		"R-367 what else userinfo has is kept": {without("name"), func(c map[string]any) { c["groups"] = []any{"a"} }, nil, 1, "Ada ada@example.com true https://pictures.example/ada", "name"},
	} {
		t.Run(name, func(t *testing.T) {
			var profile latchkey.Claims
			s := newOAuthSite(t, withIssuer(func(o *latchkey.OAuth) { o.Scopes = row.scopes }), func(c *latchkey.Config) {
				c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error {
					profile = a.Profile
					return nil
				}
			})
			s.issuer.SignInAs(person)
			s.issuer.Misbehave(latchkeytest.Misbehaviour{IDToken: row.idToken, UserInfo: row.userInfo})
			for range 2 {
				s.mustSignIn(s.newBrowser())
			}
			if n := s.issuer.Count(latchkeytest.PathUserInfo); n != 2*row.asked {
				t.Errorf("userinfo was asked %d times in two sign-ins", n)
			}
			u, a := s.store.Contents().Users[0], s.store.Contents().Accounts[0]
			if got := fmt.Sprint(u.Name, " ", u.Email, " ", a.EmailVouched, " ", u.Image); got != row.user {
				t.Errorf("became %q, want %q", got, row.user)
			}
			if profile["iss"] != s.issuer.URL || profile["sub"] != "ada" {
				t.Errorf("the profile is of %v by %v", profile["sub"], profile["iss"])
			}
			if n := strings.Count(s.log.text(), "lack what"); n != row.asked {
				t.Errorf("%d hints in the log, want %d: %s", n, row.asked, s.log.text())
			}
			if row.wantsClaim != "" && !strings.Contains(s.log.text(), row.wantsClaim) {
				t.Errorf("the hint does not name %s", row.wantsClaim)
			}
		})
	}
	for name, row := range map[string]struct {
		bad      latchkeytest.Misbehaviour
		accepted bool
	}{
		"R-367 another subject ends the sign-in": {latchkeytest.Misbehaviour{UserInfo: func(c map[string]any) { c["sub"] = "mallory" }}, false},
		"R-561 no subject":                       {latchkeytest.Misbehaviour{UserInfo: func(c map[string]any) { delete(c, "sub"); c["name"] = "Eve" }}, true},
		"R-561 a subject that is no text":        {latchkeytest.Misbehaviour{UserInfo: func(c map[string]any) { c["sub"], c["name"] = 1, "Eve" }}, true},
		"R-367 an endpoint that is down":         {latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{latchkeytest.PathUserInfo: {Status: 503}}}, true},
		"R-367 an endpoint that refuses":         {latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{latchkeytest.PathUserInfo: {Status: 403, Body: []byte(`{"error":"insufficient_scope"}`)}}}, true},
		"R-367 no endpoint":                      {latchkeytest.Misbehaviour{Discovery: func(d map[string]any) { delete(d, "userinfo_endpoint") }}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newOAuthSite(t)
			bad := row.bad
			bad.IDToken = without("name")
			s.issuer.Misbehave(bad)
			a := s.signIn(s.newBrowser())
			if a.signsIn() != row.accepted {
				t.Errorf("signed in: %v, to %q", a.signsIn(), a.location())
			}
			if row.accepted && !strings.Contains(s.log.text(), "what its scopes promise") {
				t.Error("nothing in the log")
			}
		})
	}
}

func TestR384OldKeysAlert(t *testing.T) {
	s := newOAuthSite(t)
	s.mustSignIn(s.newBrowser())
	s.issuer.Misbehave(latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{latchkeytest.PathJWKS: {Status: http.StatusServiceUnavailable}}})
	s.clock.Advance(2 * time.Hour)
	s.mustSignIn(s.newBrowser())
	var alerts int
	for _, r := range s.log.records(t) {
		if text, _ := r["msg"].(string); strings.Contains(text, "keys") && r["level"] == "ERROR" {
			alerts++
			if r["provider"] != "issuer" || r["until"] == nil || r["error"] == nil {
				t.Errorf("the alert is %v", r)
			}
		}
	}
	if alerts != 1 {
		t.Errorf("%d alerts, want 1: %s", alerts, s.log.text())
	}
	s.clock.Advance(22 * time.Hour)
	if a := s.signIn(s.newBrowser()); a.signsIn() {
		t.Error("keys that are a day old still sign in")
	}
}
