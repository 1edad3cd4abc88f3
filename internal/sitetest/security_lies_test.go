package sitetest

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// lyingStore answers one operation with what belongs to Eve, whoever was asked
// about.
type lyingStore struct {
	*memoryadapter.Adapter
	about *lie
}

type lie struct {
	operation string // empty: none
	eve       latchkey.User
}

func (s *lyingStore) lies(operation string) bool { return s.about.operation == operation }

func (s *lyingStore) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	return s.Adapter.InTx(ctx, func(tx storage.Adapter) error { return f(&lyingStore{tx.(*memoryadapter.Adapter), s.about}) })
}

func (s *lyingStore) user(operation string, u latchkey.User, err error) (latchkey.User, error) {
	if err == nil && s.lies(operation) {
		return s.about.eve, nil
	}
	return u, err
}

func (s *lyingStore) CreateUser(ctx context.Context, u latchkey.User) (latchkey.User, error) {
	u, err := s.Adapter.CreateUser(ctx, u)
	return s.user("CreateUser", u, err)
}

func (s *lyingStore) GetUser(ctx context.Context, id string) (latchkey.User, error) {
	u, err := s.Adapter.GetUser(ctx, id)
	return s.user("GetUser", u, err)
}

func (s *lyingStore) GetUserByEmail(ctx context.Context, email string) (latchkey.User, error) {
	if s.lies("GetUserByEmail") {
		return s.about.eve, nil
	}
	return s.Adapter.GetUserByEmail(ctx, email)
}

func (s *lyingStore) GetUserByAccount(ctx context.Context, provider, id string) (latchkey.User, error) {
	u, err := s.Adapter.GetUserByAccount(ctx, provider, id)
	return s.user("GetUserByAccount", u, err)
}

func (s *lyingStore) UpdateUser(ctx context.Context, id string, c storage.UserChange) (latchkey.User, error) {
	u, err := s.Adapter.UpdateUser(ctx, id, c)
	return s.user("UpdateUser", u, err)
}

func (s *lyingStore) DeleteUser(ctx context.Context, id string) (latchkey.User, error) {
	u, err := s.Adapter.DeleteUser(ctx, id)
	return s.user("DeleteUser", u, err)
}

func (s *lyingStore) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, latchkey.User, error) {
	row, u, err := s.Adapter.GetSessionAndUser(ctx, token)
	if err == nil && s.lies("GetSessionAndUser") {
		return storage.StoredSession{Token: "Eve's", UserID: s.about.eve.ID, Expires: row.Expires}, s.about.eve, nil
	}
	return row, u, err
}

func (s *lyingStore) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	row, err := s.Adapter.DeleteSession(ctx, token)
	if err == nil && s.lies("DeleteSession") {
		row.Token, row.UserID = "Eve's", s.about.eve.ID
	}
	return row, err
}

func (s *lyingStore) ListSessions(ctx context.Context, id string) ([]storage.StoredSession, error) {
	if s.lies("ListSessions") {
		id = s.about.eve.ID
	}
	return s.Adapter.ListSessions(ctx, id)
}

func (s *lyingStore) GetAccount(ctx context.Context, provider, id string) (latchkey.Account, error) {
	a, err := s.Adapter.GetAccount(ctx, provider, id)
	if err == nil && s.lies("GetAccount") {
		a.Provider = "another"
	}
	return a, err
}

func (s *lyingStore) ListAccounts(ctx context.Context, id string) ([]latchkey.Account, error) {
	if s.lies("ListAccounts") {
		id = s.about.eve.ID
	}
	return s.Adapter.ListAccounts(ctx, id)
}

func (s *lyingStore) UnlinkAccount(ctx context.Context, provider, id string) (latchkey.Account, error) {
	a, err := s.Adapter.UnlinkAccount(ctx, provider, id)
	if err == nil && s.lies("UnlinkAccount") {
		a.ProviderAccountID = "another"
	}
	return a, err
}

func (s *lyingStore) ListAuthenticators(ctx context.Context, id string) ([]storage.Authenticator, error) {
	if s.lies("ListAuthenticators") {
		return []storage.Authenticator{{CredentialID: []byte("Eve's"), UserID: s.about.eve.ID}}, nil
	}
	return s.Adapter.ListAuthenticators(ctx, id)
}

func (s *lyingStore) UseVerificationToken(ctx context.Context, identifier, token string) (storage.VerificationToken, error) {
	row, err := s.Adapter.UseVerificationToken(ctx, identifier, token)
	if err == nil && s.lies("UseVerificationToken") {
		row.Identifier = s.about.eve.Email
	}
	return row, err
}

// newLyingSite is a site with Ada, who has two accounts, and Eve, who has one;
// their store lies from now on.
func newLyingSite(t *testing.T, operation string, change ...func(*latchkey.Config)) (*oauthSite, *lyingStore) {
	store := &lyingStore{memoryadapter.New(memoryadapter.Options{}), &lie{}}
	s := newOAuthSite(t, append([]func(*latchkey.Config){stored, second(unchanged), func(c *latchkey.Config) { c.Adapter = store }}, change...)...)
	s.store = store.Adapter
	store.about.eve = s.addUser(latchkey.User{ID: "eve", Email: "eve@example.com", EmailVerified: s.clock.Now()})
	s.link(latchkey.Account{UserID: "eve", Provider: "issuer", ProviderAccountID: "eve", Type: latchkey.TypeOIDC})
	row := storage.StoredSession{Token: strings.Repeat("e", 64), UserID: "eve", Expires: s.clock.Now().Add(time.Hour)}
	if err := s.store.CreateSession(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	store.about.operation = operation
	return s, store
}

// TestLies: an answer of the store to another question than it was asked is a
// fault, which the log names, and makes nobody somebody else.
func TestLies(t *testing.T) {
	isEve := func(t *testing.T, b *browser) {
		t.Helper()
		if now := b.copy().session(); strings.Contains(now, "eve") {
			t.Errorf("Ada is Eve: %s", now)
		}
	}
	ways := map[string]func(s *oauthSite, store *lyingStore, b *browser) *answer{
		"CreateUser": func(s *oauthSite, _ *lyingStore, b *browser) *answer { return s.signIn(b) },
		"GetUserByEmail": func(_ *oauthSite, _ *lyingStore, b *browser) *answer {
			return b.post("/auth/signin/post", "email", adaEmail)
		},
		"UseVerificationToken": func(_ *oauthSite, _ *lyingStore, b *browser) *answer { return b.get(b.askForLink(adaEmail)) },
		"GetUserByAccount":     again,
		"GetAccount":           again,
		"UpdateUser":           byLinkAfterwards,
		"ListAccounts":         byLinkAfterwards,
		"ListAuthenticators":   byLinkAfterwards,
		"ListSessions":         byLinkAfterwards,
	}
	for operation, signIn := range ways {
		t.Run("R-354 signing in: "+operation, func(t *testing.T) {
			s, store := newLyingSite(t, operation)
			b := s.newBrowser()
			a := signIn(s, store, b)
			refused(t, a, "Configuration")
			isEve(t, b)
			named := strings.Replace(operation, "GetUserByAccount", "GetAccount", 1) // which says whose it is
			if !strings.Contains(s.log.text(), named+" answered another question") {
				t.Errorf("the log does not name it:\n%s", s.log.text())
			}
		})
	}
	t.Run("R-354 a link for a user, asked for before", func(t *testing.T) {
		s, store := newLyingSite(t, "")
		b := s.newBrowser()
		link := b.askForLink(adaEmail)
		store.about.operation = "GetUserByEmail"
		refused(t, b.get(link), "Configuration")
		isEve(t, b)
	})
	t.Run("R-354 reading a session: GetSessionAndUser", func(t *testing.T) {
		s, store := newLyingSite(t, "")
		b := s.newBrowser()
		s.mustSignIn(b)
		store.about.operation = "GetSessionAndUser"
		isEve(t, b)
		if _, err := s.auth.ReadSession(httptest.NewRecorder(), b.request("GET", "/page", "", "")); !errors.Is(err, latchkey.ErrAdapter) {
			t.Errorf("error %v", err)
		}
		if !strings.Contains(s.log.text(), "GetSessionAndUser answered another question") {
			t.Error("the log does not name it")
		}
	})
	t.Run("R-354 signing out: DeleteSession", func(t *testing.T) {
		var told []string
		s, store := newLyingSite(t, "", func(c *latchkey.Config) {
			c.Events.SignOut = func(_ context.Context, e latchkey.SignOutEvent) error {
				told = append(told, e.Session.UserID)
				return nil
			}
		})
		b := s.newBrowser()
		s.mustSignIn(b)
		store.about.operation = "DeleteSession"
		b.post("/auth/signout")
		if len(told) != 0 {
			t.Errorf("told that %v signed out", told)
		}
	})
	t.Run("R-354 the user of a token: GetUser", func(t *testing.T) {
		s, store := newLyingSite(t, "", func(c *latchkey.Config) { c.Session.Strategy = latchkey.JWTSessions })
		b := s.newBrowser()
		s.mustSignIn(b)
		params := s.authResponse(b, "second")
		store.about.operation = "GetUser"
		b.callback("second", params)
		for _, a := range s.store.Contents().Accounts {
			if a.Provider == "second" && a.UserID == "eve" {
				t.Error("Ada's account was linked to Eve")
			}
		}
	})
	unlink := func(u *latchkey.Users, id string) error {
		return u.Unlink(t.Context(), latchkey.AccountRef{UserID: id, Provider: "issuer", ProviderAccountID: "ada"})
	}
	for operation, do := range map[string]func(*latchkey.Users, string) error{
		"GetUser":       func(u *latchkey.Users, id string) error { _, err := u.Get(t.Context(), id); return err },
		"ListAccounts":  func(u *latchkey.Users, id string) error { _, err := u.Accounts(t.Context(), id); return err },
		"ListSessions":  func(u *latchkey.Users, id string) error { _, err := u.Sessions(t.Context(), id); return err },
		"UnlinkAccount": unlink,
		"UpdateUser":    unlink,
		"DeleteUser":    func(u *latchkey.Users, id string) error { return u.Delete(t.Context(), id) },
	} {
		t.Run("R-354 users: "+operation, func(t *testing.T) {
			s, store := newLyingSite(t, "")
			b := s.newBrowser()
			s.mustSignIn(b)
			b.callback("second", s.authResponse(b, "second"))
			ada, err := s.store.GetUserByEmail(t.Context(), adaEmail)
			if err != nil {
				t.Fatal(err)
			}
			store.about.operation = operation
			if err := do(s.auth.Users(), ada.ID); !errors.Is(err, latchkey.ErrAdapter) || !strings.Contains(err.Error(), operation) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// again signs Ada in for the second time.
func again(s *oauthSite, store *lyingStore, b *browser) *answer {
	store.honestly(func() { s.mustSignIn(s.newBrowser()) })
	return s.signIn(b)
}

// byLinkAfterwards proves Ada's e-mail address, which she has signed up with at
// a provider.
func byLinkAfterwards(s *oauthSite, store *lyingStore, b *browser) *answer {
	var link string
	store.honestly(func() {
		s.mustSignIn(s.newBrowser())
		link = b.askForLink(adaEmail)
	})
	return b.get(link)
}

// honestly runs f without the lie.
func (s *lyingStore) honestly(f func()) {
	operation := s.about.operation
	s.about.operation = ""
	defer func() { s.about.operation = operation }()
	f()
}
