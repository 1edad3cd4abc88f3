package vault_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

var (
	here  = vault.Place{Provider: "acme", AccountID: "1", Field: "refresh_token"}
	older = "an older secret of 32 characters"
	newer = "a newer secret of 32 characters!"
)

func seals(t testing.TB, plain bool, keys ...string) *vault.Seals {
	t.Helper()
	s, err := vault.NewSeals(keys, plain)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSeals shows what opens (T-037 to T-041).
func TestSeals(t *testing.T) {
	value := seals(t, false, older).Seal(here, theGrant, "token")
	if !strings.HasPrefix(value, "lk1.") || strings.Contains(value, "token") {
		t.Errorf("sealed: %q", value)
	}
	moved := func(change func(*vault.Place)) vault.Place { p := here; change(&p); return p }
	for name, c := range map[string]struct {
		with  *vault.Seals
		at    vault.Place
		value string
		want  string
		err   error
	}{
		"T-037 it opens":                   {seals(t, false, older), here, value, "token", nil},
		"T-038 a value of Auth.js":         {seals(t, false, older), here, "plain.value", "plain.value", nil},
		"T-040 under a newer key":          {seals(t, false, newer, older), here, value, "token", nil},
		"T-040 after its key was removed":  {seals(t, false, newer), here, value, "", fault.ErrTokenKey},
		"T-039 where new values are plain": {seals(t, true, older), here, value, "token", nil},
		"T-041 in another column":          {seals(t, false, older), moved(func(p *vault.Place) { p.Field = "access_token" }), value, "", fault.ErrTokenKey},
		"T-041 in another row":             {seals(t, false, older), moved(func(p *vault.Place) { p.AccountID = "2" }), value, "", fault.ErrTokenKey},
		"T-041 at another provider":        {seals(t, false, older), moved(func(p *vault.Place) { p.Provider = "acm"; p.AccountID = "e1" }), value, "", fault.ErrTokenKey},
		"T-041 cut short":                  {seals(t, false, older), here, value[:len(value)-1], "", fault.ErrTokenKey},
		"T-041 the prefix alone":           {seals(t, false, older), here, "lk1.", "", fault.ErrTokenKey},
	} {
		t.Run(name, func(t *testing.T) {
			token, grant, err := c.with.Open(c.at, c.value)
			if token != c.want || !errors.Is(err, c.err) {
				t.Errorf("%q, %v; want %q, %v", token, err, c.want, c.err)
			}
			if c.err == nil && c.value == value && grant != theGrant {
				t.Errorf("grant %v", grant)
			}
		})
	}
	t.Run("T-041 one bit flipped", func(t *testing.T) {
		for i := range len(value) {
			bad := value[:i] + string(value[i]^1) + value[i+1:]
			if token, _, err := seals(t, false, older).Open(here, bad); err == nil && token == "token" {
				t.Errorf("byte %d: it still opens", i)
			}
		}
	})
}

// TestStoredForm shows that a row holds no token, and that a row of Auth.js is sealed
// by its next write (T-037, T-038, T-039).
func TestStoredForm(t *testing.T) {
	for name, c := range map[string]struct{ plain, sealed bool }{
		"T-037 sealed": {false, true},
		"T-039 plain":  {true, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, once)
				v := w.process(func(v *vault.Config) { v.Seals = seals(t, c.plain, older) })
				granted := w.issuer.grant(v.Now())
				row := storage.Account{UserID: w.user.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOAuth, Tokens: granted}
				if err := w.store.LinkAccount(t.Context(), row); err != nil { // T-038: as Auth.js does
					t.Fatal(err)
				}
				got, err := w.ask(v, vault.Options{Rejected: "access-1"})
				want(t, got, err, "access-2", nil)
				now := w.row("1").Tokens
				if sealed := strings.HasPrefix(now.AccessToken, "lk1.") && strings.HasPrefix(now.RefreshToken, "lk1."); sealed != c.sealed {
					t.Errorf("sealed: %v", sealed)
				}
				if (vault.KeyIDOf(now.AccessToken) != "") != c.sealed {
					t.Errorf("key id %q", vault.KeyIDOf(now.AccessToken))
				}
			})
		})
	}
}

// TestLostKey shows that a token whose key is gone is neither sent nor taken for dead
// (T-040).
func TestLostKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, once)
		before := w.connect(w.process(), "1")
		got, err := w.ask(w.process(func(v *vault.Config) { v.Seals = seals(t, false, newer) }))
		want(t, got, err, "", fault.ErrTokenKey)
		w.requests(0)
		if after := w.row("1"); after.Tokens.RefreshToken != before.Tokens.RefreshToken || len(w.events) != 0 {
			t.Error("the row was changed, or an event was told")
		}
	})
}

// FuzzOpen opens arbitrary values.
func FuzzOpen(f *testing.F) {
	s := seals(f, false, newer, older)
	f.Add(s.Seal(here, theGrant, "token"))
	f.Add("lk1.")
	f.Add("plain")
	f.Fuzz(func(t *testing.T, value string) {
		token, _, err := s.Open(here, value)
		switch {
		case err != nil && (!errors.Is(err, fault.ErrTokenKey) || token != ""):
			t.Errorf("%q, %v", token, err)
		case err == nil && !strings.HasPrefix(value, "lk1.") && token != value:
			t.Errorf("%q became %q", value, token)
		}
	})
}
