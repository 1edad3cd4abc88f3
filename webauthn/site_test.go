package webauthn_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
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

// newSite is one in which f may change anything. It has no limits, so that it
// refuses the whole of a table.
func newSite(t *testing.T, f func(*latchkey.Config, *latchkey.WebAuthn)) *site {
	t.Helper()
	s := &site{t: t, store: memoryadapter.New(memoryadapter.Options{})}
	passkeys := webauthn.Passkey(latchkey.WebAuthn{})
	c := latchkey.Config{
		Providers: []latchkey.Provider{passkeys},
		Adapter:   s.store,
		Secrets:   []string{"a secret of this test, and long enough"},
		Site:      latchkey.Site{TrustHost: true},
		Limits:    latchkey.Limits{Disabled: true},
		Runtime:   latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
	}
	if f != nil {
		f(&c, passkeys)
	}
	var err error
	if s.auth, err = latchkey.New(c); err != nil {
		t.Fatal(err)
	}
	s.url = latchkeytest.NewClient(t, s.auth).URL
	return s
}

// visit is a new browser, and an authenticator without passkeys.
func (s *site) visit() (*latchkeytest.Client, *latchkeytest.Authenticator) {
	s.t.Helper()
	return latchkeytest.NewClientAt(s.t, s.url), latchkeytest.NewAuthenticator(s.url)
}

// member is somebody who has registered with a passkey, in another browser than
// the one that is returned.
func (s *site) member(email string, change ...func(*latchkeytest.Authenticator)) (*latchkeytest.Client, *latchkeytest.Authenticator) {
	s.t.Helper()
	b, a := s.visit()
	for _, f := range change {
		f(a)
	}
	b.RegisterPasskey(a, email)
	b, _ = s.visit()
	return b, a
}

type bad = latchkeytest.PasskeyMisbehaviour

// refusesRegistration: what a makes in this way is refused, and leaves nothing.
func (s *site) refusesRegistration(t *testing.T, a *latchkeytest.Authenticator, m bad) {
	t.Helper()
	b, _ := s.visit()
	before := s.store.Contents()
	a.Misbehave(m)
	refused(t, b, b.TryRegisterPasskey(a, fmt.Sprintf("eve%d@example.com", len(before.Users))))
	s.holds(t, len(before.Users), len(before.Authenticators))
}

// refusesSignIn: what a registered passkey signs in this way is refused, and it
// works again afterwards.
func (s *site) refusesSignIn(t *testing.T, a *latchkeytest.Authenticator, m bad) {
	t.Helper()
	b, _ := s.visit()
	a.Misbehave(m)
	refused(t, b, b.TryPasskey(a, ""))
	a.Misbehave(bad{})
	b.SignInByPasskey(a, "")
}

// refused: the answer p is the one that all wrong passkeys get, and signed nobody
// in.
func refused(t *testing.T, b *latchkeytest.Client, p *latchkeytest.Page) {
	t.Helper()
	if p.Error() != string(latchkey.ErrWebAuthnVerification) {
		t.Errorf("got %d, %v %s, want WebAuthnVerificationError", p.Status, p.Location(), p.Body)
	}
	isIn(t, b, "")
}

// isIn tells who is signed in; empty: nobody.
func isIn(t *testing.T, b *latchkeytest.Client, email string) {
	t.Helper()
	got := ""
	if s := b.Session(); s != nil {
		got = s.User.Email
	}
	if got != email {
		t.Errorf("signed in is %q, want %q", got, email)
	}
}

func (s *site) holds(t *testing.T, users, passkeys int) {
	t.Helper()
	if c := s.store.Contents(); len(c.Users) != users || len(c.Authenticators) != passkeys || len(c.Accounts) != passkeys {
		t.Errorf("%d users, %d passkeys, %d accounts; want %d, %d", len(c.Users), len(c.Authenticators), len(c.Accounts), users, passkeys)
	}
}

// options are what navigator.credentials is called with.
type options struct {
	Action  string
	Options struct {
		Challenge        string
		RPID             string `json:"rpId"`
		UserVerification string
		AllowCredentials []struct{ ID string }
		Exclude          []struct{ ID string } `json:"excludeCredentials"`
		User             struct{ ID, Name string }
		RP               struct{ ID string }
		Selection        struct{ UserVerification string } `json:"authenticatorSelection"`
	}
}

// ask gets options; query is what follows the path.
func ask(t *testing.T, b *latchkeytest.Client, query string) (o options, raw []byte) {
	t.Helper()
	page := b.Get("/auth/webauthn-options/passkey" + query)
	if err := json.Unmarshal(page.Body, &o); err != nil || page.Status != http.StatusOK {
		t.Fatalf("options%s: %d %s", query, page.Status, page.Body)
	}
	return o, page.Body
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestSignUpAndIn(t *testing.T) {
	s := newSite(t, nil)
	b, a := s.visit()
	a.AAGUID = "d548826e-79b4-db40-a3d8-11116f7e8349"
	b.RegisterPasskey(a, "Ada@Example.com ")
	isIn(t, b, "ada@example.com")
	c, made := s.store.Contents(), a.Passkeys()[0]
	k, account := c.Authenticators[0], c.Accounts[0]
	if id := base64.StdEncoding.EncodeToString(made.ID); account.ProviderAccountID != id || k.ProviderAccountID != id || account.Type != latchkey.TypeWebAuthn {
		t.Errorf("account %+v of passkey %q", account.ProviderAccountID, k.ProviderAccountID)
	}
	if k.Name != "Bitwarden" || k.DeviceType != "multiDevice" || !k.BackedUp || len(k.Transports) != 2 || k.Created.IsZero() {
		t.Errorf("passkey %q %q %v %v", k.Name, k.DeviceType, k.BackedUp, k.Transports)
	}
	if len(k.UserHandle) != 32 || string(k.UserHandle) != string(made.UserHandle) {
		t.Errorf("R-174 user handle %x, the authenticator has %x", k.UserHandle, made.UserHandle)
	}
	b.SignOut()
	isIn(t, b, "")
	made.BackedUp = false
	b.SignInByPasskey(a, "")
	isIn(t, b, "ada@example.com")
	if k := s.store.Contents().Authenticators[0]; k.BackedUp || k.Used.Before(k.Created) {
		t.Errorf("backed up %v, used %v", k.BackedUp, k.Used)
	}
}

func TestSeveralPasskeys(t *testing.T) {
	s := newSite(t, nil)
	b, first := s.visit()
	b.RegisterPasskey(first, "ada@example.com")
	_, second := s.visit()
	o, _ := ask(t, b, "?action=register")
	if made := first.Passkeys()[0]; len(o.Options.Exclude) != 1 || o.Options.Exclude[0].ID != b64(made.ID) || o.Options.User.ID != b64(made.UserHandle) {
		t.Errorf("excluded %v, user handle %q", o.Options.Exclude, o.Options.User.ID)
	}
	b.RegisterPasskey(second, "")
	s.holds(t, 1, 2)
	other, _ := s.visit()
	for _, a := range []*latchkeytest.Authenticator{first, second} {
		other.SignOut()
		o, raw := ask(t, other, "?email=ada@example.com")
		if len(o.Options.AllowCredentials) != 2 || o.Action != "authenticate" {
			t.Errorf("%s with %v", o.Action, o.Options.AllowCredentials)
		}
		other.PostPasskey(a, must(a.Get(raw)))
		isIn(t, other, "ada@example.com")
	}
}

// TestTwoTabs: a page that offers passkeys while somebody types asks for one in
// every tab.
func TestTwoTabs(t *testing.T) {
	s := newSite(t, nil)
	b, a := s.member("ada@example.com")
	_, older := ask(t, b, "?action=authenticate")
	ask(t, b, "?action=authenticate")
	b.PostPasskey(a, must(a.Get(older)))
	isIn(t, b, "ada@example.com")
}

// TestAlgorithms: those that are asked for by default, and others that the site
// chose.
func TestAlgorithms(t *testing.T) {
	usual := newSite(t, nil)
	chosen := newSite(t, func(_ *latchkey.Config, p *latchkey.WebAuthn) { p.Registration.Algorithms = []int{-35, -36} })
	for algorithm, s := range map[string]*site{"ES256": usual, "EdDSA": usual, "RS256": usual, "ES384": chosen, "ES512": chosen} {
		t.Run(algorithm, func(t *testing.T) {
			b, a := s.member(algorithm+"@example.com", func(a *latchkeytest.Authenticator) { a.Algorithm = algorithm })
			b.SignInByPasskey(a, "")
			for _, how := range []latchkeytest.Signing{latchkeytest.SignOtherKey, latchkeytest.SignDamaged} {
				s.refusesSignIn(t, a, bad{Sign: how})
			}
		})
	}
}

// TestExtensions: outputs that are announced are no reason to refuse, in either
// ceremony.
func TestExtensions(t *testing.T) {
	s := newSite(t, nil)
	outputs := bad{AuthenticatorData: func(d *latchkeytest.AuthenticatorData) {
		d.Flags |= latchkeytest.FlagExtensions
		d.Extensions = map[string]any{"credProtect": 2}
	}}
	b, a := s.member("ada@example.com", func(a *latchkeytest.Authenticator) { a.Misbehave(outputs) })
	b.SignInByPasskey(a, "")
	isIn(t, b, "ada@example.com")
}
