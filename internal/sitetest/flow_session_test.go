package sitetest

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// pendingLink is a site at which Ada, who came in by a link, has begun to link
// her account at the issuer.
type pendingLink struct {
	*oauthSite
	ada    *browser
	params url.Values
	mode   string
}

func newPendingLink(t *testing.T, strategy func(*latchkey.Config), mode string) *pendingLink {
	t.Helper()
	s := newOAuthSite(t, strategy, withIssuer(func(p *latchkey.OAuth) { p.ResponseMode = mode }),
		second(func(p *latchkey.OAuth) { p.ResponseMode = "" }))
	s.issuer.SignInAs(latchkeytest.Person{Subject: "grace-at-work", Email: "work@example.com"})
	p := &pendingLink{oauthSite: s, ada: s.newBrowser(), mode: mode}
	p.ada.signInByLink("ada@example.com")
	s.clock.Advance(time.Minute)
	p.params = s.authResponse(p.ada, "issuer")
	s.clock.Advance(time.Minute)
	return p
}

// deliver completes what was begun, in a browser. Lax cookies stay away from a
// post of the provider's.
func (p *pendingLink) deliver(b *browser) *answer {
	p.t.Helper()
	if p.mode != "form_post" {
		return b.callback("issuer", p.params)
	}
	return b.postedFromElsewhere("issuer", p.params)
}

// postedFromElsewhere is the post that a provider's own page sends, with the
// cookies that go along with it: Lax ones stay away. A page that wants it sent
// again gets its wish.
func (b *browser) postedFromElsewhere(provider string, params url.Values) *answer {
	b.site.t.Helper()
	far, home := b.copy(), b.copy()
	for name := range far.jar {
		if !strings.Contains(name, "pkce") && !strings.Contains(name, "state") && !strings.Contains(name, "nonce") {
			delete(far.jar, name)
		}
	}
	a := far.do(http.MethodPost, "/auth/callback/"+provider, formContentType, params.Encode())
	if !strings.Contains(a.Body.String(), "latchkey-again") {
		return a
	}
	again := maps.Clone(params)
	again.Set("latchkey-again", "yes")
	return home.do(http.MethodPost, "/auth/callback/"+provider, formContentType, again.Encode())
}

func (p *pendingLink) adaID() string {
	p.t.Helper()
	u, err := p.store.GetUserByEmail(p.t.Context(), "ada@example.com")
	if err != nil {
		p.t.Fatal(err)
	}
	return u.ID
}

func revocable(c *latchkey.Config) {
	c.Session.Strategy, c.Session.Revocations = latchkey.JWTSessions, c.Adapter.(storage.RevocationStore)
}

func (s *testSite) sessionID(b *browser) (id string) {
	s.t.Helper()
	found, err := s.auth.ReadSession(httptest.NewRecorder(), b.request(http.MethodGet, "/", "", ""))
	if err != nil {
		s.t.Fatal(err)
	}
	return found.ID
}

// what was begun in a session is finished in that session or not at all.
func TestLinkBelongsToItsSession(t *testing.T) {
	strategies := map[string]func(*latchkey.Config){"rows": stored, "tokens": revocable}
	for strategy, keep := range strategies {
		for _, mode := range []string{"query", "form_post"} {
			open := func(t *testing.T) *pendingLink { return newPendingLink(t, keep, mode) }
			name := "R-342 " + strategy + ", " + mode + ", "
			linked := func(t *testing.T, p *pendingLink, b *browser) {
				t.Helper()
				a := p.deliver(b)
				if c := p.store.Contents(); !a.signsIn() || len(c.Users) != 1 || len(c.Accounts) != 1 {
					t.Errorf("%d to %q: %v\n%s", a.Code, a.location(), c.Accounts, p.log.text())
				}
			}
			t.Run(name+"alive", func(t *testing.T) {
				p := open(t)
				linked(t, p, p.ada)
			})
			t.Run(name+"renewed meanwhile", func(t *testing.T) {
				p := open(t)
				for range 3 {
					live(t, p.ada)
					p.ada.session()
				}
				linked(t, p, p.ada)
			})
			for how, end := range map[string]func(t *testing.T, p *pendingLink){
				"signed out": func(_ *testing.T, p *pendingLink) { p.ada.copy().post("/auth/signout") },
				"signed out everywhere": func(t *testing.T, p *pendingLink) {
					if err := p.auth.Users().EndSessions(t.Context(), p.adaID()); err != nil {
						t.Fatal(err)
					}
				},
				"deleted": func(t *testing.T, p *pendingLink) {
					if err := p.auth.Users().Delete(t.Context(), p.adaID()); err != nil {
						t.Fatal(err)
					}
				},
			} {
				t.Run(name+how, func(t *testing.T) {
					p := open(t)
					before := p.ada.copy() // with every cookie there was
					end(t, p)
					contents := p.contents()
					refused(t, p.deliver(before), "Configuration")
					p.noWrite(t, contents)
				})
			}
			if strategy == "rows" {
				t.Run(name+"ended on this device", func(t *testing.T) {
					p := open(t)
					if err := p.auth.Users().EndSession(t.Context(), p.adaID(), p.sessionID(p.ada)); err != nil {
						t.Fatal(err)
					}
					refused(t, p.deliver(p.ada), "Configuration")
				})
				t.Run(name+"expired", func(t *testing.T) {
					p := newPendingLink(t, func(c *latchkey.Config) { keep(c); c.Session.MaxAge, c.Session.UpdateAge = 5*time.Minute, time.Minute }, mode)
					p.clock.Advance(5 * time.Minute)
					refused(t, p.deliver(p.ada), "Configuration")
					if c := p.store.Contents(); len(c.Accounts) != 0 {
						t.Errorf("linked: %v", c.Accounts)
					}
				})
			}
		}
		name := "R-342 " + strategy + ", "
		t.Run(name+"somebody else is signed in now", func(t *testing.T) {
			p := newPendingLink(t, keep, "query")
			flow := p.ada.copy()
			other := p.newBrowser()
			other.signInByLink("bob@example.com")
			for cookie, value := range other.jar {
				flow.jar[cookie] = value
			}
			refused(t, p.deliver(flow), "Configuration")
			if c := p.store.Contents(); len(c.Accounts) != 0 {
				t.Errorf("linked: %v", c.Accounts)
			}
		})
		t.Run(name+"another session of the same user", func(t *testing.T) {
			p := newPendingLink(t, keep, "query")
			again := p.newBrowser()
			again.signInByLink("ada@example.com")
			for cookie, value := range p.ada.jar {
				if _, there := again.jar[cookie]; !there {
					again.jar[cookie] = value
				}
			}
			refused(t, p.deliver(again), "Configuration")
		})
		for who, begin := range map[string]func(p *pendingLink, b *browser){
			"nobody's":        func(*pendingLink, *browser) {},
			"somebody else's": func(_ *pendingLink, b *browser) { b.signInByLink("mallory@example.com") },
		} {
			for _, mode := range []string{"query", "form_post"} {
				t.Run(name+mode+", planted, "+who, func(t *testing.T) {
					p := newPendingLink(t, keep, mode)
					p.issuer.SignInAs(latchkeytest.Person{Subject: "mallory", Email: "mallory@evil.example"})
					mallory := p.newBrowser()
					begin(p, mallory)
					p.params = p.authResponse(mallory, "issuer")
					for cookie, value := range mallory.jar { // a sibling host can set cookies for the whole site
						if strings.Contains(cookie, "pkce") || strings.Contains(cookie, "state") || strings.Contains(cookie, "nonce") {
							p.ada.jar[cookie] = value
						}
					}
					id := p.adaID()
					p.deliver(p.ada)
					for _, a := range p.store.Contents().Accounts {
						if a.UserID == id {
							t.Errorf("Ada has gained %v", a)
						}
					}
				})
			}
		}
		for _, order := range [][]int{{0, 1}, {1, 0}} {
			t.Run(name+"two links begun in one session", func(t *testing.T) {
				s := newOAuthSite(t, keep, second(unchanged))
				b := s.newBrowser()
				b.signInByLink("ada@example.com")
				providers := []string{"issuer", "second"}
				tabs := []url.Values{s.authResponse(b, "issuer"), s.authResponse(b, "second")}
				for _, tab := range order {
					if a := b.callback(providers[tab], tabs[tab]); !a.signsIn() {
						t.Errorf("%s: %d to %q\n%s", providers[tab], a.Code, a.location(), s.log.text())
					}
				}
				if c := s.store.Contents(); len(c.Users) != 1 || len(c.Accounts) != 2 {
					t.Errorf("%d users, %v", len(c.Users), c.Accounts)
				}
			})
		}
	}
	t.Run("R-342 a token that names no session", func(t *testing.T) {
		for _, mode := range []string{"query", "form_post"} {
			p := newPendingLink(t, func(c *latchkey.Config) { c.Session.Strategy = latchkey.JWTSessions }, mode)
			if a := p.deliver(p.ada); !a.signsIn() || len(p.store.Contents().Accounts) != 1 || len(p.store.Contents().Users) != 1 {
				t.Errorf("%s: %d to %q", mode, a.Code, a.location())
			}
		}
	})
	t.Run("R-342 begun by nobody, by the time it comes back somebody is here", func(t *testing.T) {
		s := newOAuthSite(t, stored)
		b := s.newBrowser()
		params := s.authResponse(b, "issuer") // Ada, at the issuer
		b.signInByLink("bob@example.com")
		if a := b.callback("issuer", params); !a.signsIn() {
			t.Errorf("%d to %q", a.Code, a.location())
		}
		if c := s.store.Contents(); len(c.Users) != 2 || len(c.Accounts) != 1 {
			t.Errorf("%d users, %v", len(c.Users), c.Accounts)
		}
	})
}

// check cookies that somebody planted, with a provider's post behind them,
// gain whoever planted them nothing.
func TestPlantedFlowLinksNothing(t *testing.T) {
	for strategy, keep := range map[string]func(*latchkey.Config){"rows": stored, "tokens": revocable} {
		begin := func(t *testing.T) (*pendingLink, *browser) {
			p := newPendingLink(t, keep, "form_post") // Ada plants what she has begun; Grace's account is at the issuer
			victim := p.newBrowser()
			for name, value := range p.ada.jar {
				if strings.Contains(name, "pkce") || strings.Contains(name, "state") || strings.Contains(name, "nonce") {
					victim.jar[name] = value
				}
			}
			return p, victim
		}
		refused := func(t *testing.T, p *pendingLink, victim *browser) {
			t.Helper()
			a := victim.postedFromElsewhere("issuer", p.params)
			if a.signsIn() || len(p.store.Contents().Accounts) != 0 {
				t.Errorf("%d to %q: %v", a.Code, a.location(), p.store.Contents().Accounts)
			}
		}
		t.Run("R-402 "+strategy+", into the browser of nobody", func(t *testing.T) {
			p, victim := begin(t)
			refused(t, p, victim)
		})
		t.Run("R-402 "+strategy+", into the browser of somebody else", func(t *testing.T) {
			p, victim := begin(t)
			victim.signInByLink("grace@example.com")
			refused(t, p, victim)
		})
		t.Run("R-402 "+strategy+", nothing is asked of the provider, and nothing spent, before the post comes from here", func(t *testing.T) {
			p := newPendingLink(t, keep, "form_post")
			p.deliver(p.newBrowser())
			if a := p.deliver(p.ada); !a.signsIn() {
				t.Errorf("%d to %q", a.Code, a.location())
			}
		})
	}
}

// The page that has a post sent again sends the fields of the provider, and no
// script but its own may run on it.
func TestPostIsSentAgainFromHere(t *testing.T) {
	p := newPendingLink(t, stored, "form_post")
	far := p.ada.copy()
	for name := range far.jar {
		if strings.Contains(name, "session") {
			delete(far.jar, name)
		}
	}
	p.params.Set("odd", `"><script>alert(1)</script>`)
	a := far.do(http.MethodPost, "/auth/callback/issuer", formContentType, p.params.Encode())
	page := a.Body.String()
	if a.Code != http.StatusOK || !strings.Contains(page, p.params.Get("code")) || !strings.Contains(page, p.params.Get("state")) || strings.Contains(page, "<script>alert") {
		t.Errorf("%d %s", a.Code, page)
	}
	if csp := a.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "script-src 'sha256-") || a.Header().Get("Cache-Control") == "" || a.Header().Get("Referrer-Policy") != "no-referrer" {
		t.Error(a.Header())
	}

	p.params.Set("latchkey-again", "")
	if again := far.do(http.MethodPost, "/auth/callback/issuer", formContentType, p.params.Encode()); strings.Count(again.Body.String(), "latchkey-again") != 1 {
		t.Error("a post that brings the mark empty is asked for without end")
	}
}
