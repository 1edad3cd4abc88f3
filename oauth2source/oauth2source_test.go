package oauth2source_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/oauth2source"
	"github.com/latchkeyhq/latchkey/users"
)

// site is a site with a user who has an account at an issuer.
type site struct {
	auth   *latchkey.Auth
	issuer *latchkeytest.Issuer
	of     users.AccountRef

	mu  sync.Mutex
	now time.Time
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{now: time.Now()}
	s.issuer = latchkeytest.NewIssuer(t)
	store := memoryadapter.New(memoryadapter.Options{})
	u, err := store.CreateUser(t.Context(), latchkey.User{Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	s.of = users.AccountRef{UserID: u.ID, Provider: s.issuer.Provider().ID, ProviderAccountID: "ada"}
	err = store.LinkAccount(t.Context(), latchkey.Account{
		UserID: u.ID, Provider: s.of.Provider, ProviderAccountID: "ada", Type: latchkey.TypeOIDC,
		Tokens: latchkey.Tokens{AccessToken: "access-1", TokenType: "bearer", ExpiresAt: s.now.Add(time.Hour)},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.auth, err = latchkey.New(latchkey.Config{
		Secrets: []string{"a secret of at least 32 characters"}, Site: latchkey.Site{URL: "https://app.example"},
		Adapter: store, Providers: []latchkey.Provider{s.issuer.Provider()}, Runtime: latchkey.Runtime{Time: s.time},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// T-061: x/oauth2 never sees a refresh token, so that it renews nothing by itself.
func TestSource(t *testing.T) {
	s := newSite(t)
	t.Run("T-061 many callers of a reused source make no token request", func(t *testing.T) {
		reused := oauth2.ReuseTokenSource(nil, oauth2source.New(t.Context(), s.auth.Users(), s.of, users.TokenOptions{}))
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				token, err := reused.Token()
				if err != nil || token.AccessToken != "access-1" || token.RefreshToken != "" || !token.Valid() {
					t.Errorf("%v", err)
				}
			})
		}
		wait.Wait()
		if n := s.issuer.Count(latchkeytest.PathToken); n != 0 {
			t.Errorf("%d token requests", n)
		}
	})
	t.Run("T-061 an error is Latchkey's", func(t *testing.T) {
		of := s.of
		of.UserID = "eve"
		if _, err := oauth2source.New(t.Context(), s.auth.Users(), of, users.TokenOptions{}).Token(); !errors.Is(err, latchkey.ErrNotFound) {
			t.Errorf("%v", err)
		}
	})
	t.Run("T-061 the expiry is early, and the refresh token stays out", func(t *testing.T) {
		end := time.Now().Add(time.Hour)
		got := oauth2source.Token(latchkey.Tokens{AccessToken: "a", RefreshToken: "r", TokenType: "bearer", ExpiresAt: end})
		if got.RefreshToken != "" || !got.Expiry.Before(end) || got.Expiry.Before(end.Add(-time.Minute-time.Second)) {
			t.Errorf("expiry %v, want a minute before %v", got.Expiry, end)
		}
		if got := oauth2source.Token(latchkey.Tokens{AccessToken: "a"}); !got.Expiry.IsZero() {
			t.Errorf("a token of unknown life expires at %v", got.Expiry)
		}
	})
}

func ExampleNew() {
	var auth *latchkey.Auth // of latchkey.New
	call := func(ctx context.Context, userID string) (*http.Client, error) {
		if auth == nil {
			return nil, errors.New("no site")
		}
		account := users.AccountRef{UserID: userID, Provider: "google"}
		return oauth2.NewClient(ctx, oauth2source.New(ctx, auth.Users(), account, users.TokenOptions{})), nil
	}
	_, err := call(context.Background(), "1")
	fmt.Println(err)
	// Output: no site
}
