package main

import (
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/words"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestMain forgets what the developer's own environment says.
func TestMain(m *testing.M) {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "AUTH_") || strings.HasPrefix(name, "NEXTAUTH_") {
			os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}

// environment makes settings from pairs of names and values, given in turn.
func environment(t *testing.T, pairs ...string) settings {
	t.Helper()
	env := map[string]string{"DEMO_DATA": t.TempDir()}
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	s, err := readSettings(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	s.log = slog.New(slog.NewTextHandler(t.Output(), nil))
	return s
}

// newTestSite starts a demo, but does not serve it.
func newTestSite(t *testing.T, s settings) *site {
	t.Helper()
	d, err := newSite(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// serve is the origin of a handler, under the name that people type.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// newClient is a browser that runs no scripts, at a demo of its own.
func newClient(t *testing.T, pairs ...string) *latchkeytest.Client {
	t.Helper()
	return latchkeytest.NewClientAt(t, serve(t, newTestSite(t, environment(t, pairs...))))
}

func wants(t *testing.T, p *latchkeytest.Page, status int, texts ...string) {
	t.Helper()
	if p.Status != status {
		t.Errorf("%s answers %d, want %d", p.URL.Path, p.Status, status)
	}
	for _, text := range texts {
		if !strings.Contains(string(p.Body), text) {
			t.Errorf("%s does not say %q:\n%s", p.URL.Path, text, p.Body)
		}
	}
}

var referencePattern = regexp.MustCompile(`&ref=[^&]*`)

// leads checks where a redirect goes, without its origin.
func leads(t *testing.T, p *latchkeytest.Page, to string) {
	t.Helper()
	at := p.Location()
	if at != nil { // a failure has a code of its own each time
		at.RawQuery = referencePattern.ReplaceAllString(at.RawQuery, "")
	}
	if at == nil || at.RequestURI() != to {
		t.Errorf("%s answers %d and leads to %v, want %s", p.URL.Path, p.Status, at, to)
	}
}

var alicesFields = map[string]string{"username": aliceName, "password": alicePassword}

func TestFrontPage(t *testing.T) {
	c := newClient(t)
	p := c.Get("/")
	wants(t, p, 200, "Try signing in", aliceName, alicePassword, `href="/mailbox"`, "Ada Lovelace", "kept in SQLite")
	if len(c.Cookies()) != 0 {
		t.Error("a browser that does not sign in gets cookies")
	}
	if csp := p.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") {
		t.Errorf("policy %q", csp)
	}
}

// TestIsPresentable: what R-328 asks of the pages that customers see.
func TestIsPresentable(t *testing.T) {
	c := newClient(t)
	signIn := c.Get("/auth/signin")
	t.Run("R-328 logo and name", func(t *testing.T) {
		wants(t, signIn, 200, `<img class="logo" src="/logo.svg" alt="Latchkey demo">`, "Latchkey demo</title>", `<link rel="icon" href="/favicon.ico">`)
	})
	t.Run("R-328 no password in a field", func(t *testing.T) {
		if strings.Contains(string(signIn.Body), alicePassword) {
			t.Error("the sign-in page shows the password")
		}
	})
	t.Run("R-328 what needs setting up says so", func(t *testing.T) {
		front := c.Get("/")
		wants(t, front, 200, "Bring your own", "AUTH_GITHUB_ID")
		if strings.Contains(string(front.Body), "setting up") {
			t.Error("the front page says that nothing needs setting up")
		}
	})
	for _, tag := range words.Tags() {
		t.Run("R-328 the mailbox in "+tag, func(t *testing.T) {
			site := newTestSite(t, environment(t))
			c := latchkeytest.NewClientAt(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.Header.Set("Accept-Language", tag)
				site.ServeHTTP(w, r)
			})))
			sent := c.Post("/auth/signin/email", url.Values{"csrfToken": {c.CSRFToken()}, "email": {"reader@example.com"}})
			wants(t, c.Follow(sent), 200, `lang="`+tag+`"`, mailboxHints[tag])
			wants(t, newestMail(t, c), 200, `lang="`+tag+`"`, words.Text(tag, "mail.copy"))
		})
	}
}

func TestAssets(t *testing.T) {
	c := newClient(t)
	for path, mediaType := range map[string]string{"/style.css": "text/css; charset=utf-8", "/favicon.ico": "image/svg+xml", "/logo.svg": "image/svg+xml"} {
		p := c.Get(path)
		if got := p.Header.Get("Content-Type"); p.Status != 200 || got != mediaType || len(p.Body) == 0 {
			t.Errorf("%s: %d, %s, %d bytes", path, p.Status, got, len(p.Body))
		}
	}
}

func TestUnknownPage(t *testing.T) { wants(t, newClient(t).Get("/nowhere"), 404, "Not found") }

func TestMembersAreAskedToSignIn(t *testing.T) {
	c := newClient(t)
	for _, path := range []string{"/members", "/profile"} {
		leads(t, c.Get(path), "/auth/signin?callbackUrl="+url.QueryEscape(c.URL+path))
	}
}

// TestOtherHosts: a name that somebody else made mean this machine opens
// nothing.
func TestOtherHosts(t *testing.T) {
	d := newTestSite(t, environment(t))
	for host, status := range map[string]int{"localhost:3000": 200, "127.0.0.1": 200, "evil.example": 400, "localhost.evil.example": 400} {
		for _, path := range []string{"/mailbox", "/auth/signin"} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("GET", path, nil)
			r.Host = host
			d.ServeHTTP(w, r)
			if w.Code != status {
				t.Errorf("%s at %s: %d, want %d", path, host, w.Code, status)
			}
		}
	}
}

func TestPassword(t *testing.T) {
	for _, row := range []struct{ name, username, password, leads string }{
		{"right", aliceName, alicePassword, "/"},
		{"wrong password", aliceName, "looking glass", "/auth/signin?error=CredentialsSignin&code=credentials"},
		{"wrong name", "hatter", alicePassword, "/auth/signin?error=CredentialsSignin&code=credentials"},
		{"nothing", "", "", "/auth/signin?error=CredentialsSignin&code=credentials"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(t)
			leads(t, c.TryCredentials(map[string]string{"username": row.username, "password": row.password}), row.leads)
			if in := c.Session() != nil; in != (row.leads == "/") {
				t.Errorf("signed in: %t", in)
			}
		})
	}
}

func TestSignOut(t *testing.T) {
	for _, strategy := range []latchkey.Strategy{latchkey.DatabaseSessions, latchkey.JWTSessions} {
		t.Run(string(strategy), func(t *testing.T) {
			c := newClient(t, "SESSION_STRATEGY", string(strategy))
			c.SignInCredentials(alicesFields)
			wants(t, c.Get("/"), 200, "Hello, Alice", "Sign out")
			wants(t, c.Get("/members"), 200, "Welcome, Alice")
			leads(t, c.Post("/auth/signout", hiddenFields(c.Get("/profile"))), "/")
			wants(t, c.Get("/"), 200, "Try signing in")
			if c.Session() != nil {
				t.Error("still signed in")
			}
		})
	}
}

var hiddenPattern = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// hiddenFields are what the form of a page posts without being asked.
func hiddenFields(p *latchkeytest.Page) url.Values {
	form := url.Values{}
	for _, field := range hiddenPattern.FindAllSubmatch(p.Body, -1) {
		form.Set(html.UnescapeString(string(field[1])), html.UnescapeString(string(field[2])))
	}
	return form
}

func TestProfileShowsTheSession(t *testing.T) {
	c := newClient(t)
	c.SignInCredentials(alicesFields)
	wants(t, c.Get("/profile"), 200, "&#34;email&#34;: &#34;alice@example.com&#34;", "Signed in until", "kept in SQLite")
}

func TestIdentityProvider(t *testing.T) {
	for _, row := range []struct{ name, subject, leads, says string }{
		{"with an e-mail", "ada", "/", "Hello, Ada Lovelace"},
		{"without one", "guest", "/", "Hello, Guest"},
		{"with an e-mail that is taken", "alice", "/auth/signin?error=OAuthAccountNotLinked", "Try signing in"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(t)
			c.Person = row.subject
			leads(t, c.Complete(c.Begin("demo")), row.leads)
			wants(t, c.Get("/"), 200, row.says)
		})
	}
}

// TestLinking: she who is signed in may add the account that she was turned
// away with.
func TestLinking(t *testing.T) {
	c := newClient(t)
	c.Person = "alice"
	c.SignInCredentials(alicesFields)
	leads(t, c.Complete(c.Begin("demo")), "/")
	c.SignOut()
	leads(t, c.Complete(c.Begin("demo")), "/")
	wants(t, c.Get("/"), 200, "Hello, Alice")
}

func askForLink(t *testing.T, c *latchkeytest.Client, email string) {
	t.Helper()
	sent := c.Post("/auth/signin/email", url.Values{"csrfToken": {c.CSRFToken()}, "email": {email}, "callbackUrl": {"/profile"}})
	leads(t, sent, "/auth/verify-request?provider=email&type=email")
	wants(t, c.Follow(sent), 200, "Check your email", "mailbox of the site")
}

var (
	framePattern = regexp.MustCompile(`<iframe [^>]*src="(/mailbox/[^"]*)"`)
	linkPattern  = regexp.MustCompile(`<a href="(http[^"]*/auth/callback/email[^"]*)"`)
)

// newestMail is the first mail on the mailbox page.
func newestMail(t *testing.T, c *latchkeytest.Client) *latchkeytest.Page {
	t.Helper()
	found := framePattern.FindSubmatch(c.Get("/mailbox").Body)
	if found == nil {
		t.Fatal("there is no mail in the mailbox")
	}
	return c.Get(string(found[1]))
}

// newestLink is the link of that mail.
func newestLink(t *testing.T, c *latchkeytest.Client) string {
	t.Helper()
	found := linkPattern.FindSubmatch(newestMail(t, c).Body)
	if found == nil {
		t.Fatal("there is no link in the mail")
	}
	return html.UnescapeString(string(found[1]))
}

// TestMailsAreForeign: a mail is shown as it was sent, and as something foreign.
func TestMailsAreForeign(t *testing.T) {
	c := newClient(t)
	askForLink(t, c, "reader@example.com")
	wants(t, c.Get("/mailbox"), 200, `sandbox="allow-popups allow-popups-to-escape-sandbox"`, "Plain text", "/auth/callback/email?")
	mail := newestMail(t, c)
	wants(t, mail, 200, `<table role="presentation" class="card"`, "If the button does not work, copy this link")
	policy := mail.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "frame-ancestors 'self'", "sandbox allow-popups"} {
		if !strings.Contains(policy, part) {
			t.Errorf("R-328: the mail's policy %q lacks %s", policy, part)
		}
	}
	for _, part := range []string{"allow-scripts", "allow-same-origin", "allow-forms", "allow-top-navigation"} {
		if strings.Contains(policy, part) {
			t.Errorf("R-328: the mail's policy %q has %s", policy, part)
		}
	}
	wants(t, c.Get("/mailbox/unknown"), 404)
	wants(t, c.Get("/mailbox/..%2F..%2Fsecret"), 404)
}

func TestMagicLink(t *testing.T) {
	c := newClient(t)
	wants(t, c.Get("/mailbox"), 200, "no mail yet")
	askForLink(t, c, "New.Person@example.com")
	wants(t, c.Get("/mailbox"), 200, "To new.person@example.com", "Sign in to "+strings.TrimPrefix(c.URL, "http://"))
	link := newestLink(t, c)
	leads(t, c.Get(link), "/profile")
	wants(t, c.Get("/profile"), 200, "new.person@example.com")
	c.SignOut()
	leads(t, c.Get(link), "/auth/error?error=Verification")
	if c.Session() != nil {
		t.Error("a link worked twice")
	}
}

// TestLinkProvesAlice: the owner of her mailbox is her.
func TestLinkProvesAlice(t *testing.T) {
	c := newClient(t)
	askForLink(t, c, aliceEmail)
	c.Get(newestLink(t, c))
	wants(t, c.Get("/"), 200, "Hello, Alice")
}

func TestDeletedAliceCanComeBack(t *testing.T) {
	c := newClient(t)
	c.SignInCredentials(alicesFields)
	c.Post("/auth/account?do=delete", url.Values{"csrfToken": {c.CSRFToken()}, "confirm": {"delete"}})
	if c.Session() != nil {
		t.Fatal("still signed in after the account was deleted")
	}
	leads(t, c.SignInCredentials(alicesFields), "/")
}

func TestAccountPage(t *testing.T) {
	c := newClient(t)
	leads(t, c.Get("/auth/account"), "/auth/signin?callbackUrl="+url.QueryEscape(c.URL+"/auth/account"))
	c.Complete(c.Begin("demo"))
	wants(t, c.Get("/auth/account"), 200, "Your account", "ada@example.com", "This device")
}

func TestRestartKeepsSessions(t *testing.T) {
	for _, strategy := range []latchkey.Strategy{latchkey.DatabaseSessions, latchkey.JWTSessions} {
		t.Run(string(strategy), func(t *testing.T) {
			data := t.TempDir()
			before := newClient(t, "DEMO_DATA", data, "SESSION_STRATEGY", string(strategy))
			before.SignInCredentials(alicesFields)
			after := newClient(t, "DEMO_DATA", data, "SESSION_STRATEGY", string(strategy))
			for _, cookie := range before.Cookies() {
				after.SetCookie(cookie)
			}
			wants(t, after.Get("/"), 200, "Hello, Alice")
		})
	}
}

func TestFurtherProviders(t *testing.T) {
	c := newClient(t)
	wants(t, c.Get("/"), 200, "Set <code>AUTH_GITHUB_ID</code>", "Set <code>AUTH_GOOGLE_ID</code>")
	for _, name := range []string{"GITHUB", "GOOGLE"} {
		t.Setenv("AUTH_"+name+"_ID", "an id")
		t.Setenv("AUTH_"+name+"_SECRET", "a secret")
	}
	c = newClient(t, "AUTH_GITHUB_ID", "an id", "AUTH_GOOGLE_ID", "an id")
	wants(t, c.Get("/"), 200, "GitHub is ready", "Google is ready")
	wants(t, c.Get("/auth/signin"), 200, "/auth/signin/github", "/auth/signin/google")
}

// an invitation too many is answered with what is wrong, and not as a fault.
func TestInvitationsAreLimited(t *testing.T) {
	c := newClient(t)
	c.TryCredentials(alicesFields)
	last := 0
	for range 6 {
		last = c.Post("/invite", url.Values{"email": {"friend@example.com"}}).Status
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("R-679 the sixth answers with %d", last)
	}
}
