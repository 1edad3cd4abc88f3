package sitetest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
)

// inBubble runs a test in which time passes when everybody waits.
func inBubble(t *testing.T, name string, test func(*testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// Code of the application's that does not come back holds nobody up: it counts
// as failed, with its name and its limit in the log.
func TestHooksHaveALimit(t *testing.T) {
	for _, c := range []struct {
		name, says string
		inPlace    bool // it runs on every read, and has to listen
		hang       func(c *latchkey.Config, hang func(context.Context))
		come       func(s *testSite, b *browser) *answer
		error      string // of the page; empty: nobody is signed in, without one
	}{
		{
			name: "Callbacks.SignIn", says: "Callbacks.SignIn did not return within 10s", error: "AccessDenied",
			hang: func(c *latchkey.Config, hang func(context.Context)) {
				c.Callbacks.SignIn = func(ctx context.Context, _ latchkey.SignInAttempt) error { hang(ctx); return ctx.Err() }
			},
		},
		{
			name: "Callbacks.Token", says: "Callbacks.Token did not return within 10s", error: "Configuration",
			hang: func(c *latchkey.Config, hang func(context.Context)) {
				c.Callbacks.Token = func(ctx context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
					hang(ctx)
					return u.Claims, ctx.Err()
				}
			},
		},
		{
			name: "Callbacks.Redirect", says: "Callbacks.Redirect did not return within 10s", error: "Configuration",
			hang: func(c *latchkey.Config, hang func(context.Context)) {
				c.Callbacks.Redirect = func(ctx context.Context, _, base string) (string, error) { hang(ctx); return base, ctx.Err() }
			},
			come: func(_ *testSite, b *browser) *answer {
				return b.post("/auth/callback/crew", "username", "alice", "password", "wonderland", "callbackUrl", "/in")
			},
		},
		{
			name: "Credentials.Authorize", says: "Credentials.Authorize did not return within 10s", error: "Configuration",
			hang: func(c *latchkey.Config, hang func(context.Context)) {
				c.Providers[0].(*latchkey.Credentials).Authorize = func(ctx context.Context, _ map[string]string, _ *latchkey.Request) (latchkey.User, error) {
					hang(ctx)
					return latchkey.User{ID: "alice"}, ctx.Err()
				}
			},
		},
		{
			name: "Email.Send", says: "Email.Send did not return within 10s", error: "Configuration",
			hang: func(c *latchkey.Config, hang func(context.Context)) {
				c.Providers[1].(*latchkey.Email).Send = func(ctx context.Context, _ latchkey.Message) error { hang(ctx); return ctx.Err() }
			},
			come: func(s *testSite, b *browser) *answer {
				a := b.post("/auth/signin/post", "email", "ada@example.com")
				if n := len(s.store.Contents().VerificationTokens); n != 0 {
					s.t.Errorf("%d links are still good", n)
				}
				return a
			},
		},
		{
			name: "JWTConfig.Encode", inPlace: true, says: "JWTConfig.Encode did not return within 10s", error: "Configuration",
			hang: func(c *latchkey.Config, hang func(context.Context)) {
				c.Session.JWT.Encode = func(ctx context.Context, _ latchkey.JWTParams) (string, error) { hang(ctx); return "x", ctx.Err() }
				c.Session.JWT.Decode = func(context.Context, string, latchkey.JWTParams) (latchkey.Claims, error) { return nil, nil }
			},
		},
	} {
		for manner, hang := range map[string]func(<-chan struct{}) func(context.Context){
			"is deaf": func(end <-chan struct{}) func(context.Context) { return func(context.Context) { <-end } },
			"listens": func(<-chan struct{}) func(context.Context) { return func(ctx context.Context) { <-ctx.Done() } },
		} {
			if c.inPlace && manner == "is deaf" {
				continue
			}
			inBubble(t, "R-355 "+c.name+" "+manner, func(t *testing.T) {
				end := make(chan struct{})
				defer close(end)
				s := newSite(t, func(cfg *latchkey.Config) {
					c.hang(cfg, hang(end))
				})
				b := s.newBrowser()
				come := c.come
				if come == nil {
					come = func(_ *testSite, b *browser) *answer {
						return b.post("/auth/callback/crew", "username", "alice", "password", "wonderland")
					}
				}
				if a := come(s, b); a.signsIn() || a.error() != c.error {
					t.Errorf("%d to %q", a.Code, a.location())
				}
				if !strings.Contains(s.log.text(), c.says) {
					t.Errorf("the log does not say %q: %s", c.says, s.log.text())
				}
			})
		}
	}
	inBubble(t, "R-355 Callbacks.Session, while a session is read", func(t *testing.T) {
		hangs := false
		s := newSite(t, func(cfg *latchkey.Config) {
			cfg.Callbacks.Session = func(ctx context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
				if hangs {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return r.Session, nil
			}
		})
		b := s.newBrowser()
		b.signIn()
		hangs = true
		if a := b.get("/auth/session"); a.Body.String() != "null" || a.cookie("session-token") != nil {
			t.Errorf("%s, %v", a.Body, a.Header())
		}
		if !strings.Contains(s.log.text(), "Callbacks.Session did not return within") {
			t.Errorf("%s", s.log.text())
		}
	})
	inBubble(t, "R-355 Events", func(t *testing.T) {
		end := make(chan struct{})
		defer close(end)
		s := newSite(t, func(cfg *latchkey.Config) {
			cfg.Events.SignIn = func(context.Context, latchkey.SignInEvent) error { <-end; return nil }
			cfg.Events.Observe = func(context.Context, latchkey.Event) error { <-end; return nil }
		})
		s.newBrowser().signIn()
		for _, name := range []string{"Events.signIn did not return within 5s", "Events.Observe did not return within 5s"} {
			if !strings.Contains(s.log.text(), name) {
				t.Errorf("the log does not say %q: %s", name, s.log.text())
			}
		}
	})
	t.Run("R-355 no limit is negative", func(t *testing.T) {
		for _, l := range []latchkey.Limits{{CallbackTimeout: -1}, {MailTimeout: -1}, {EventTimeout: -1}} {
			c := plainsite.Config(nil)
			c.Adapter, c.Limits = nil, l
			if _, err := latchkey.New(c); err == nil {
				t.Errorf("%+v", l)
			}
		}
	})
	inBubble(t, "R-355 whoever leaves does not wait", func(t *testing.T) {
		end := make(chan struct{})
		defer close(end)
		ctx, leave := context.WithCancel(t.Context())
		s := newSite(t, func(cfg *latchkey.Config) {
			cfg.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { leave(); <-end; return nil }
		})
		b := s.newBrowser()
		r := b.request(http.MethodPost, "/auth/callback/crew", formContentType, "csrfToken="+b.token()+"&username=alice&password=wonderland")
		for name, value := range b.jar {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		if a := b.serve(s.auth, r.WithContext(ctx)); a.signsIn() {
			t.Error("signed in")
		}
	})
}

// At debug level the log tells each step of a sign-in.
func TestDebugTellsEachStep(t *testing.T) {
	s := newOAuthSite(t, stored, func(c *latchkey.Config) {
		c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { return nil }
		c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) { return r.Session, nil }
	})
	b := s.newBrowser()
	s.mustSignIn(b)
	b.session()
	var lines []string
	for _, r := range s.log.records(t) {
		if _, timed := r["took"]; r["level"] == "DEBUG" && (timed || r["checks"] != nil) {
			lines = append(lines, fmt.Sprint(r["msg"], " ", r["operation"], " ", r["step"], " ", r["name"], " ", r["outcome"], " ", r["host"] != nil, " ", r["checks"]))
		}
	}
	all := strings.Join(lines, "\n")
	for _, want := range []string{
		"latchkey: call to issuer <nil> discovery <nil> ok true", "latchkey: call to issuer <nil> token <nil> ok true", "latchkey: call to issuer <nil> keys <nil> ok true",
		"latchkey: a sign-in begins <nil> <nil> <nil> <nil> false [pkce", "latchkey: a callback belongs to a sign-in of this browser <nil> <nil> <nil> <nil> false [pkce",
		"latchkey: callback <nil> <nil> Callbacks.SignIn ok", "latchkey: callback <nil> <nil> Callbacks.Session ok",
		"latchkey: adapter GetUserByAccount <nil> <nil> not found", "latchkey: adapter CreateUser <nil> <nil> ok", "latchkey: adapter GetSessionAndUser <nil> <nil> ok",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("R-321: no line %q in\n%s", want, all)
		}
	}
	for what, says := range map[string]error{"AccessDenied": latchkey.ErrAccessDenied, "redirect": latchkey.RedirectTo("/x"), "failed": http.ErrAbortHandler} {
		s := newSite(t, func(c *latchkey.Config) {
			c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { return says }
		})
		s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland")
		if !strings.Contains(s.log.text(), `"name":"Callbacks.SignIn","outcome":"`+what+`"`) {
			t.Errorf("R-321: no decision %q: %s", what, s.log.text())
		}
	}
}
