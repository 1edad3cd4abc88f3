package sitetest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/jwt"
)

// Small promises of Auth.js' interface.
func TestContract(t *testing.T) {
	t.Run("R-316 signing out of what is gone is told", func(t *testing.T) {
		for strategy, cookie := range map[latchkey.Strategy]string{latchkey.JWTSessions: "no token", latchkey.DatabaseSessions: strings.Repeat("0", 64)} {
			var told []latchkey.SignOutEvent
			s := newSite(t, func(c *latchkey.Config) {
				c.Session.Strategy = strategy
				c.Session.JWT.Decode = func(context.Context, string, latchkey.JWTParams) (latchkey.Claims, error) { return nil, nil }
				c.Events.SignOut = func(_ context.Context, e latchkey.SignOutEvent) error { told = append(told, e); return nil }
			})
			b := s.newBrowser()
			b.jar["__Secure-authjs.session-token"] = cookie
			b.post("/auth/signout")
			if len(told) != 1 || told[0].Claims != nil || told[0].Session != nil || b.jar["__Secure-authjs.session-token"] != "" {
				t.Errorf("%s: told %v", strategy, told)
			}
			s.newBrowser().post("/auth/signout")
			if len(told) != 1 {
				t.Errorf("%s: nobody's sign-out is told", strategy)
			}
		}
	})
	t.Run("R-316 a token that nobody can read is no sign-out", func(t *testing.T) {
		told := 0
		s := newSite(t, func(c *latchkey.Config) {
			c.Session.Strategy = latchkey.JWTSessions
			c.Events.SignOut = func(context.Context, latchkey.SignOutEvent) error { told++; return nil }
		})
		b := s.newBrowser()
		b.jar["__Secure-authjs.session-token"] = "garbage"
		b.post("/auth/signout")
		if told != 0 || b.jar["__Secure-authjs.session-token"] != "" {
			t.Errorf("told %d times", told)
		}
	})
	t.Run("R-316 Encode alone, and Decode alone", func(t *testing.T) {
		encode := func(_ context.Context, p latchkey.JWTParams) (string, error) {
			return "own." + p.Claims.String("sub"), nil
		}
		decode := func(_ context.Context, token string, p latchkey.JWTParams) (latchkey.Claims, error) {
			return jwt.Decode(token, jwt.Params{Secrets: p.Secrets, Salt: p.Salt, Time: newTestClock().Now})
		}
		s, b := newEnteredSite(t, func(c *latchkey.Config) { c.Session.JWT.Encode = encode })
		if got := b.jar["__Secure-authjs.session-token"]; got != "own.alice-1" || b.isLive() {
			t.Errorf("sealed %q by Encode, live %t", got, b.isLive())
		}
		old := newSite(t) // its tokens are read, and written in the new way
		b = old.newBrowser()
		b.signIn()
		b.site = s
		if !b.isLive() || b.jar["__Secure-authjs.session-token"] != "own.alice-1" {
			t.Errorf("%q", b.jar["__Secure-authjs.session-token"])
		}
		s = newSite(t, func(c *latchkey.Config) { c.Session.JWT.Decode = decode })
		if b = s.newBrowser(); !b.signIn().signsIn() || !b.isLive() {
			t.Error("Decode alone reads nothing")
		}
	})
	t.Run("R-316 options in a form are no credentials", func(t *testing.T) {
		s := newSite(t)
		form := url.Values{"username": {"alice"}, "password": {"wonderland"}, "redirectTo": {"/in"}, "redirect": {"false"}}
		res, err := s.auth.Core().SignIn(t.Context(), requestOf(s.newBrowser().request("POST", "/own", "", "")), "crew", latchkey.SignInOptions{Form: form})
		if err != nil || res.Redirect != siteOrigin+"/in" {
			t.Errorf("%+v, %v", res, err)
		}
		if got := fmt.Sprint(s.tries[0]); got != "map[password:wonderland username:alice]" {
			t.Errorf("Authorize got %s", got)
		}
	})
	t.Run("R-316 a session is renewed where it is asked for", func(t *testing.T) {
		s, b, _ := newSignedInSite(t)
		a := b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if in, err := s.auth.ReadSession(w, r); err != nil || in.User.Email != "ada@example.com" {
				t.Errorf("%v, %v", in, err)
			}
		}), b.request(http.MethodGet, "/own", "", ""))
		if !a.signsIn() {
			t.Error("the cookie is not renewed")
		}
	})
	t.Run("R-316 a field that is filled in and required", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) {
			c.Providers[0].(*latchkey.Credentials).Fields[0] = latchkey.Field{Name: "username", Value: "al<ice", Required: true}
		})
		if body := s.newBrowser().get("/auth/signin").Body.String(); !strings.Contains(body, `value="al&lt;ice"`) || !strings.Contains(body, "required") {
			t.Errorf("%s", body)
		}
	})
}

// Each message names what an operator can do about it.
func TestMessagesNameTheCure(t *testing.T) {
	oidc := func(change func(*latchkey.OAuth)) latchkey.Config {
		o := &latchkey.OAuth{ID: "my-site", OIDC: true, Issuer: "https://id.example", ClientID: "x", ClientSecret: "y"}
		change(o)
		return latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Providers: []latchkey.Provider{o}}
	}
	for says, c := range map[string]latchkey.Config{
		"AUTH_MY_SITE_ID":     oidc(func(o *latchkey.OAuth) { o.ClientID = "" }),
		"AUTH_MY_SITE_SECRET": oidc(func(o *latchkey.OAuth) { o.ClientSecret = "" }),
		"AUTH_MY_SITE_ISSUER": oidc(func(o *latchkey.OAuth) { o.Issuer = "" }),
	} {
		if _, err := latchkey.New(c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("R-323: want %s: %v", says, err)
		}
	}
	if _, err := latchkey.New(latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}}); err == nil || !strings.Contains(err.Error(), "Providers is empty") {
		t.Errorf("R-323: no provider at all: %v", err)
	}
	for site, warned := range map[string]bool{"http://app.example": true, "http://203.0.113.9": true, "https://app.example": false, "http://localhost:3000": false, "http://127.0.0.1": false, "http://192.168.1.7": false, "http://[::1]:80": false} {
		s := newSite(t, func(c *latchkey.Config) { c.Site.URL = site })
		if strings.Contains(s.log.text(), "public host") != warned {
			t.Errorf("R-323: %s: %s", site, s.log.text())
		}
	}
	s := newSite(t, func(c *latchkey.Config) { c.Hardened, c.Adapter, c.Providers = true, nil, c.Providers[:1] })
	if !strings.Contains(s.log.text(), "Session.Revocations") {
		t.Errorf("R-323: Hardened without revocations: %s", s.log.text())
	}
	s = newSite(t)
	s.newBrowser().get("/signin") // as behind http.StripPrefix
	if !strings.Contains(s.log.text(), "Site.Prefix") {
		t.Errorf("R-323: a prefix that is taken off: %s", s.log.text())
	}
	o := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.ClientSecret = "wrong" }))
	o.signIn(o.newBrowser())
	if !strings.Contains(o.log.text(), "AUTH_ISSUER_SECRET") {
		t.Errorf("R-323: a wrong client secret: %s", o.log.text())
	}
	s = newSite(t)
	b := s.newBrowser()
	to, _ := url.Parse(b.post("/auth/signin/acme").location())
	b.get("/auth/callback/acme?code=x&state=" + url.QueryEscape(to.Query().Get("state")))
	if !strings.Contains(s.log.text(), "token: acme.example: ") {
		t.Errorf("R-323: a provider that is down: %s", s.log.text())
	}
}

// A session that a proxy will choke on is warned of, once.
func TestLargeSessions(t *testing.T) {
	for bytes, says := range map[int]string{500: "", 3500: "proxy_buffer_size", 8000: "large_client_header_buffers"} {
		for _, plain := range []bool{false, true} {
			s := newSite(t, func(c *latchkey.Config) {
				c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
					u.Claims["big"] = strings.Repeat("x", bytes)
					return u.Claims, nil
				}
			})
			b := s.newBrowser()
			b.post("/auth/callback/crew", "username", "alice", "password", "wonderland")
			if plain { // another program, which only reads
				b.site = newSite(t)
			}
			b.session()
			b.session()
			if got := strings.Count(b.site.log.text(), "nginx"); (got != 0) != (says != "") || got > 1 || !strings.Contains(b.site.log.text(), says) {
				t.Errorf("R-372: %d bytes: %d warnings: %s", bytes, got, b.site.log.text())
			}
		}
	}
}
