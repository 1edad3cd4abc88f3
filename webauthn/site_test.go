package webauthn_test

import (
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// site is a site with passkeys.
type site struct {
	t     *testing.T
	auth  *latchkey.Auth
	store *memoryadapter.Adapter
	url   string
}

// newSite is one in which f may change anything.
func newSite(t *testing.T, f func(*latchkey.Config, *latchkey.WebAuthn)) *site {
	t.Helper()
	s := &site{t: t, store: memoryadapter.New(memoryadapter.Options{})}
	passkeys := webauthn.Passkey(latchkey.WebAuthn{})
	c := latchkey.Config{
		Providers:    []latchkey.Provider{passkeys},
		Adapter:      s.store,
		Secrets:      []string{"a secret of this test, and long enough"},
		Site:         latchkey.Site{TrustHost: true},
		Experimental: latchkey.Experimental{EnableWebAuthn: true},
		Runtime:      latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
	}
	if f != nil {
		f(&c, passkeys)
	}
	var err error
	if s.auth, err = latchkey.New(c); err != nil {
		t.Fatal(err)
	}
	return s
}

// open is a new browser, with an authenticator that nobody knows yet.
func (s *site) open() (*browser, *device) {
	s.t.Helper()
	if s.url == "" {
		c := latchkeytest.NewClient(s.t, s.auth)
		s.url = c.URL
	}
	return &browser{latchkeytest.NewClientAt(s.t, s.url), s.t}, newDevice(s.t, s.url)
}

type browser struct {
	*latchkeytest.Client
	t *testing.T
}

// ask gets options; query is what follows the path.
func (b *browser) ask(query string) options {
	b.t.Helper()
	page := b.Get("/auth/webauthn-options/passkey" + query)
	var o options
	if err := json.Unmarshal(page.Body, &o); err != nil || page.Status != http.StatusOK {
		b.t.Fatalf("options%s: %d %s", query, page.Status, page.Body)
	}
	return o
}

// send posts what the device answers.
func (b *browser) send(action, data string) *latchkeytest.Page {
	b.t.Helper()
	return b.Post("/auth/callback/passkey", url.Values{"action": {action}, "data": {data}, "csrfToken": {b.CSRFToken()}})
}

// signUp registers a new user with d.
func (b *browser) signUp(d *device, email string) *latchkeytest.Page {
	b.t.Helper()
	return b.send("register", d.create(b.t, b.ask("?action=register&email="+url.QueryEscape(email))))
}

// signIn uses d without naming anybody.
func (b *browser) signIn(d *device) *latchkeytest.Page {
	b.t.Helper()
	return b.send("authenticate", d.get(b.t, b.ask("?action=authenticate")))
}

// isIn tells who is signed in.
func (b *browser) isIn(email string) {
	b.t.Helper()
	got := ""
	if s := b.Session(); s != nil {
		got = s.User.Email
	}
	if got != email {
		b.t.Errorf("signed in is %q, want %q", got, email)
	}
}

// refuses tells that an answer signed nobody in.
func (b *browser) refuses(p *latchkeytest.Page, want latchkey.ErrorType) {
	b.t.Helper()
	if got := p.Error(); got != string(want) {
		b.t.Errorf("error %q, want %q: %d %s", got, want, p.Status, p.Location())
	}
	b.isIn("")
}

func TestSignUpAndIn(t *testing.T) {
	s := newSite(t, nil)
	b, d := s.open()
	if p := b.signUp(d, "Ada@Example.com "); p.Error() != "" {
		t.Fatal(p.Location())
	}
	b.isIn("ada@example.com")
	c := s.store.Contents()
	k, account := c.Authenticators[0], c.Accounts[0]
	if id := base64.StdEncoding.EncodeToString(d.id); account.ProviderAccountID != id || k.ProviderAccountID != id || account.Type != latchkey.TypeWebAuthn {
		t.Errorf("account %+v of passkey %q", account.ProviderAccountID, k.ProviderAccountID)
	}
	if k.Name != "Bitwarden" || k.DeviceType != "multiDevice" || !k.BackedUp || len(k.Transports) != 2 || k.Created.IsZero() {
		t.Errorf("passkey %q %q %v %v", k.Name, k.DeviceType, k.BackedUp, k.Transports)
	}
	if len(k.UserHandle) != 32 || string(k.UserHandle) != string(d.handle) {
		t.Errorf("R-174 user handle %x, the authenticator has %x", k.UserHandle, d.handle)
	}
	b.SignOut()
	b.isIn("")
	d.flags &^= backedUp
	if p := b.signIn(d); p.Error() != "" {
		t.Fatal(p.Location())
	}
	b.isIn("ada@example.com")
	if k := s.store.Contents().Authenticators[0]; k.BackedUp || k.Used.Before(k.Created) {
		t.Errorf("backed up %v, used %v", k.BackedUp, k.Used)
	}
}

func TestSeveralPasskeys(t *testing.T) {
	s := newSite(t, nil)
	b, first := s.open()
	b.signUp(first, "ada@example.com")
	_, second := s.open()
	o := b.ask("?action=register")
	if len(o.Options.Exclude) != 1 || o.Options.Exclude[0].ID != b64(first.id) || o.Options.User.ID != b64(first.handle) {
		t.Errorf("excluded %v, user handle %q", o.Options.Exclude, o.Options.User.ID)
	}
	if p := b.send("register", second.create(t, o)); p.Error() != "" {
		t.Fatal(p.Location())
	}
	if c := s.store.Contents(); len(c.Users) != 1 || len(c.Authenticators) != 2 || len(c.Accounts) != 2 {
		t.Errorf("%d users, %d passkeys, %d accounts", len(c.Users), len(c.Authenticators), len(c.Accounts))
	}
	other, _ := s.open()
	for _, d := range []*device{first, second} {
		other.SignOut()
		o := other.ask("?email=ada@example.com")
		if len(o.Options.AllowCredentials) != 2 || o.Action != "authenticate" {
			t.Errorf("%s with %v", o.Action, o.Options.AllowCredentials)
		}
		other.send("authenticate", d.get(t, o))
		other.isIn("ada@example.com")
	}
}

// TestTwoTabs: a page that offers passkeys while somebody types asks for one in
// every tab.
func TestTwoTabs(t *testing.T) {
	s := newSite(t, nil)
	b, d := s.open()
	b.signUp(d, "ada@example.com")
	b.SignOut()
	older := b.ask("?action=authenticate")
	b.ask("?action=authenticate")
	b.send("authenticate", d.get(t, older))
	b.isIn("ada@example.com")
}

func TestAnswersOnce(t *testing.T) {
	s := newSite(t, nil)
	b, d := s.open()
	b.signUp(d, "ada@example.com")
	b.SignOut()
	answer := d.get(t, b.ask("?action=authenticate"))
	kept := b.Cookie("authjs.challenge")
	b.send("authenticate", answer)
	b.isIn("ada@example.com")
	if b.Cookie("authjs.challenge") != nil {
		t.Error("R-163 the cookie of a spent challenge is left")
	}
	thief, _ := s.open()
	thief.SetCookie(kept)
	thief.refuses(thief.send("authenticate", answer), latchkey.ErrWebAuthnVerification)
	without, _ := s.open()
	if p := without.send("authenticate", answer); p.Error() != "Configuration" {
		t.Errorf("R-161 without the cookie: %q", p.Error())
	}
}
