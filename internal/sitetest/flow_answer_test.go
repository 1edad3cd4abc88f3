package sitetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// What an authorization request asks for, and what its answer may and may not
// bring.

// A token in the front channel is a stranger's word, good code or not.
func TestAnswerOfAnotherFlow(t *testing.T) {
	for name, number := range map[string]string{"id_token": "R-315 R-381", "access_token": "R-381", "token": "R-381", "response": "R-381"} {
		for _, value := range []string{"", "x", "eyJhbGciOiJub25lIn0.e30."} {
			for _, mode := range []string{"query", "form_post"} {
				t.Run(fmt.Sprintf("%s %s=%q by %s", number, name, value, mode), func(t *testing.T) {
					s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.ResponseMode = mode }))
					b := s.newBrowser()
					params, before := s.authResponse(b, "issuer"), s.contents()
					asked := len(s.issuer.Requests(""))
					params.Set(name, value)
					deliver := func() *answer {
						if mode == "form_post" {
							return b.do(http.MethodPost, "/auth/callback/issuer", formContentType, params.Encode())
						}
						return b.callback("issuer", params)
					}
					refused(t, deliver(), "Configuration")
					if n := len(s.issuer.Requests("")); n != asked {
						t.Errorf("%d calls of the provider", n-asked)
					}
					s.noWrite(t, before)
					params.Del(name)
					if a := deliver(); !a.signsIn() {
						t.Errorf("without it: %d to %q", a.Code, a.location())
					}
				})
			}
		}
		t.Run(number+" a proxy sends no "+name+" on", func(t *testing.T) {
			s := newSite(t, proxied(siteOrigin, "https://*.preview.example"))
			state := stateFrom(t, s.clock, "https://pr-1.preview.example")
			a := s.newBrowser().get("/auth/callback/acme?" + url.Values{"code": {"c"}, "state": {state}, name: {"x"}}.Encode())
			refused(t, a, "Configuration")
		})
	}
}

// servers that demand a state get one, whatever the checks are.
func TestServersThatDemandMore(t *testing.T) {
	for _, checks := range checkSets() {
		t.Run("R-365 a state with "+nameOf(checks), func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = checks }))
			to, err := url.Parse(s.newBrowser().post("/auth/signin/issuer").location())
			if state := to.Query().Get("state"); err != nil || len(state) < 8 { // what fosite wants at least
				t.Errorf("state %q, %v", state, err)
			}
		})
	}
	for said, hint := range map[string]bool{"nonce required": true, "The Nonce is missing": true, "no": false} {
		for _, checks := range [][]latchkey.Check{nil, {latchkey.CheckPKCE, latchkey.CheckState, latchkey.CheckNonce}} {
			t.Run("R-365 "+said+" with "+nameOf(checks), func(t *testing.T) {
				s, b, params := newAnsweredSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = checks }))
				params.Del("code")
				params.Set("error", "invalid_request")
				params.Set("error_description", said)
				refused(t, b.callback("issuer", params), "OAuthCallbackError")
				if named := strings.Contains(s.log.text(), "CheckNonce"); named != (hint && checks == nil) {
					t.Errorf("the cure is named: %t\n%s", named, s.log.text())
				}
			})
		}
	}
}

// what a provider says reaches the log, once, and nobody else.
func TestErrorDescription(t *testing.T) {
	const said = "the clock of the client is wrong"
	long := strings.Repeat("long ", 700)
	describe := func(text string) url.Values {
		return url.Values{"error": {"server_error"}, "error_description": {text}}
	}
	answered := func(path, text string) latchkeytest.Misbehaviour {
		body, _ := json.Marshal(map[string]string{"error": "invalid_grant", "error_description": text})
		return latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{path: {
			Status: 400, Header: http.Header{"Content-Type": {"application/json"}}, Body: body,
		}}}
	}
	try := func(t *testing.T, text string, at string) (*oauthSite, *answer) {
		s, b, params := newAnsweredSite(t, withIssuer(fullChecks))
		if at == latchkeytest.PathAuthorize {
			state := params.Get("state")
			params = describe(strings.ReplaceAll(text, "STATE", state))
			params.Set("state", state)
			params.Set("iss", s.issuer.URL)
		} else {
			s.issuer.Misbehave(answered(at, strings.ReplaceAll(text, "STATE", params.Get("state"))))
		}
		return s, b.callback("issuer", params)
	}
	for _, at := range []string{latchkeytest.PathAuthorize, latchkeytest.PathToken, latchkeytest.PathUserInfo} {
		t.Run("R-366 from "+at, func(t *testing.T) {
			s, a := try(t, said, at)
			refused(t, a)
			if n := strings.Count(s.log.text(), said); n != 1 {
				t.Errorf("it is in the log %d times\n%s", n, s.log.text())
			}
			if strings.Contains(a.location()+a.Body.String(), "clock") {
				t.Error("it is shown")
			}
		})
		t.Run("R-366 bounded and cleaned, from "+at, func(t *testing.T) {
			s, a := try(t, "\x1b[31mred\r\nforged "+long, at)
			refused(t, a)
			for _, record := range s.log.records(t) {
				text, _ := record["description"].(string)
				if len(text) > 512 || strings.ContainsAny(text, "\x1b\r\n") {
					t.Errorf("%d bytes: %q", len(text), text)
				}
			}
			if !strings.Contains(s.log.text(), "long long") {
				t.Error("it is not in the log")
			}
		})
		t.Run("R-366 without secrets, from "+at, func(t *testing.T) {
			s, _ := try(t, "no such state: STATE", at)
			if !strings.Contains(s.log.text(), "no such state") {
				t.Fatal("it is not in the log")
			}
			for _, record := range s.log.records(t) {
				if text, _ := record["description"].(string); strings.Contains(text, "eyJ") {
					t.Errorf("the state is repeated: %q", text)
				}
			}
		})
	}
}

// how old a sign-in at the provider may be holds wherever it was said.
func TestMaxAgeIsKept(t *testing.T) {
	inParams := func(p *latchkey.OAuth) { p.Authorization.Params = url.Values{"max_age": {"100"}} }
	inURL := func(p *latchkey.OAuth) { p.Authorization.URL = p.Issuer + latchkeytest.PathAuthorize + "?max_age=100" }
	for _, c := range []struct {
		name   string
		change func(*latchkey.OAuth)
		query  string
		sent   string
		limit  int64 // seconds; 0: none
	}{
		{"nowhere", func(*latchkey.OAuth) {}, "", "", 0},
		{"in the provider's parameters", inParams, "", "100", 100},
		{"in the endpoint's own query", inURL, "", "100", 100},
		{"in the request", func(*latchkey.OAuth) {}, "?max_age=100", "100", 100},
		{"shorter in the request", inParams, "?max_age=10", "10", 10},
		{"zero in the request", inURL, "?max_age=0", "0", 0},
		{"longer in the request", inParams, "?max_age=99999", "100", 100},
		{"emptied in the request", inURL, "?max_age=", "100", 100},
	} {
		for _, age := range []struct {
			name    string
			seconds any // gone{}: none is said
			ok      bool
		}{
			{"young enough", c.limit + 59, true},
			{"too old", c.limit + 61, false},
			{"not said", gone{}, false},
			{"in the future", int64(-600), false},
		} {
			t.Run("R-382 "+c.name+", "+age.name, func(t *testing.T) {
				s := newOAuthSite(t, withIssuer(c.change))
				s.issuer.Misbehave(latchkeytest.Misbehaviour{IDToken: func(claims map[string]any) {
					if seconds, said := age.seconds.(int64); said {
						claims["auth_time"] = s.clock.Now().Unix() - seconds
					} else {
						delete(claims, "auth_time")
					}
				}})
				b := s.newBrowser()
				a := b.post("/auth/signin/issuer" + c.query)
				to, err := url.Parse(a.location())
				if got := to.Query().Get("max_age"); err != nil || got != c.sent {
					t.Fatalf("max_age %q was sent, want %q; %v", got, c.sent, err)
				}
				a = b.callback("issuer", s.consent(a))
				if want := age.ok || c.sent == ""; a.signsIn() != want {
					t.Errorf("signed in: %t, want %t\n%s", a.signsIn(), want, s.log.text())
				}
			})
		}
	}
	t.Run("R-382 what is no number is not sent", func(t *testing.T) {
		s := newOAuthSite(t)
		for _, query := range []string{"soon", "-1", "1.5", "99999999999999999999"} {
			refused(t, s.newBrowser().post("/auth/signin/issuer?max_age="+query), "Configuration")
		}
	})
	for _, name := range []string{"exp", "iat", "nbf", "auth_time"} {
		for shown, value := range map[string]any{"text": "1777636800", "null": nil, "a list": []any{1}, "true": true, "before 1970": -1} {
			t.Run("R-382 "+name+" is "+shown, func(t *testing.T) {
				s := newOAuthSite(t)
				s.issuer.Misbehave(set(name, value))
				refused(t, s.signIn(s.newBrowser()), "Configuration")
			})
		}
	}
}

// ids that only their case tells apart are one id to a person.
func TestProviderIDsThatLookAlike(t *testing.T) {
	for _, other := range []string{"ACME", "Acme", "acme"} {
		c := plainsite.Config(nil)
		c.Session.Strategy = latchkey.JWTSessions
		c.Adapter = nil
		for _, id := range []string{"acme", other} {
			c.Providers = append(c.Providers, &latchkey.OAuth{
				ID: id, ClientID: "x", ClientSecret: "y", OIDC: true, Issuer: "https://id.example",
			})
		}
		if _, err := latchkey.New(c); err == nil || !strings.Contains(err.Error(), "used twice") {
			t.Errorf("R-386 acme and %s: %v", other, err)
		}
	}
}

// a port that cannot be is a host that cannot be.
func TestForwardedPorts(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) { c.Site = latchkey.Site{TrustHost: true} })
	for host, ok := range map[string]bool{
		"app.example:443": true, "app.example:65535": true, "app.example:1": true, "[::1]:8080": true,
		"app.example:65536": false, "app.example:99999": false, "app.example:0": false, "[::1]:70000": false, "app.example:+80": false,
		"app.example:000443": false,
	} {
		for _, header := range []string{"X-Forwarded-Host", "Host"} {
			b := s.newBrowser()
			r := b.request(http.MethodGet, "/auth/providers", "", "")
			if header == "Host" {
				r.Host = host
			} else {
				r.Header.Set(header, host)
			}
			if a := b.serve(s.auth, r); (a.Code == http.StatusOK) != ok || !ok && a.Code != http.StatusBadRequest {
				t.Errorf("R-386 %s %s: %d", header, host, a.Code)
			}
		}
	}
}
