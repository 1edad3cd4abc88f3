package sitetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// withCodes puts codes into the mails of a site.
func withCodes(c *latchkey.Config) {
	for _, p := range c.Providers {
		if e, ok := p.(*latchkey.Email); ok {
			e.Code = true
		}
	}
	c.Limits.MailsPerRecipient = latchkey.Rate{Events: 1000, Per: time.Hour}
	c.Limits.MailsPerClient = c.Limits.MailsPerRecipient
	c.Limits.CredentialsPerClient = c.Limits.MailsPerRecipient
}

// askForCode asks for a mail and returns its code and its link.
func (b *browser) askForCode(email string) (code, link string) {
	b.site.t.Helper()
	a := b.post("/auth/signin/post", "email", email, "callbackUrl", siteOrigin+"/inside")
	if a.Code != http.StatusFound || !strings.Contains(a.location(), "/auth/verify-request?") {
		b.site.t.Fatalf("asking for a mail: %d to %q", a.Code, a.location())
	}
	sent := b.site.sent()
	last := sent[len(sent)-1]
	return last.Code, strings.TrimPrefix(last.URL, siteOrigin)
}

func (b *browser) typeCode(code string) *answer {
	b.site.t.Helper()
	return b.post("/auth/callback/post", "code", code)
}

// wrongCode returns digits that are not the code.
func wrongCode(code string) string {
	last := code[len(code)-1]
	return code[:len(code)-1] + string('0'+(last-'0'+1)%10)
}

// codeRefused fails the test unless the answer leads back to the field.
func codeRefused(t *testing.T, a *answer) {
	t.Helper()
	if a.Code != http.StatusFound || a.error() != "Verification" || !strings.Contains(a.location(), "/auth/verify-request?") || a.signsIn() {
		t.Errorf("answered %d to %q", a.Code, a.location())
	}
}

func codesWith(t *testing.T, run func(t *testing.T, newSite func(change ...func(*latchkey.Config)) *testSite)) {
	t.Helper()
	for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
		t.Run(string(strategy), func(t *testing.T) {
			run(t, func(change ...func(*latchkey.Config)) *testSite {
				return newSite(t, append([]func(*latchkey.Config){withCodes, func(c *latchkey.Config) { c.Session.Strategy = strategy }}, change...)...)
			})
		})
	}
}

// F-092: link and code are one proof, and the first use ends both.
func TestCodeAndLinkAreOne(t *testing.T) {
	codesWith(t, func(t *testing.T, newSite func(...func(*latchkey.Config)) *testSite) {
		t.Run("F-092 a code signs in, and its link is dead", func(t *testing.T) {
			s := newSite()
			b := s.newBrowser()
			code, link := b.askForCode("ada@example.com")
			if len(code) != 8 {
				t.Fatalf("the code has %d digits", len(code))
			}
			a := b.typeCode(code[:4] + " " + code[4:])
			if !a.signsIn() || a.location() != siteOrigin+"/inside" {
				t.Fatalf("%d to %q", a.Code, a.location())
			}
			refused(t, b.get(link), "Verification")
			refused(t, s.newBrowser().get(link), "Verification")
			codeRefused(t, b.typeCode(code))
		})
		t.Run("F-092 a link was used, and its code is wrong", func(t *testing.T) {
			s := newSite()
			b := s.newBrowser()
			code, link := b.askForCode("ada@example.com")
			if !s.newBrowser().get(link).signsIn() {
				t.Fatal("the link does not sign in")
			}
			codeRefused(t, b.typeCode(code))
		})
		t.Run("F-092 both at once end in one session", func(t *testing.T) {
			s := newSite()
			for range 20 {
				b := s.newBrowser()
				code, link := b.askForCode("ada@example.com")
				b.token()
				other := s.newBrowser()
				var wg sync.WaitGroup
				var byCode, byLink *answer
				wg.Go(func() { byCode = b.typeCode(code) })
				wg.Go(func() { byLink = other.get(link) })
				wg.Wait()
				if byCode.signsIn() == byLink.signsIn() {
					t.Fatalf("by code: %t, by link: %t", byCode.signsIn(), byLink.signsIn())
				}
			}
		})
		t.Run("F-092 a code twice at once ends in one session", func(t *testing.T) {
			s := newSite()
			b := s.newBrowser()
			code, _ := b.askForCode("ada@example.com")
			b.token()
			twin := b.copy()
			var wg sync.WaitGroup
			var one, two *answer
			wg.Go(func() { one = b.typeCode(code) })
			wg.Go(func() { two = twin.typeCode(code) })
			wg.Wait()
			if one.signsIn() == two.signsIn() {
				t.Errorf("%t and %t", one.signsIn(), two.signsIn())
			}
		})
	})
}

// F-093: a code needs the browser that asked for it.
func TestCodeNeedsItsBrowser(t *testing.T) {
	codesWith(t, func(t *testing.T, newSite func(...func(*latchkey.Config)) *testSite) {
		t.Run("F-093 in another browser it is refused and not counted", func(t *testing.T) {
			s := newSite()
			b := s.newBrowser()
			code, _ := b.askForCode("ada@example.com")
			before := s.contents()
			other := s.newBrowser()
			for range 30 {
				codeRefused(t, other.typeCode(code))
			}
			s.noWrite(t, before)
			if !b.typeCode(code).signsIn() {
				t.Error("the browser that asked is refused")
			}
		})
		t.Run("F-093 with the cookie of another request it is wrong", func(t *testing.T) {
			s := newSite()
			b, other := s.newBrowser(), s.newBrowser()
			code, _ := b.askForCode("ada@example.com")
			second, _ := other.askForCode("ada@example.com")
			codeRefused(t, other.typeCode(code))
			if !b.typeCode(code).signsIn() || !other.typeCode(second).signsIn() {
				t.Error("two browsers do not have their own codes")
			}
		})
		t.Run("F-093 the newest in one browser counts", func(t *testing.T) {
			s := newSite()
			b := s.newBrowser()
			first, _ := b.askForCode("ada@example.com")
			second, _ := b.askForCode("ada@example.com")
			if first != second {
				codeRefused(t, b.typeCode(first))
			}
			if !b.typeCode(second).signsIn() {
				t.Error("the newest is refused")
			}
		})
		t.Run("F-204 its cookie is no link, and no cookie of another purpose is it", func(t *testing.T) {
			s := newSite()
			b := s.newBrowser()
			code, _ := b.askForCode("ada@example.com")
			for name, value := range b.jar {
				if !strings.HasSuffix(name, "email-link") {
					continue
				}
				refused(t, s.newBrowser().get("/auth/callback/post?token="+value+"&email=ada@example.com"), "Verification")
				for _, purpose := range []string{"notice", "browser", "session-token"} {
					other := s.newBrowser()
					other.jar[strings.Replace(name, "email-link", purpose, 1)] = value
					if codeRefused(t, other.typeCode(code)); other.isLive() {
						t.Error("the cookie of a code is a session")
					}
				}
			}
		})
	})
}

// F-094: five tries for a code, twenty a day for a mailbox.
func TestTriesAtCodes(t *testing.T) {
	codesWith(t, func(t *testing.T, newSite func(...func(*latchkey.Config)) *testSite) {
		t.Run("F-094 after the fifth wrong one the code is dead and the link lives", func(t *testing.T) {
			s := newSite()
			b := s.newBrowser()
			code, link := b.askForCode("ada@example.com")
			for range 5 {
				codeRefused(t, b.typeCode(wrongCode(code)))
			}
			codeRefused(t, b.typeCode(code))
			if !b.get(link).signsIn() {
				t.Error("the link is dead")
			}
		})
		for _, call := range []string{"GetUserByEmail", "UseVerificationToken"} {
			t.Run("R-709 an outage counts no code: "+call, func(t *testing.T) {
				plan := newFaultyStore()
				s := newSite(func(c *latchkey.Config) {
					c.Adapter, c.Runtime.Logger = proofFaults{memoryadapter.New(memoryadapter.Options{}), plan}, quiet
				})
				b := s.newBrowser()
				code, _ := b.askForCode("ada@example.com")
				for range 4 {
					codeRefused(t, b.typeCode(wrongCode(code)))
				}
				plan.fail(call, faultAway)
				for range 6 {
					if a := b.typeCode(code); a.error() != "Configuration" {
						t.Fatalf("an outage: %d to %q", a.Code, a.location())
					}
				}
				plan.mend()
				if a := b.typeCode(code); !a.signsIn() {
					t.Errorf("afterwards: %d to %q", a.Code, a.location())
				}
			})
		}
		t.Run("F-071 F-094 of parallel tries five are compared", func(t *testing.T) {
			s := newSite()
			b := s.newBrowser()
			code, _ := b.askForCode("ada@example.com")
			b.token()
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() { b.copy().typeCode(fmt.Sprintf("%08d", i)) })
			}
			wg.Wait()
			codeRefused(t, b.typeCode(code))
		})
		t.Run("F-094 after twenty wrong ones mails have no code, and links work", func(t *testing.T) {
			s := newSite()
			for range 4 {
				b := s.newBrowser()
				code, _ := b.askForCode("ada@example.com")
				for range 5 {
					codeRefused(t, b.typeCode(wrongCode(code)))
				}
			}
			b := s.newBrowser()
			code, link := b.askForCode("ada@example.com")
			if code != "" {
				t.Error("the mail has a code")
			}
			page := b.get("/auth/verify-request?provider=post&type=email").Body.String()
			if !strings.Contains(page, `name="code"`) {
				t.Error("the page tells that there is no code")
			}
			codeRefused(t, b.typeCode("12345678"))
			if !b.get(link).signsIn() {
				t.Error("the link is dead")
			}
			t.Run("F-094 a browser that has signed in before has its own", func(t *testing.T) {
				code, _ := b.askForCode("ada@example.com")
				if code == "" || !b.typeCode(code).signsIn() {
					t.Error("the owner is locked out")
				}
			})
			t.Run("F-094 the next day there are codes again", func(t *testing.T) {
				s.clock.Advance(24 * time.Hour)
				if code, _ := s.newBrowser().askForCode("ada@example.com"); code == "" {
					t.Error("no code")
				}
			})
		})
		t.Run("F-094 right codes use up no try", func(t *testing.T) {
			s := newSite()
			for range 25 {
				b := s.newBrowser()
				if code, _ := b.askForCode("ada@example.com"); !b.typeCode(code).signsIn() {
					t.Fatal("refused")
				}
			}
		})
		t.Run("F-012 a code lives for ten minutes, and its link on", func(t *testing.T) {
			s := newSite()
			b := s.newBrowser()
			code, link := b.askForCode("ada@example.com")
			s.clock.Advance(10 * time.Minute)
			codeRefused(t, b.typeCode(code))
			if !b.get(link).signsIn() {
				t.Error("the link is dead")
			}
		})
	})
}

// F-027: what is typed is forgiven in its form, and nothing else is.
func TestTypedCodes(t *testing.T) {
	s := newSite(t, withCodes)
	for name, write := range map[string]func(code string) string{
		"spaces":     func(c string) string { return " " + c[:4] + " " + c[4:] + " " },
		"a hyphen":   func(c string) string { return c[:4] + "-" + c[4:] },
		"full width": func(c string) string { return strings.Map(func(r rune) rune { return r - '0' + '０' }, c) },
		"Arabic":     func(c string) string { return strings.Map(func(r rune) rune { return r - '0' + '٠' }, c) },
	} {
		b := s.newBrowser()
		if code, _ := b.askForCode("ada@example.com"); !b.typeCode(write(code)).signsIn() {
			t.Errorf("%s: refused", name)
		}
	}
	for name, write := range map[string]func(code string) string{
		"7 digits": func(c string) string { return c[:7] }, "9 digits": func(c string) string { return c + "0" },
		"letters": func(string) string { return "abcdefgh" }, "10 KB": func(c string) string { return c + strings.Repeat(" ", 10<<10) },
	} {
		b := s.newBrowser()
		code, _ := b.askForCode("ada@example.com")
		if a := b.typeCode(write(code)); a.signsIn() {
			t.Errorf("%s: accepted", name)
		}
	}
}

// F-049: a foreign page types no code.
func TestCodeNeedsCSRF(t *testing.T) {
	s := newSite(t, withCodes)
	b := s.newBrowser()
	code, _ := b.askForCode("ada@example.com")
	a := b.do(http.MethodPost, "/auth/callback/post", formContentType, "csrfToken=wrong&code="+code)
	if a.signsIn() || a.error() != "MissingCSRF" {
		t.Errorf("%d to %q", a.Code, a.location())
	}
	if !b.typeCode(code).signsIn() {
		t.Error("the refusal has spent the code")
	}
}

// F-201: a code that was asked for before the user's sessions were ended is void.
func TestCodeFromBeforeTheEndIsVoid(t *testing.T) {
	s := newSite(t, withCodes)
	b := s.newBrowser()
	code, _ := b.askForCode("ada@example.com")
	b.typeCode(code)
	u, err := s.store.GetUserByEmail(t.Context(), "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(time.Minute)
	other := s.newBrowser()
	code, _ = other.askForCode("ada@example.com")
	s.clock.Advance(time.Minute)
	if err := s.auth.Users().EndSessions(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(time.Minute)
	if a := other.typeCode(code); a.signsIn() {
		t.Error("it signs in")
	}
}

func TestCodesBesideOtherOptions(t *testing.T) {
	change := func(f func(*latchkey.Email)) func(*latchkey.Config) {
		return func(c *latchkey.Config) {
			for _, p := range c.Providers {
				if e, ok := p.(*latchkey.Email); ok {
					f(e)
				}
			}
		}
	}
	t.Run("SameBrowser binds the link too", func(t *testing.T) {
		s := newSite(t, withCodes, change(func(e *latchkey.Email) { e.SameBrowser = true }))
		b := s.newBrowser()
		_, link := b.askForCode("ada@example.com")
		refused(t, s.newBrowser().get(link), "Verification")
		s.clock.Advance(time.Hour)
		if !b.get(link).signsIn() {
			t.Error("the link is dead where it was asked for")
		}
		code, _ := b.askForCode("ada@example.com")
		if !b.typeCode(code).signsIn() {
			t.Error("the code does not sign in")
		}
	})
	t.Run("ConfirmLink keeps the button, and looking spends neither", func(t *testing.T) {
		s := newSite(t, withCodes, change(func(e *latchkey.Email) { e.ConfirmLink = new(true) }))
		b := s.newBrowser()
		code, link := b.askForCode("ada@example.com")
		if a := b.get(link); a.signsIn() || a.Code != http.StatusOK {
			t.Errorf("%d", a.Code)
		}
		if !b.typeCode(code).signsIn() {
			t.Error("the code was spent")
		}
	})
	t.Run("a prefetch spends neither", func(t *testing.T) {
		s := newSite(t, withCodes)
		b := s.newBrowser()
		code, link := b.askForCode("ada@example.com")
		scanner := s.newBrowser()
		scanner.header.Set("Sec-Purpose", "prefetch")
		scanner.get(link)
		if !b.typeCode(code).signsIn() {
			t.Error("the code was spent")
		}
	})
	t.Run("too many mails: the page and its cookie are the same", func(t *testing.T) {
		s := newSite(t, withCodes, func(c *latchkey.Config) { c.Limits.MailsPerRecipient = latchkey.Rate{Events: 1, Per: time.Hour} })
		s.newBrowser().askForCode("ada@example.com")
		b := s.newBrowser()
		a := b.post("/auth/signin/post", "email", "ada@example.com")
		if len(s.sent()) != 1 || a.cookie("email-link") == nil {
			t.Errorf("%d mails, cookie %v", len(s.sent()), a.cookie("email-link"))
		}
		codeRefused(t, b.typeCode("12345678"))
	})
	t.Run("CodeLength", func(t *testing.T) {
		s := newSite(t, withCodes, change(func(e *latchkey.Email) { e.CodeLength = 6 }))
		b := s.newBrowser()
		code, _ := b.askForCode("ada@example.com")
		if len(code) != 6 || !b.typeCode(code).signsIn() {
			t.Errorf("a code of %d digits", len(code))
		}
	})
	for name, bad := range map[string]func(*latchkey.Config){
		"too short": change(func(e *latchkey.Email) { e.Code, e.CodeLength = true, 5 }),
		"too long":  change(func(e *latchkey.Email) { e.Code, e.CodeLength = true, 9 }),
		"short links": change(func(e *latchkey.Email) {
			e.Code, e.MaxAge, e.NewToken = true, time.Minute, func() (string, error) { return "123456", nil }
		}),
		"a store without":   func(c *latchkey.Config) { withCodes(c); c.Adapter = withoutChallenges{c.Adapter} },
		"no store whatever": func(c *latchkey.Config) { withCodes(c); c.Adapter = nil },
	} {
		c := newSite(t).config
		providers := make([]latchkey.Provider, len(c.Providers))
		for i, p := range c.Providers {
			if e, ok := p.(*latchkey.Email); ok {
				own := *e
				p = &own
			}
			providers[i] = p
		}
		c.Providers = providers
		bad(&c)
		if _, err := latchkey.New(c); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// A page of the application's own posts csrfToken and code to the same route.
func TestFormsHaveTheCodeField(t *testing.T) {
	s := newSite(t, withCodes, func(c *latchkey.Config) { c.Pages.VerifyRequest = "/look" })
	b := s.newBrowser()
	forms := func(target string) *latchkey.Forms {
		f, err := s.auth.Forms(httptest.NewRecorder(), b.request(http.MethodGet, target, "", ""))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if forms("/look").CodeField != nil {
		t.Error("there is a field before a mail was asked for")
	}
	code, _ := b.askForCode("ada@example.com")
	b.typeCode(wrongCode(code))
	f := forms("/look?error=Verification").CodeField
	if f == nil || f.Error == "" || !f.Fields[0].Invalid || f.Fields[0].Name != "code" || f.Fields[0].Autocomplete != "one-time-code" {
		t.Fatalf("%+v", f)
	}
	if !b.post(strings.TrimPrefix(f.Action, siteOrigin), f.Fields[0].Name, code).signsIn() {
		t.Error("the form does not sign in")
	}
}

// F-096: a code is in no log, whatever becomes of it.
func TestCodesAreInNoLog(t *testing.T) {
	s := newSite(t, withCodes)
	b := s.newBrowser()
	code, _ := b.askForCode("ada@example.com")
	b.typeCode(wrongCode(code))
	b.typeCode(code)
	b.typeCode(code)
	for _, canary := range []string{code, wrongCode(code), code[:4] + " " + code[4:]} {
		if strings.Contains(s.log.text(), canary) {
			t.Errorf("the log has a code")
		}
	}
	for name, value := range b.jar {
		if strings.HasSuffix(name, "email-link") && strings.Contains(s.log.text(), value) {
			t.Error("the log has the cookie of a code")
		}
	}
}

// A site without codes has no field, no cookie and no challenge.
func TestWithoutCodesNothingChanges(t *testing.T) {
	s := newSite(t)
	b := s.newBrowser()
	a := b.post("/auth/signin/post", "email", "ada@example.com")
	if a.cookie("email-link") != nil || s.sent()[0].Code != "" {
		t.Error("there is a code")
	}
	if page := b.follow(a).Body.String(); strings.Contains(page, `name="code"`) {
		t.Error("the page has a field for a code")
	}
	refused(t, b.post("/auth/callback/post", "code", "12345678"), "Configuration")
}

// withoutChallenges is an adapter that keeps no challenges.
type withoutChallenges struct{ storage.Adapter }
