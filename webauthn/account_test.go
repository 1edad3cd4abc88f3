package webauthn_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// settings are on, and time is the test's.
func settings(at *time.Time) func(*latchkey.Config, *latchkey.WebAuthn) {
	return func(c *latchkey.Config, _ *latchkey.WebAuthn) {
		c.AccountPage.Enabled = true
		c.Runtime.Time = func() time.Time { return *at }
	}
}

// change posts a form of the account page, and returns the page that follows.
func change(t *testing.T, b *latchkeytest.Client, do string, form url.Values) string {
	t.Helper()
	form.Set("csrfToken", b.CSRFToken())
	p := b.Post("/auth/account?do="+do, form)
	if p.Location() == nil {
		t.Fatalf("%s: %d %s", do, p.Status, p.Body)
	}
	return string(b.Follow(p).Body)
}

// add registers one more passkey for who is signed in.
func (s *site) add(t *testing.T, b *latchkeytest.Client, back string) (*latchkeytest.Passkey, *latchkeytest.Authenticator, *latchkeytest.Page) {
	t.Helper()
	a := latchkeytest.NewAuthenticator(s.url)
	_, raw := ask(t, b, "?action=register")
	data := must(a.Create(raw))
	p := b.Post("/auth/callback/passkey", url.Values{"action": {"register"}, "data": {string(data)}, "csrfToken": {b.CSRFToken()}, "callbackUrl": {b.URL + back}})
	return a.Passkeys()[0], a, p
}

func TestAccountPage(t *testing.T) {
	now := time.Now()
	s := newSite(t, settings(&now))
	b, a := s.visit()
	a.AAGUID = "d548826e-79b4-db40-a3d8-11116f7e8349"
	b.RegisterPasskey(a, "ada@example.com")
	first := a.Passkeys()[0]
	_, eves := s.member("eve@example.com")
	foreign := b64(eves.Passkeys()[0].ID)

	page := string(b.Get("/auth/account").Body)
	for _, want := range []string{"Bitwarden", "Your only way in", "Add a passkey", `data-latchkey-passkey-add="passkey"`, "data-latchkey-passkeys>", b64(first.ID)} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if strings.Contains(page, "do=remove") || strings.Contains(page, foreign) {
		t.Error("R-345 the last passkey can be removed, or there is one of somebody else")
	}
	if page := change(t, b, "remove", url.Values{"passkey": {b64(first.ID)}}); !strings.Contains(page, "only way in, so it stays") {
		t.Error("R-345 the last passkey was removed")
	}

	second, other, p := s.add(t, b, "/auth/account")
	if page := string(b.Follow(p).Body); !strings.Contains(page, "has been added") || strings.Count(page, "do=remove") != 2 {
		t.Errorf("after another was added: %d %s", p.Status, p.Location())
	}
	if page := change(t, b, "rename", url.Values{"passkey": {b64(second.ID)}, "name": {"  My\u200bphone\n" + strings.Repeat("x", 99)}}); !strings.Contains(page, ">Myphone"+strings.Repeat("x", 57)+"<") {
		t.Error("it was not renamed")
	}
	change(t, b, "rename", url.Values{"passkey": {foreign}, "name": {"mine"}})
	change(t, b, "remove", url.Values{"passkey": {foreign}})
	change(t, b, "remove", url.Values{"passkey": {"nonsense!"}})
	if page := change(t, b, "remove", url.Values{"passkey": {b64(first.ID)}}); !strings.Contains(page, "has been removed") {
		t.Error("it was not removed")
	}
	if told := signals(t, b); told.CredentialID != b64(first.ID) || told.UserID != b64(second.UserHandle) {
		t.Errorf("the browser is told %+v", told)
	}
	s.holds(t, 2, 2)
	for _, k := range s.store.Contents().Authenticators {
		if b64(k.CredentialID) == foreign && k.Name == "mine" {
			t.Error("the passkey of eve has another name")
		}
	}
	b.SignOut()
	refused(t, b, b.TryPasskey(a, ""))
	b.SignInByPasskey(other, "")
	isIn(t, b, "ada@example.com")
}

// TestOldSessions: what takes a session must not gain a way in of its own
//
func TestOldSessions(t *testing.T) {
	now := time.Now()
	s := newSite(t, settings(&now))
	b, a := s.visit()
	b.RegisterPasskey(a, "ada@example.com")
	now = now.Add(9 * time.Minute)
	_, raw := ask(t, b, "?action=register")
	now = now.Add(2 * time.Minute)
	if p := b.Get("/auth/webauthn-options/passkey?action=register"); p.Status != 400 || !strings.Contains(string(p.Body), `do=change"`) {
		t.Errorf("options in an old session: %d %s", p.Status, p.Body)
	}
	if page := string(b.Get("/auth/account").Body); strings.Contains(page, "data-latchkey-passkey-add") || !strings.Contains(page, "do=link") {
		t.Error("the page offers to add one at once")
	}
	gone := url.Values{"passkey": {b64(a.Passkeys()[0].ID)}, "csrfToken": {b.CSRFToken()}}
	if p := b.Post("/auth/account?do=remove", gone); p.Location().Query().Get("do") != "change" {
		t.Errorf("removed in an old session: %s", p.Location())
	}
	other := latchkeytest.NewAuthenticator(s.url)
	if p := b.PostPasskey(other, must(other.Create(raw))); p.Error() != "" {
		t.Errorf("options of a fresh session: %s", p.Location())
	}
	_, raw = ask(t, b, "?action=authenticate")
	b.PostPasskey(a, must(a.Get(raw)))
	ask(t, b, "?action=register") // it is fresh again
}

func TestUsersOfPasskeys(t *testing.T) {
	s := newSite(t, nil)
	b, a := s.visit()
	b.RegisterPasskey(a, "ada@example.com")
	second, _, _ := s.add(t, b, "/")
	accounts, ctx, id := s.auth.Users(), t.Context(), s.store.Contents().Users[0].ID
	if err := accounts.RenamePasskey(ctx, id, second.ID, "phone"); err != nil {
		t.Error(err)
	}
	keys, err := accounts.Passkeys(ctx, id)
	if err != nil || len(keys) != 2 {
		t.Fatalf("%d passkeys, error %v", len(keys), err)
	}
	if err := accounts.RemovePasskey(ctx, "somebody", second.ID); !errors.Is(err, latchkey.ErrNotFound) {
		t.Errorf("of somebody else: %v", err)
	}
	if err := accounts.Unlink(ctx, latchkey.AccountRef{UserID: id, Provider: "passkey", ProviderAccountID: keys[0].ProviderAccountID}); err != nil {
		t.Error(err)
	}
	s.holds(t, 1, 1)
	if err := accounts.RemovePasskey(ctx, id, keys[1].CredentialID); !errors.Is(err, latchkey.ErrLastAccount) {
		t.Errorf("R-345 the last one: %v", err)
	}
}

func TestSignals(t *testing.T) {
	s := newSite(t, nil)
	b, a := s.visit()
	if p := b.Get("/auth/webauthn-options/passkey?action=signals"); string(p.Body) != `{"action":"signals","options":null}` {
		t.Errorf("for nobody: %d %s", p.Status, p.Body)
	}
	b.RegisterPasskey(a, "ada@example.com")
	k := a.Passkeys()[0]
	got := string(b.Get("/auth/webauthn-options/passkey?action=signals").Body)
	want := `{"action":"signals","options":{"rpId":"127.0.0.1","userId":"` + b64(k.UserHandle) + `","allAcceptedCredentialIds":["` + b64(k.ID) + `"],"name":"ada@example.com","displayName":"ada@example.com"}}`
	if got != want {
		t.Errorf("news is %s, want %s", got, want)
	}
}

// TestFirstProof: R-074. Whoever proves the e-mail address keeps nothing that was
// registered before.
func TestFirstProof(t *testing.T) {
	var link latchkey.Message
	s := newSite(t, func(c *latchkey.Config, _ *latchkey.WebAuthn) {
		c.Providers = append(c.Providers, &latchkey.Email{
			Send: func(_ context.Context, m latchkey.Message) error { link = m; return nil },
		})
	})
	mallory, a := s.visit()
	mallory.RegisterPasskey(a, "ada@example.com")
	ada, _ := s.visit()
	ada.Post("/auth/signin/email", url.Values{"email": {"ada@example.com"}, "csrfToken": {ada.CSRFToken()}})
	ada.Get(link.URL)
	isIn(t, ada, "ada@example.com")
	isIn(t, mallory, "")
	refused(t, mallory, mallory.TryPasskey(a, ""))
	_, adas, _ := s.add(t, ada, "/")
	ada.SignOut()
	ada.SignInByPasskey(adas, "")
	isIn(t, ada, "ada@example.com")
	s.holds(t, 1, 1)
}
