package sitetest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// checkSets are the default and all combinations of checks.
func checkSets() [][]latchkey.Check {
	sets := [][]latchkey.Check{nil}
	for bits := 1; bits < 8; bits++ {
		var set []latchkey.Check
		for i, c := range []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState, latchkey.CheckNonce} {
			if bits&(1<<i) != 0 {
				set = append(set, c)
			}
		}
		sets = append(sets, set)
	}
	return sets
}

func nameOf(checks []latchkey.Check) string {
	if checks == nil {
		return "default"
	}
	names := make([]string, len(checks))
	for i, c := range checks {
		names[i] = string(c)
	}
	return strings.Join(names, "+")
}

// beginTo begins a sign-in that is to land at a path.
func (s *oauthSite) beginTo(b *browser, provider, path string) url.Values {
	s.t.Helper()
	b.get("/auth/csrf?callbackUrl=" + path)
	return s.authResponse(b, provider)
}

// two tabs of one browser both complete, in either order, and each lands
// where it was going.
func TestTwoTabs(t *testing.T) {
	kinds := map[string]func(*latchkey.OAuth){"OIDC": func(*latchkey.OAuth) {}, "OAuth": func(p *latchkey.OAuth) { p.OIDC = false }}
	for kind, change := range kinds {
		for _, checks := range checkSets() {
			for _, order := range [][]int{{0, 1}, {1, 0}} {
				name := "R-301 " + kind + ", " + nameOf(checks) + map[int]string{0: ", older first", 1: ", newer first"}[order[0]]
				t.Run(name, func(t *testing.T) {
					s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = checks; change(p) }))
					b := s.newBrowser()
					paths := []string{"/first", "/second"}
					tabs := []url.Values{s.beginTo(b, "issuer", paths[0]), s.beginTo(b, "issuer", paths[1])}
					for _, tab := range order {
						if a := b.callback("issuer", tabs[tab]); !a.signsIn() || a.location() != siteOrigin+paths[tab] {
							t.Errorf("%s: %d to %q\n%s", paths[tab], a.Code, a.location(), s.log.text())
						}
					}
					for name := range b.jar {
						if strings.Contains(name, "state") || strings.Contains(name, "nonce") || strings.Contains(name, "pkce") {
							t.Errorf("%s is left", name)
						}
					}
				})
			}
		}
	}
	t.Run("R-301 two providers, one of which posts", func(t *testing.T) {
		for _, order := range [][]int{{0, 1}, {1, 0}} {
			s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { fullChecks(p); p.ResponseMode = "form_post" }),
				second(func(p *latchkey.OAuth) { p.ResponseMode = "" }))
			b := s.newBrowser()
			tabs := []url.Values{s.authResponse(b, "issuer"), nil}
			s.issuer.SignInAs(latchkeytest.Person{Subject: "grace", Email: "grace@example.com"})
			tabs[1] = s.authResponse(b, "second")
			if a := b.post("/auth/signin/second"); a.cookie("state").SameSite != http.SameSiteNoneMode {
				t.Error("the cookie stays away from the post that is still to come")
			}
			deliver := []func() *answer{
				func() *answer {
					return b.do(http.MethodPost, "/auth/callback/issuer", formContentType, tabs[0].Encode())
				},
				func() *answer { return b.callback("second", tabs[1]) },
			}
			for _, tab := range order {
				if a := deliver[tab](); !a.signsIn() {
					t.Errorf("%v: tab %d: %d to %q\n%s", order, tab, a.Code, a.location(), s.log.text())
				}
			}
		}
	})
	t.Run("R-301 as many as there is room for, the oldest goes first", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(fullChecks))
		b := s.newBrowser()
		var tabs []url.Values
		for range 5 {
			tabs = append(tabs, s.authResponse(b, "issuer"))
		}
		refused(t, b.callback("issuer", tabs[0]), "Configuration")
		for i := len(tabs) - 1; i > 0; i-- {
			if a := b.callback("issuer", tabs[i]); !a.signsIn() {
				t.Errorf("tab %d: %d to %q", i, a.Code, a.location())
			}
		}
	})
	t.Run("R-301 no cookie is too long for a browser", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(fullChecks), func(c *latchkey.Config) { c.Site.RedirectProxyURL = "https://proxy.example/auth" })
		b := s.newBrowser()
		for range 6 {
			b.get("/auth/csrf?callbackUrl=/" + strings.Repeat("a", 900))
			for _, c := range b.post("/auth/signin/issuer").Result().Cookies() {
				if n := len(c.String()); n > 4096 {
					t.Errorf("%s has %d bytes", c.Name, n)
				}
			}
		}
	})
	t.Run("R-301 each ends in its own time", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(fullChecks))
		b := s.newBrowser()
		older := s.authResponse(b, "issuer")
		s.clock.Advance(10 * time.Minute)
		newer := s.authResponse(b, "issuer")
		s.clock.Advance(4 * time.Minute)
		if a := b.callback("issuer", newer); !a.signsIn() {
			t.Fatalf("the newer: %d to %q", a.Code, a.location())
		}
		s.clock.Advance(2 * time.Minute)
		refused(t, b.callback("issuer", older), "Configuration")
		if n := s.issuer.Count(latchkeytest.PathToken); n != 1 {
			t.Errorf("codes of %d sign-ins were redeemed: the older was not over", n)
		}
	})
	t.Run("R-301 one at a time, where that is asked for", func(t *testing.T) {
		for _, checks := range checkSets() {
			s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = checks }), func(c *latchkey.Config) { c.Security.OneFlow = true })
			b := s.newBrowser()
			older, newer := s.authResponse(b, "issuer"), s.authResponse(b, "issuer")
			refused(t, b.copy().callback("issuer", older), "Configuration")
			if a := b.callback("issuer", newer); !a.signsIn() {
				t.Errorf("%s: %d to %q", nameOf(checks), a.Code, a.location())
			}
		}
	})
}

// an answer spends the sign-in whose state it carries, and no other.
func TestWhatSpendsASignIn(t *testing.T) {
	for _, checks := range checkSets() {
		for _, junk := range []string{
			"code=junk", "code=junk&state=", "code=junk&state=junk", "error=access_denied", "error=access_denied&state=junk",
			"code=junk&iss=https://evil.example", "", "state=junk", "code=a&code=b", "code=junk&response=x",
		} {
			t.Run("R-394 "+nameOf(checks)+" "+junk, func(t *testing.T) {
				s, b, params := newAnsweredSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = checks }))
				if strings.HasPrefix(junk, "code=junk") {
					junk += "&iss=" + url.QueryEscape(params.Get("iss"))
				}
				refused(t, b.get("/auth/callback/issuer?"+junk))
				if a := b.callback("issuer", params); !a.signsIn() {
					t.Errorf("afterwards: %d to %q\n%s", a.Code, a.location(), s.log.text())
				}
			})
		}
		t.Run("R-394 "+nameOf(checks)+" somebody else's good code", func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = checks }))
			attacker, b := s.newBrowser(), s.newBrowser()
			planted, params := s.authResponse(attacker, "issuer"), s.authResponse(b, "issuer")
			planted.Del("state")
			refused(t, b.callback("issuer", planted), "Configuration")
			if a := b.callback("issuer", params); !a.signsIn() {
				t.Errorf("afterwards: %d to %q\n%s", a.Code, a.location(), s.log.text())
			}
		})
		t.Run("R-394 "+nameOf(checks)+" a refusal with its state", func(t *testing.T) {
			s, b, params := newAnsweredSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = checks }))
			refusal := url.Values{"error": {"access_denied"}, "state": params["state"], "iss": params["iss"]}
			for range 2 { // a page that is loaded again says the same
				refused(t, b.callback("issuer", refusal), "OAuthCallbackError")
			}
			refused(t, b.callback("issuer", params), "Configuration")
			s.noCall(t, latchkeytest.PathToken)
		})
		t.Run("R-394 "+nameOf(checks)+" a junk code with its state", func(t *testing.T) {
			_, b, params := newAnsweredSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = checks }))
			good := params.Get("code")
			params.Set("code", "junk")
			refused(t, b.callback("issuer", params), "Configuration")
			params.Set("code", good)
			refused(t, b.callback("issuer", params), "Configuration")
		})
	}
}

// whoever thinks too long and then says no has said no.
func TestRefusalWithoutCookie(t *testing.T) {
	for _, mode := range []string{"query", "form_post"} {
		for _, checks := range checkSets() {
			t.Run("R-310 "+mode+" "+nameOf(checks), func(t *testing.T) {
				s, b, params := newAnsweredSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks, p.ResponseMode = checks, mode }))
				params.Del("code")
				params.Set("error", "access_denied")
				params.Set("error_description", "<b>described</b>")
				s.clock.Advance(20 * time.Minute)
				before := s.contents()
				for _, b := range []*browser{b.copy(), s.newBrowser()} { // browsers drop what is too old
					a := b.callback("issuer", params)
					if mode == "form_post" {
						a = b.do(http.MethodPost, "/auth/callback/issuer", formContentType, params.Encode())
					}
					refused(t, a, "OAuthCallbackError")
					if !strings.HasPrefix(a.location(), siteOrigin+"/auth/signin?") || strings.Contains(a.location(), "described") {
						t.Errorf("to %q", a.location())
					}
				}
				s.noWrite(t, before)
				s.noCall(t, latchkeytest.PathToken)
			})
		}
	}
	t.Run("R-310 of another issuer nothing is believed", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(fullChecks))
		refused(t, s.newBrowser().get("/auth/callback/issuer?error=access_denied&state=x&iss=https://evil.example"), "Configuration")
	})
	t.Run("R-310 a code is no refusal", func(t *testing.T) {
		s, b, params := newAnsweredSite(t, withIssuer(fullChecks))
		s.clock.Advance(20 * time.Minute)
		refused(t, b.callback("issuer", params), "Configuration")
	})
	t.Run("R-310 at a redirect proxy", func(t *testing.T) {
		s := newSite(t, proxied(siteOrigin, "https://*.preview.example"))
		state := stateFrom(t, s.clock, "https://pr-1.preview.example")
		s.clock.Advance(20 * time.Minute)
		a := s.newBrowser().get("/auth/callback/acme?" + url.Values{"error": {"access_denied"}, "state": {state}}.Encode())
		refused(t, a, "OAuthCallbackError")
	})
}
