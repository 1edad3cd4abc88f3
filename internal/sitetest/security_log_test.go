package sitetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// canaries are the secrets of one test: what was planted, and what came up.
type canaries struct {
	mu   sync.Mutex
	seen map[string]string // value to what it is
}

func (c *canaries) add(what, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]string{}
	}
	if len(value) >= 8 {
		c.seen[value] = what
		c.seen[url.QueryEscape(value)] = what
	}
}

// none fails the test if text holds a secret.
func (c *canaries) none(t *testing.T, where, text string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for value, what := range c.seen {
		if i := strings.Index(text, value); i >= 0 {
			t.Errorf("%s holds the %s: …%s…", where, what, text[max(0, i-80):min(len(text), i+len(value)+20)])
		}
	}
}

// talking is an error that repeats everything it can get hold of.
func talking(facts ...any) error { return fmt.Errorf("talkative: %+v", facts) }

// talkingStore repeats its arguments when it fails.
type talkingStore struct {
	*memoryadapter.Adapter
	fails bool
	known *canaries
}

const dsn = "postgres://app:dsn-canary-0001@db.internal/app?sslpassword=dsn-canary-0002 password=dsn-canary-0003"

func (s *talkingStore) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	return f(s)
}

func (s *talkingStore) CreateSession(ctx context.Context, row storage.StoredSession) error {
	s.known.add("session token", row.Token)
	if s.fails {
		return talking(dsn, row)
	}
	return s.Adapter.CreateSession(ctx, row)
}

func (s *talkingStore) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, latchkey.User, error) {
	if s.fails {
		return storage.StoredSession{}, latchkey.User{}, talking(dsn, token)
	}
	return s.Adapter.GetSessionAndUser(ctx, token)
}

func (s *talkingStore) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	if s.fails {
		return storage.StoredSession{}, talking(dsn, token)
	}
	return s.Adapter.DeleteSession(ctx, token)
}

func (s *talkingStore) LinkAccount(ctx context.Context, a latchkey.Account) error {
	if s.fails {
		return talking(dsn, a)
	}
	return s.Adapter.LinkAccount(ctx, a)
}

func (s *talkingStore) ListAccounts(ctx context.Context, userID string) ([]latchkey.Account, error) {
	if s.fails {
		return nil, talking(dsn, userID)
	}
	return s.Adapter.ListAccounts(ctx, userID)
}

func (s *talkingStore) UseVerificationToken(ctx context.Context, identifier, token string) (storage.VerificationToken, error) {
	if s.fails {
		return storage.VerificationToken{}, talking(dsn, identifier)
	}
	return s.Adapter.UseVerificationToken(ctx, identifier, token)
}

// newCanarySite is a site whose every secret is a canary, and whose application
// puts all it knows into its errors when fails is set.
func newCanarySite(t *testing.T, strategy latchkey.Strategy, fails *bool) (*testSite, *latchkeytest.Issuer, *canaries, *talkingStore) {
	known := &canaries{}
	for what, value := range map[string]string{
		"DSN password": "dsn-canary-0001", "DSN query": "dsn-canary-0002", "DSN field": "dsn-canary-0003", "secret": "secret-canary-" + strings.Repeat("s", 32), "older secret": "older-canary-" + strings.Repeat("o", 32),
		"client secret": "client-secret-canary-0001", "password": "password-canary-0001", "e-mail secret": "email-canary-" + strings.Repeat("e", 32),
	} {
		known.add(what, value)
	}
	clock := newTestClock()
	issuer := latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.Time, c.ClientSecret = clock.Now, "client-secret-canary-0001" })
	issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com", EmailVerified: true})
	issuer.Misbehave(latchkeytest.Misbehaviour{Token: func(answer map[string]any) {
		for _, name := range []string{"access_token", "refresh_token", "id_token"} {
			text, _ := answer[name].(string)
			known.add(name, text)
		}
	}})
	store := &talkingStore{Adapter: memoryadapter.New(memoryadapter.Options{}), known: known}
	client := newHTTPClient(t)
	s := newSite(t, func(c *latchkey.Config) {
		c.Runtime.Time, c.Adapter = clock.Now, store
		c.Session.Strategy = strategy
		c.Secrets = []string{"secret-canary-" + strings.Repeat("s", 32), "older-canary-" + strings.Repeat("o", 32)}
		c.Runtime.HTTPClient = client
		p := issuer.Provider()
		p.Identify = func(g latchkey.Grant) (latchkey.Identity, error) {
			if *fails {
				return latchkey.Identity{}, talking(g.Tokens, g.Params)
			}
			return latchkey.Identity{Subject: g.Profile.String("sub"), Name: "Ada", Email: g.Profile.String("email"), EmailTrust: latchkey.EmailProven}, nil
		}
		crew := *c.Providers[0].(*latchkey.Credentials)
		crew.Authorize = func(_ context.Context, fields map[string]string, r *latchkey.Request) (latchkey.User, error) {
			if *fails {
				return latchkey.User{}, talking(dsn, fields, r.Header, string(r.Body))
			}
			return latchkey.User{ID: "1", Name: "Alice"}, nil
		}
		post := *c.Providers[1].(*latchkey.Email)
		deliver := post.Send
		post.Secret = "email-canary-" + strings.Repeat("e", 32)
		post.Send = func(ctx context.Context, m latchkey.Message) error {
			known.add("link token", m.Token)
			if *fails {
				return talking(m.URL, m.Token)
			}
			return deliver(ctx, m)
		}
		c.Providers = []latchkey.Provider{&crew, &post, p}
		c.Events.SignIn = func(_ context.Context, e latchkey.SignInEvent) error { return talking(e.Account.Tokens) }
		c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
			if *fails && u.Account != nil {
				return nil, talking(u.Account.Tokens)
			}
			return u.Claims, nil
		}
	})
	s.clock = clock
	return s, issuer, known, store
}

// plant adds whatever the browser holds by now to the canaries.
func (b *browser) plant(known *canaries) {
	for name, value := range b.jar {
		if !strings.HasSuffix(name, "callback-url") {
			plain, err := url.QueryUnescape(value)
			if err == nil {
				for part := range strings.SplitSeq(plain, "|") {
					known.add("cookie "+name, part)
				}
			}
			known.add("cookie "+name, value)
		}
	}
}

func TestLogSecrets(t *testing.T) {
	for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
		for _, fails := range []bool{false, true} {
			t.Run(fmt.Sprintf("R-236 %s sessions, application fails: %t", strategy, fails), func(t *testing.T) {
				s, issuer, known, store := newCanarySite(t, strategy, &fails)
				client := newHTTPClient(t)
				var pages strings.Builder
				keep := func(b *browser, a *answer) *answer {
					b.plant(known)
					pages.WriteString(a.Body.String())
					if !strings.HasPrefix(a.location(), issuer.URL) { // which gets state, nonce and challenge
						pages.WriteString(a.location() + "\n")
					}
					return a
				}
				flows := func() {
					b := s.newBrowser()
					begun := keep(b, b.post("/auth/signin/issuer"))
					if res, err := client.Get(begun.location()); err == nil {
						_ = res.Body.Close()
						back := res.Header.Get("Location")
						if u, err := url.Parse(back); err == nil {
							known.add("code", u.Query().Get("code"))
							known.add("state", u.Query().Get("state"))
						}
						keep(b, b.get(strings.TrimPrefix(back, siteOrigin)))
						keep(b, b.get(strings.TrimPrefix(back, siteOrigin))) // once too often
					}
					keep(b, b.get("/auth/session"))
					keep(b, b.post("/auth/session", "data", "update-canary-0001"))
					keep(b, b.get("/auth/callback/issuer?code=code-canary-0001&state=state-canary-0001"))
					keep(b, b.get("/auth/callback/issuer?error=access_denied&error_description=code-canary-0002&state=state-canary-0002"))
					keep(b, b.post("/auth/signout"))
					b = s.newBrowser()
					keep(b, b.post("/auth/callback/crew", "username", "alice", "password", "password-canary-0001"))
					keep(b, b.postJSON("/auth/callback/crew", map[string]any{"username": "alice", "password": "password-canary-0001"}))
					keep(b, b.post("/auth/signin/post", "email", "a@example.com"))
					for _, m := range s.sent() {
						keep(b, b.get(strings.TrimPrefix(m.URL, siteOrigin)))
						keep(b, b.get(strings.TrimPrefix(m.URL, siteOrigin)))
					}
					b.header.Set("Authorization", "Bearer bearer-canary-0001")
					keep(b, b.get("/auth/session"))
					b.jar["__Secure-authjs.session-token"] = "junk-canary-0001"
					keep(b, b.get("/auth/session"))
					keep(b, b.post("/auth/signout"))
				}
				flows()
				for _, value := range []string{"code-canary-0001", "state-canary-0001", "code-canary-0002", "state-canary-0002", "bearer-canary-0001", "junk-canary-0001", "update-canary-0001"} {
					known.add("planted value", value)
				}
				if fails {
					fails = false
					b := s.newBrowser()
					_, _ = b.tryOAuth(client, "issuer")
					b.plant(known)
					fails = true
				}
				store.fails = true
				flows()
				if n := len(s.log.records(t)); n < 15 {
					t.Fatalf("only %d records", n)
				}
				known.none(t, "the log", s.log.text())
				known.mu.Lock()
				for value, what := range known.seen { // pages carry the form's own token, and nothing else
					if strings.HasPrefix(what, "cookie") && strings.HasSuffix(what, "csrf-token") {
						delete(known.seen, value)
					}
				}
				known.mu.Unlock()
				known.none(t, "a page", pages.String())
			})
		}
	}
}

func TestLogCutSecret(t *testing.T) {
	password := "start-of-a-password" + strings.Repeat("p", 900)
	s := newSite(t, authorizeWith(func(_ context.Context, fields map[string]string, _ *latchkey.Request) (latchkey.User, error) {
		return latchkey.User{}, errors.New(strings.Repeat(fields["password"], 6))
	}))
	s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", password)
	if text := s.log.text(); !strings.Contains(text, "[redacted]") || strings.Contains(text, "start-of-a") {
		t.Errorf("R-236: the log holds the beginning of a secret: %.2000s", text)
	}
}

func TestLogErrorsHandedOut(t *testing.T) {
	fails := true
	s, _, known, store := newCanarySite(t, latchkey.DatabaseSessions, &fails)
	store.fails = true
	b := s.newBrowser()
	token := strings.Repeat("session-canary-", 4)
	known.add("session token", token)
	b.jar["__Secure-authjs.session-token"] = token
	check := func(name string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: no error", name)
			return
		}
		var e *latchkey.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %T is no *Error", name, err)
		}
		for verb, text := range map[string]string{"%v": err.Error(), "%+v": fmt.Sprintf("%+v", err), "%#v": fmt.Sprintf("%#v", err), "%q": fmt.Sprintf("%q", err), "%s of the cause": fmt.Sprintf("%s", e.Err)} {
			known.none(t, "R-239 "+name+" with "+verb, text)
		}
		for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
			known.none(t, "R-239 a cause of "+name, cause.Error())
		}
	}
	r := b.request(http.MethodGet, "/own", "", "")
	_, err := s.auth.ReadSession(httptest.NewRecorder(), r)
	check("Session", err)
	_, _, err = s.auth.Core().ReadSession(t.Context(), &latchkey.Request{Method: "GET", URL: r.URL, Header: r.Header})
	check("ReadSession", err)
	b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := s.auth.SignIn(w, r, "crew", latchkey.SignInOptions{Form: url.Values{"username": {"alice"}, "password": {"password-canary-0001"}}})
		check("SignIn", err)
		err = s.auth.SignIn(w, r, "post", latchkey.SignInOptions{Form: url.Values{"email": {"a@example.com"}}})
		check("SignIn by mail", err)
		_, err = s.auth.UpdateSession(w, r, "update-canary-0001")
		check("UpdateSession", err)
	}), r)
	post, err := latchkey.FromHTTP(b.request(http.MethodPost, "/auth/callback/crew", formContentType, "username=alice&password=password-canary-0001&csrfToken="+b.token()))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.auth.Core().Do(t.Context(), post)
	check("Do", err)
	_, err = s.auth.Users().Accounts(t.Context(), "1")
	check("Accounts", err)
}

func TestLogForgery(t *testing.T) {
	evil := map[string]string{
		"line feed": "a\nlevel=ERROR msg=forged", "carriage return": "a\rlevel=ERROR msg=forged", "both": "a\r\n{\"level\":\"ERROR\",\"msg\":\"forged\"}", "escape": "\x1b[2J\x1b[31mforged", "bell": "\a\b\v\f", "tab": "a\tforged",
		"JSON": `","msg":"forged","x":"`, "NUL": "a\x00forged", "C1": "a\u0085forged\u009b31m", "separators": "a\u2028forged\u2029", "direction": "a\u202eforged", "no text": "\xff\xfeforged", "long": strings.Repeat("A", 1<<20),
	}
	for name, text := range evil {
		t.Run("R-237 "+name, func(t *testing.T) {
			s := newSite(t, authorizeWith(func(_ context.Context, fields map[string]string, r *latchkey.Request) (latchkey.User, error) {
				return latchkey.User{}, errors.New("no such user: " + r.Header.Get("User-Agent") + text)
			}))
			before := len(s.log.records(t))
			b := s.newBrowser()
			b.header["User-Agent"] = []string{text}
			b.header["X-Request-Id"] = []string{text}
			b.header["X-Forwarded-For"] = []string{text}
			short := text[:min(len(text), 3000)]
			for _, act := range []func(){
				func() { b.post("/auth/callback/crew", "username", short) },
				func() {
					b.get("/auth/callback/acme?error=" + url.QueryEscape(short) + "&state=" + url.QueryEscape(short))
				},
				func() { b.post("/auth/signin/" + url.PathEscape(short)) },
				func() { b.post("/auth/signin/post", "email", short) },
			} {
				count := len(s.log.records(t))
				act()
				if got := len(s.logged(count)); got > 1 {
					t.Errorf("one event is %d records", got)
				}
			}
			records := s.log.records(t)[before:]
			if len(records) == 0 {
				t.Fatal("nothing is logged")
			}
			for _, r := range records {
				for key, value := range r {
					text := fmt.Sprint(value)
					if len(text) > 20<<10 {
						t.Errorf("%s has %d bytes", key, len(text))
					}
					if key != "stack" && strings.ContainsFunc(text, func(r rune) bool {
						return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0x202e
					}) {
						t.Errorf("%s holds what a terminal obeys: %.200q", key, text)
					}
				}
			}
		})
	}
}

func TestLogTrail(t *testing.T) {
	s, issuer := newIssuerSite(t, func(c *latchkey.Config) {
		c.Limits.CredentialsPerAccount = latchkey.Rate{Events: 1, Per: 1 << 40}
		c.Limits.MailsPerRecipient = latchkey.Rate{Events: 1, Per: 1 << 40}
	})
	client := newHTTPClient(t)
	last := func() map[string]any {
		for records := s.log.records(t); len(records) > 0; records = records[:len(records)-1] {
			if r := records[len(records)-1]; r["level"] != "DEBUG" {
				return r
			}
		}
		return nil
	}
	b := s.newBrowser()
	b.header.Set("X-Request-Id", "req-1")
	for _, c := range []struct {
		name, provider, says string
		act                  func()
	}{
		{"OAuth sign-in", "issuer", "signed in", func() { _, _ = b.tryOAuth(client, "issuer") }},
		{"sign-out", "", "signed out", func() { b.post("/auth/signout") }},
		{"refused at the provider", "issuer", "OAuthCallbackError", func() {
			issuer.Misbehave(latchkeytest.Misbehaviour{Callback: func(p url.Values) { p.Del("code"); p.Set("error", "access_denied") }})
			_, _ = b.tryOAuth(client, "issuer")
			issuer.Misbehave(latchkeytest.Misbehaviour{})
		}},
		{"forged callback", "issuer", "InvalidCheck", func() {
			other := s.newBrowser()
			other.header = b.header
			other.get("/auth/callback/issuer?code=x&state=y&iss=" + url.QueryEscape(issuer.URL))
		}},
		{"wrong password", "crew", "CredentialsSignin", func() { b.post("/auth/callback/crew", "username", "bob", "password", "x") }},
		{"limited", "crew", "CredentialsSignin", func() { b.post("/auth/callback/crew", "username", "bob", "password", "x") }},
		{"right password", "crew", "signed in", func() { b.post("/auth/callback/crew", "username", "alice", "password", "wonderland") }},
		{"bad link", "post", "Verification", func() { b.get("/auth/callback/post?token=x&email=a@example.com") }},
		{"no mailbox", "post", "EmailSignInError", func() { b.post("/auth/signin/post", "email", "x") }},
		{"mails limited", "post", "EmailSignInError", func() {
			b.post("/auth/signin/post", "email", "a@example.com")
			b.post("/auth/signin/post", "email", "a@example.com")
		}},
		{"link used", "post", "signed in", func() { b.get(strings.TrimPrefix(s.sent()[0].URL, siteOrigin)) }},
		{"refused link", "issuer", "OAuthAccountNotLinked", func() { _, _ = b.tryOAuth(client, "issuer") }},
	} {
		t.Run("R-238 "+c.name, func(t *testing.T) {
			before := len(s.log.records(t))
			c.act()
			r := last()
			if len(s.log.records(t)) == before || !strings.Contains(fmt.Sprint(r["msg"]), c.says) {
				t.Fatalf("record %v, want one that says %q", r, c.says)
			}
			if c.provider != "" && r["provider"] != c.provider || r["client"] != "192.0.2.7" || r["request"] != "req-1" || r["time"] == nil {
				raw, _ := json.Marshal(r)
				t.Errorf("record %s", raw)
			}
			if strings.Contains(c.says, "signed in") && (r["user"] == nil || r["user"] == "") {
				t.Error("the record does not say who")
			}
		})
	}
}
