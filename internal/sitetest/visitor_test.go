package sitetest

import (
	"context"
	"errors"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// follow opens the page that a leads to.
func (b *browser) follow(a *answer) *answer {
	b.site.t.Helper()
	if a.Code != http.StatusFound {
		return a
	}
	return b.get(strings.TrimPrefix(a.location(), siteOrigin))
}

var (
	markupPattern = regexp.MustCompile(`(?s)<style>.*?</style>|<script.*?</script>|<[^>]*>`)
	inputPattern  = regexp.MustCompile(`<input [^>]*>`)
)

// words are what a person reads on a page.
func (a *answer) words() string {
	words := strings.Join(strings.Fields(html.UnescapeString(markupPattern.ReplaceAllString(a.Body.String(), " "))), " ")
	return strings.ReplaceAll(words, " .", ".")
}

// input is the visible field of a name, as markup.
func (a *answer) input(name string) string {
	for _, in := range inputPattern.FindAllString(a.Body.String(), -1) {
		if strings.Contains(in, ` name="`+name+`"`) && !strings.Contains(in, `type="hidden"`) {
			return in
		}
	}
	return ""
}

func (a *answer) says(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.words(), text) {
			t.Errorf("%d %q does not say %q: %s", a.Code, a.location(), text, a.words())
		}
	}
}

// what is no mailbox leads back to the form.
func TestAMistypedAddressIsAFormAgain(t *testing.T) {
	s := newSite(t)
	for _, typed := range []string{"a..b@example.com", ".a@example.com", "a.@example.com", "name@", "name", "a@b@c.example", `"><b>@example.com`} {
		t.Run(typed, func(t *testing.T) {
			b := s.newPerson()
			b.get("/auth/signin?callbackUrl=/shop")
			a := b.post("/auth/signin/post", "email", typed)
			if a.error() != "EmailSignin" || strings.Contains(a.location(), "example.com/") || strings.Contains(a.location(), "%40") {
				t.Fatalf("%d to %q", a.Code, a.location())
			}
			page := b.follow(a)
			in := page.input("email")
			if page.Code != 200 || !strings.Contains(in, ` value="`+template(typed)+`"`) || !strings.Contains(in, `aria-invalid="true"`) || !strings.Contains(in, "autofocus") {
				t.Errorf("%d: the field is %s", page.Code, in)
			}
			page.says(t, "Please enter a complete email address")
			if again := b.follow(a); strings.Contains(again.input("email"), "value=") {
				t.Error("what was typed outlives the page that shows it")
			}
			if other := s.newPerson().follow(a); strings.Contains(other.input("email"), "value=") || strings.Contains(other.words(), "complete email address") {
				t.Error("R-204 a link makes another browser say it")
			}
		})
	}
	t.Run("scripts are told what Auth.js tells them", func(t *testing.T) {
		if a := s.newBrowser().post("/auth/signin/post", "email", "a..b@example.com"); a.error() != "Configuration" || a.cookie("notice") != nil {
			t.Errorf("to %q", a.location())
		}
	})
	t.Run("a mail that cannot be sent", func(t *testing.T) {
		s := newSite(t, withEmailProvider(func(p *latchkey.Email) {
			p.Send = func(context.Context, latchkey.Message) error { return errors.New("no route to host") }
		}))
		b := s.newPerson()
		page := b.follow(b.post("/auth/signin/post", "email", "ada@example.com"))
		page.says(t, "could not be sent")
		if !strings.Contains(page.input("email"), `value="ada@example.com"`) {
			t.Errorf("the field is %s", page.input("email"))
		}
	})
}

// template is a value as html/template writes it.
func template(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "+", "&#43;").Replace(s)
}

// who goes back to a step of a sign-in that is done is in already.
func TestGoingBackAfterASignIn(t *testing.T) {
	inByLink := func(_ *oauthSite, b *browser) func() *answer {
		link := b.askForLink(adaEmail)
		if !b.get(link).signsIn() {
			t.Fatal("no sign-in")
		}
		return func() *answer { return b.get(link) }
	}
	inByOAuth := func(s *oauthSite, b *browser) func() *answer {
		params := s.authResponse(b, "issuer")
		if !b.callback("issuer", params).signsIn() {
			t.Fatal("no sign-in")
		}
		return func() *answer { return b.callback("issuer", params) }
	}
	for name, enter := range map[string]func(*oauthSite, *browser) func() *answer{"a link": inByLink, "OAuth": inByOAuth} {
		for strategy, change := range map[string]func(*latchkey.Config){"rows": stored, "tokens": func(*latchkey.Config) {}} {
			t.Run(name+" with "+strategy, func(t *testing.T) {
				s := newOAuthSite(t, change, withEmailProvider(func(*latchkey.Email) {}))
				b := s.newPerson()
				b.get("/auth/signin?callbackUrl=/shop")
				again := enter(s, b)
				a := again()
				if a.Code != 200 || !strings.Contains(a.Body.String(), `href="`+siteOrigin+`/`) || a.signsIn() {
					t.Errorf("%d to %q", a.Code, a.location())
				}
				a.says(t, "You are signed in", "@example.com", "Continue to app.example")
				b.post("/auth/signout")
				if a := again(); a.error() == "" {
					t.Errorf("signed out: %d %s", a.Code, a.words())
				}
			})
		}
	}
	t.Run("the sign-in page itself", func(t *testing.T) {
		for _, change := range []func(*latchkey.Config){stored, func(*latchkey.Config) {}, func(c *latchkey.Config) { c.Adapter = nil; c.Providers = c.Providers[:1] }} {
			s := newSite(t, change)
			b := s.newPerson()
			if a := b.post("/auth/callback/crew", "username", "alice", "password", "wonderland"); !a.signsIn() {
				b.signInByLink("alice@example.com")
			}
			b.get("/auth/signin").says(t, "You are signed in as alice@example.com.", "Continue to app.example")
			if words := s.newPerson().get("/auth/signin").words(); strings.Contains(words, "You are signed in") {
				t.Error("a stranger is signed in")
			}
		}
	})
}

// an account that is somebody else's is refused on the account page.
func TestLinkingATakenAccount(t *testing.T) {
	for enabled, want := range map[bool]string{true: siteOrigin + "/auth/account", false: siteOrigin + "/auth/signin?error=OAuthAccountNotLinked"} {
		s := newOAuthSite(t, stored, func(c *latchkey.Config) { c.AccountPage.Enabled = enabled })
		s.mustSignIn(s.newBrowser())
		b := s.newPerson()
		b.signInByLink("eve@example.com")
		a := b.callback("issuer", s.authResponse(b, "issuer"))
		if a.location() != want || !b.isLive() {
			t.Errorf("to %q, want %q", a.location(), want)
		}
		if enabled {
			b.follow(a).says(t, "already belongs to somebody else")
		}
	}
	t.Run("a refusal at the provider", func(t *testing.T) {
		s := newOAuthSite(t, stored, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
		b := s.newPerson()
		b.signInByLink("eve@example.com")
		b.get("/auth/signin?callbackUrl=/auth/account")
		params := s.authResponse(b, "issuer")
		params.Del("code")
		params.Set("error", "access_denied")
		b.follow(b.callback("issuer", params)).says(t, "was not linked")
	})
}

// who has tried too often is told for how long to wait, whether the name
// exists or not.
func TestTooManyTriesSayHowLong(t *testing.T) {
	for _, name := range []string{"alice", "nobody"} {
		s := newSite(t, func(c *latchkey.Config) {
			c.Limits.CredentialsPerAccount = latchkey.Rate{Events: 2, Per: 20 * time.Minute}
		})
		b := s.newPerson()
		try := func() *answer {
			return b.follow(b.post("/auth/callback/crew", "username", name, "password", "guess"))
		}
		try().says(t, "check the details you provided")
		try()
		try().says(t, "Too many tries. Please try again in 10 minutes.")
		s.clock.Advance(4*time.Minute + time.Second)
		try().says(t, "Please try again in 6 minutes.")
		s.clock.Advance(5*time.Minute + 30*time.Second)
		try().says(t, "Please try again in a minute.")
	}
}

// an own sign-in page learns where the browser was going.
func TestAnOwnSignInPageKeepsTheDestination(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) { c.Pages.SignIn = "/login" })
	for _, b := range []*browser{s.newBrowser(), s.newPerson()} {
		a := b.post("/auth/callback/crew", "username", "alice", "password", "x", "callbackUrl", "/shop?a=b")
		if a.location() != siteOrigin+"/login?error=CredentialsSignin&code=credentials&callbackUrl=https%3A%2F%2Fapp.example%2Fshop%3Fa%3Db" {
			t.Errorf("to %q", a.location())
		}
	}
	if a := s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "x"); a.location() != siteOrigin+"/login?error=CredentialsSignin&code=credentials" {
		t.Errorf("without: %q", a.location())
	}
}

// a field without a type is a secret, unless it is the account's name.
func TestTheFormKeepsNoSecretWithoutAType(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) {
		c.Providers[0].(*latchkey.Credentials).Fields = []latchkey.Field{{Name: "username"}, {Name: "kennwort"}, {Name: "team", Type: "text"}, {Name: "new", Type: "text", Autocomplete: "new-password"}}
	})
	b := s.newPerson()
	page := b.follow(b.post("/auth/callback/crew", "username", "alice-typed", "kennwort", "hunter2-secret", "team", "blue-typed", "new", "hunter3-secret"))
	for name, want := range map[string]bool{"username": true, "kennwort": false, "team": true, "new": false} {
		if shown := strings.Contains(page.input(name), "value="); shown != want {
			t.Errorf("%s: %s", name, page.input(name))
		}
	}
	if strings.Contains(page.Body.String(), "-secret") {
		t.Error("a secret is shown")
	}
}

// the form keeps the name, and no password; empty ones are not sent.
func TestTheFormKeepsWhatWasTyped(t *testing.T) {
	s := newSite(t)
	b := s.newPerson()
	a := b.post("/auth/callback/crew", "username", "al<ice-of-wonderland", "password", "hunter2-secret")
	page := b.follow(a)
	if in := page.input("username"); !strings.Contains(in, `value="al&lt;ice-of-wonderland"`) || !strings.Contains(in, "required") || !strings.Contains(in, `aria-invalid="true"`) {
		t.Errorf("the name's field is %s", in)
	}
	if in := page.input("password"); strings.Contains(in, "value=") || !strings.Contains(in, "autofocus") || !strings.Contains(in, "required") {
		t.Errorf("the password's field is %s", in)
	}
	if c := a.cookie("notice"); c == nil || !c.HttpOnly || !c.Secure || strings.Contains(c.Value, "wonderland") {
		t.Errorf("the notice is %v", c)
	}
	if strings.Contains(page.Body.String(), "hunter2") || strings.Contains(s.log.text(), "hunter2") {
		t.Error("the password is shown")
	}
}

// the page after a link was asked for says where it went, as long as
// nothing but the browser's own request says so.
func TestTheVerifyPageNamesTheMailbox(t *testing.T) {
	s := newSite(t)
	b := s.newPerson()
	a := b.post("/auth/signin/post", "email", "Ada@Example.com", "callbackUrl", "/shop")
	page := b.follow(a)
	page.says(t, "sign in link has been sent to ada@example.com", "Send it again", "Use another address")
	if !strings.Contains(page.Body.String(), `action="`+siteOrigin+`/auth/signin/post"`) || !strings.Contains(page.Body.String(), `value="`+siteOrigin+`/shop"`) {
		t.Errorf("the page cannot send it again: %s", page.Body)
	}
	b.follow(b.post("/auth/signin/post", "email", "ada@example.com")).says(t, "Another link has been sent.")
	if n := len(s.sent()); n != 2 {
		t.Errorf("%d links", n)
	}
	if in := b.get("/auth/signin").input("email"); !strings.Contains(in, `value="ada@example.com"`) {
		t.Errorf("the address to be changed is %s", in)
	}
	for _, query := range []string{"", "&email=eve@example.com", "&to=eve@example.com"} {
		other := s.newPerson().get("/auth/verify-request?provider=post&type=email" + query)
		if strings.Contains(other.words(), "@") || strings.Contains(other.Body.String(), "<form") {
			t.Errorf("R-204 a link makes the page say %s", other.words())
		}
	}
	s.clock.Advance(11 * time.Minute)
	if words := b.get("/auth/verify-request").words(); strings.Contains(words, "@") {
		t.Errorf("it is remembered for too long: %s", words)
	}
}

// signing out can be called off, and is not asked of who is out.
func TestTheSignOutPage(t *testing.T) {
	for _, change := range []func(*latchkey.Config){stored, func(*latchkey.Config) {}} {
		s := newSite(t, change)
		b := s.newPerson()
		out := b.get("/auth/signout")
		out.says(t, "You are signed out", "Sign in")
		if strings.Contains(out.Body.String(), "<form") {
			t.Error("a stranger is asked")
		}
		b.signInByLink("ada@example.com")
		in := b.get("/auth/signout?callbackUrl=/shop")
		in.says(t, "Are you sure you want to sign out", "Stay signed in")
		if !strings.Contains(in.Body.String(), `<a class="button" href="`+siteOrigin+`/shop"`) {
			t.Error("there is no way back")
		}
	}
}

// the account page lists every way in.
func TestEveryWayInIsListed(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*latchkey.Config)
		enter  func(*browser)
		want   []string
		hasNot []string
	}{
		"a mailbox": {stored, func(b *browser) { b.signInByLink("ada@example.com") }, []string{"Any of these opens your account. Post ada@example.com"}, []string{"Crew", "only way"}},
		"a password": {func(c *latchkey.Config) { c.Providers = append(c.Providers[:1:1], c.Providers[2]) }, func(b *browser) {
			b.site.addLinkedUser(latchkey.User{ID: "alice-1", Email: "alice@example.com"})
			b.signIn()
		}, []string{"Any of these opens your account. Crew"}, []string{"only way"}},
		"an account and a mailbox": {stored, func(b *browser) {
			b.signInByLink("ada@example.com")
			u := b.site.store.Contents().Users[0]
			_ = b.site.store.LinkAccount(b.site.t.Context(), latchkey.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Type: latchkey.TypeOAuth, Email: "ada@acme.example"})
		}, []string{"Acme ada@acme.example Unlink Post ada@example.com"}, []string{"only way"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, row.change, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
			b := s.newPerson()
			row.enter(b)
			page := b.get("/auth/account")
			page.says(t, append(row.want, "Back to app.example")...)
			for _, not := range row.hasNot {
				if strings.Contains(page.words(), not) {
					t.Errorf("the page says %q: %s", not, page.words())
				}
			}
		})
	}
}

// times are the reader's own, and readable without the script.
func TestTimesOnTheAccountPage(t *testing.T) {
	s := newSite(t, stored, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
	b := s.newPerson()
	b.signInByLink("ada@example.com")
	page := b.get("/auth/account")
	if !strings.Contains(page.Body.String(), `<time datetime="2026-05-01T12:00:00Z">2026-05-01 12:00 UTC</time>`) {
		t.Errorf("no time: %s", page.words())
	}
	if policy := page.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "; script-src 'sha256-") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
}

// beginless keeps of a session no more than Auth.js does.
type beginless struct{ *memoryadapter.Adapter }

func (f beginless) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, latchkey.User, error) {
	row, u, err := f.Adapter.GetSessionAndUser(ctx, token)
	row.Created, row.Provider, row.ID = time.Time{}, "", ""
	return row, u, err
}

// deleting an account takes a recent sign-in, wherever sessions are kept
// and however little of them, and ends with a word.
func TestDeletingTakesARecentSignIn(t *testing.T) {
	for name, change := range map[string]func(*latchkey.Config){
		"rows":                            stored,
		"rows that know no beginning":     func(c *latchkey.Config) { stored(c); c.Adapter = beginless{c.Adapter.(*memoryadapter.Adapter)} },
		"tokens":                          func(*latchkey.Config) {},
		"tokens that are renewed on read": func(c *latchkey.Config) { c.Session.UpdateAge = time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, change, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
			b := s.newPerson()
			b.signInByLink("ada@example.com")
			s.clock.Advance(11 * time.Minute)
			b.session()
			page := b.get("/auth/account?do=delete")
			page.says(t, "Confirm that it is you", "Sign in again", "Keep my account")
			if strings.Contains(page.Body.String(), "<form") {
				t.Fatal("an old session may delete")
			}
			if a := b.post("/auth/account?do=delete", "confirm", "delete"); len(s.store.Contents().Users) != 1 {
				t.Fatalf("an old session deleted: to %q", a.location())
			}
			b.get("/auth/signin?callbackUrl=/auth/account%3Fdo%3Ddelete")
			if a := b.signInByLink("ada@example.com"); a.location() != siteOrigin+"/auth/account?do=delete" {
				t.Fatalf("back at %q", a.location())
			}
			b.get("/auth/account?do=delete").says(t, "Delete your account?", "ada@example.com")
			unsure := b.post("/auth/account?do=delete")
			unsure.says(t, "Please confirm that you want to delete the account.")
			gone := b.post("/auth/account?do=delete", "confirm", "delete")
			if len(s.store.Contents().Users) != 0 {
				t.Fatalf("to %q", gone.location())
			}
			b.follow(gone).says(t, "Your account has been deleted", "Back to app.example")
			if a := b.get("/auth/account"); a.Code != http.StatusFound {
				t.Errorf("the farewell is said twice: %s", a.words())
			}
		})
	}
	s := newSite(t, stored, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
	if a := s.newPerson().get("/auth/account?done=deleted"); a.Code != http.StatusFound {
		t.Error("R-204 a link says farewell")
	}
}

// the account page says what was done, and no link has it say so.
func TestAccountPageSaysWhatWasDone(t *testing.T) {
	s := newOAuthSite(t, stored, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
	b := s.newPerson()
	b.signInByLink(adaEmail)
	u := s.store.Contents().Users[0]
	s.link(latchkey.Account{UserID: u.ID, Provider: "issuer", ProviderAccountID: ada().Subject, Type: latchkey.TypeOIDC})
	silent := b.get("/auth/account").words()
	for _, query := range []string{"done=linked", "done=unlinked", "done=ended", "done=others", "error=last", "error=taken", "error=link", "error=confirm", "error=x"} {
		if words := b.get("/auth/account?" + query).words(); words != silent {
			t.Errorf("R-204 ?%s: %s", query, words)
		}
	}
	if words := b.get("/auth/account?do=delete&error=confirm").words(); words != b.get("/auth/account?do=delete").words() {
		t.Errorf("R-204 a link has the question say: %s", words)
	}
	for _, c := range []struct{ do, says string }{
		{"unlink", "The account has been unlinked."},
		{"others", "All other devices have been signed out."},
		{"end", "The device has been signed out."},
	} {
		a := b.post("/auth/account?do="+c.do, "provider", "issuer", "providerAccountId", ada().Subject, "session", "x")
		stranger := s.newPerson()
		stranger.signInByLink("eve@example.com")
		for name, value := range b.jar {
			if strings.Contains(name, "notice") {
				stranger.jar[name] = value
			}
		}
		if words := stranger.get("/auth/account").words(); strings.Contains(words, c.says) {
			t.Errorf("R-204 %s is said to somebody else", c.do)
		}
		b.follow(a).says(t, c.says)
		if words := b.get("/auth/account").words(); strings.Contains(words, c.says) {
			t.Errorf("%s is said twice", c.do)
		}
	}
}

// what the page says of one change asks nobody to sign in for the next,
// nor does it put that off.
func TestNoticesKeepARecentSignIn(t *testing.T) {
	s := newOAuthSite(t, stored, func(c *latchkey.Config) {
		c.AccountPage.Enabled, c.Adapter = true, beginless{c.Adapter.(*memoryadapter.Adapter)}
	})
	b := s.newPerson()
	b.get("/auth/signin?callbackUrl=/auth/account%3Fdo%3Dchange")
	b.signInByLink(adaEmail)
	for range 3 {
		b.follow(b.post("/auth/account?do=end", "session", "x"))
		b.get("/auth/account?do=delete").says(t, "Delete your account?")
		s.clock.Advance(3 * time.Minute)
	}
	b.post("/auth/account?do=end", "session", "x")
	s.clock.Advance(2 * time.Minute)
	b.get("/auth/account?do=delete").says(t, "Confirm that it is you")
}

// what was linked is said once it is.
func TestLinkingIsConfirmed(t *testing.T) {
	s := newOAuthSite(t, stored, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
	b := s.newPerson()
	b.signInByLink("eve@example.com")
	b.get("/auth/signin?callbackUrl=/auth/account")
	page := b.follow(b.callback("issuer", s.authResponse(b, "issuer")))
	page.says(t, "The account has been linked.")
	if words := b.get("/auth/account").words(); strings.Contains(words, "has been linked") {
		t.Error("it is said twice")
	}
}
