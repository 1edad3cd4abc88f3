package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

var ada = latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com", EmailVerified: true}

const alicesEmail = "alice@example.com"

// ways are the providers of a site under test, and what tells them who comes.
type ways struct {
	issuer *latchkeytest.Issuer
	mails  latchkeytest.Mailbox
}

func (w *ways) providers(users *store) []latchkey.Provider {
	return []latchkey.Provider{
		w.issuer.Provider(),
		&latchkey.Email{Send: w.mails.Send},
		&latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "password", Type: "password"}},
			Authorize: func(ctx context.Context, fields map[string]string, _ *latchkey.Request) (latchkey.User, error) {
				if fields["password"] != "wonderland" {
					return latchkey.User{}, latchkey.ErrCredentialsSignin
				}
				u, err := users.GetUserByEmail(ctx, alicesEmail)
				if errors.Is(err, latchkey.ErrNotFound) {
					return users.CreateUser(ctx, latchkey.User{Name: "Alice", Email: alicesEmail})
				}
				return u, err
			},
		},
	}
}

// newPair starts two instances behind a balancer and returns how to sign in there.
func newPair(t *testing.T, s settings) (*balancer, *httptest.Server, *ways) {
	t.Helper()
	w := &ways{issuer: latchkeytest.NewIssuer(t)}
	w.issuer.SignInAs(ada)
	var b *balancer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	users, err := openStore(t.Context(), s.databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	s.siteURL, s.secret, s.providers = server.URL, "a secret that both instances know", w.providers(users)
	if b, err = start(context.WithoutCancel(t.Context()), s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), users.close()); err != nil {
			t.Error(err)
		}
	})
	return b, server, w
}

// drive goes through every way to sign in twice, so that each request reaches either
// instance.
func drive(t *testing.T, b *balancer, siteURL string, w *ways) {
	t.Helper()
	for shift := range uint64(2) {
		for _, flow := range []struct {
			name, email string
			signIn      func(*latchkeytest.Client)
		}{
			{"identity provider", ada.Email, func(c *latchkeytest.Client) { c.SignIn(w.issuer) }},
			{"password", alicesEmail, func(c *latchkeytest.Client) { c.SignInCredentials(map[string]string{"password": "wonderland"}) }},
			{"magic link", "by.link@example.com", func(c *latchkeytest.Client) { c.SignInByEmail("by.link@example.com", &w.mails) }},
		} {
			b.next.Store(shift)
			c := latchkeytest.NewClientAt(t, siteURL)
			flow.signIn(c)
			if seen := greetedBy(t, c, flow.email); len(seen) != 2 {
				t.Errorf("%s, shift %d: only %v answered", flow.name, shift, seen)
			}
			c.SignOut()
			for range 2 {
				if c.Get("/").Status == http.StatusOK {
					t.Errorf("%s, shift %d: an instance has not heard of the sign-out", flow.name, shift)
				}
			}
		}
	}
}

// greetedBy returns the instances that greet the user of an address.
func greetedBy(t *testing.T, c *latchkeytest.Client, email string) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	for range 4 {
		p := c.Get("/")
		hello, name, _ := strings.Cut(string(p.Body), ", from ")
		if p.Status != http.StatusOK || hello != "Hello, "+email {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		seen[name] = true
	}
	return seen
}

var strategies = []latchkey.Strategy{latchkey.DatabaseSessions, latchkey.JWTSessions}

func TestInstancesAreOneSite(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			databaseURL := "sqlite:" + filepath.Join(t.TempDir(), "auth.db")
			b, server, w := newPair(t, settings{databaseURL: databaseURL, strategy: strategy})
			drive(t, b, server.URL, w)
		})
	}
}

// TestURLs checks that an error names the variable and never repeats a password.
func TestURLs(t *testing.T) {
	sqlite := "sqlite:" + filepath.Join(t.TempDir(), "auth.db")
	for _, row := range []struct{ name, databaseURL, redisURL, variable string }{
		{"an unknown database", "oracle://u:hunter2@db/x", "", "DATABASE_URL"},
		{"a MySQL URL with a broken host", "mysql://u:hunter2@[db/x", "", "DATABASE_URL"},
		{"a PostgreSQL URL with a broken host", "postgres://u:hunter2@[db/x", "", ""},
		{"no Redis URL", sqlite, "http://u:hunter2@cache", "REDIS_URL"},
		{"a Redis URL with a broken host", sqlite, "redis://u:hunter2@[cache", "REDIS_URL"},
		{"an unknown option of Redis Cluster", sqlite, "redis://u:hunter2@cache:1?pool_size=many&addr=cache:2", "REDIS_URL"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b, err := start(t.Context(), settings{databaseURL: row.databaseURL, redisURL: row.redisURL})
			if b != nil || err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), row.variable) {
				t.Errorf("error %v", err)
			}
		})
	}
}
