package interop

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/internal/testclock"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/users"
)

// tokenCalls counts the requests to a token endpoint.
type tokenCalls struct{ n atomic.Int64 }

func (c *tokenCalls) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/token") {
		c.n.Add(1)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// dexSite is a site whose only provider is dex, and the person who uses it.
type dexSite struct {
	*site

	client client
	clock  *testclock.Clock
	auth   *latchkey.Auth
	calls  tokenCalls
	who    *person
}

func newDexSite(t *testing.T, strategy latchkey.Strategy) *dexSite {
	t.Helper()
	s := &dexSite{site: newSite(t), clock: testclock.New(time.Now())}
	s.client = client{id: "dex", named: "Ada", set: func(p *latchkey.OAuth) {
		p.Logout = latchkey.Logout{AtProvider: true, BackChannel: true}
		p.Scopes = []string{"openid", "profile", "email", "offline_access"}
	}}
	issuer := realservers.Dex(t, realservers.DexClient{
		ID: s.client.id, Secret: secretOf(s.client.id), RedirectURIs: []string{s.callback(s.client)},
		PostLogoutRedirectURIs: []string{s.signedOut(s.client.id)},
		BackchannelLogoutURI:   s.origin() + "/auth/backchannel-logout/" + s.client.id,
	})
	s.auth = newAuth(t, latchkey.Config{
		Adapter: memoryadapter.New(memoryadapter.Options{}), Session: latchkey.SessionConfig{Strategy: strategy},
		Providers: []latchkey.Provider{s.client.provider(issuer)}, Events: latchkey.Events{SignIn: s.remember},
		Runtime: latchkey.Runtime{Time: s.clock.Now, HTTPClient: &http.Client{Transport: &s.calls, Timeout: patience}},
	})
	s.server.Config.Handler = s.auth
	s.server.Start()
	s.who = newPerson(t, s.origin(), map[string]string{"login": "ada@example.com", "password": "anything"})
	return s
}

// enter signs the person in, in a browser of its own.
func (s *dexSite) enter(t *testing.T) *latchkeytest.Client {
	t.Helper()
	b := latchkeytest.NewClientAt(t, s.origin())
	b.Complete(s.who.signIn(b.Begin(s.client.id).Location()))
	if session := b.Session(); session == nil || session.User.Name != s.client.named {
		t.Fatalf("the session is %+v", session)
	}
	return b
}

// TestDex signs in at dex, whose refresh tokens are good once. Of 100 callers at one
// instant one uses the token (T-021). Two more rounds work: what dex gave is stored.
func TestDex(t *testing.T) {
	s := newDexSite(t, latchkey.DatabaseSessions)
	s.enter(t)
	of := users.AccountRef{UserID: s.last.User.ID, Provider: s.client.id}
	ask := func(rejected string) (string, error) {
		tokens, err := s.auth.Users().AccessToken(context.Background(), of, users.TokenOptions{Rejected: rejected})
		return tokens.AccessToken, err
	}
	held, err := ask("")
	ok(t, err)
	for range 3 {
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // two tokens of dex of one second are equal
		before, got := s.calls.n.Load(), make([]string, 100)
		for _, err := range race.Run(len(got), func(i int) (err error) {
			got[i], err = ask(held)
			return err
		}) {
			ok(t, err)
		}
		for i, token := range got {
			if token == held || token != got[0] {
				t.Fatalf("T-021 caller %d got another token than the first", i)
			}
		}
		if n := s.calls.n.Load() - before; n != 1 {
			t.Fatalf("T-021 %d token requests, want 1", n)
		}
		held = got[0]
		s.clock.Advance(2 * time.Minute) // a new token that is refused at once is not replaced
	}
}

// TestLogoutAtDex signs out here, at dex, and comes back (T-069). A logout token of dex
// ends the session of another browser (T-079).
func TestLogoutAtDex(t *testing.T) {
	for name, strategy := range map[string]latchkey.Strategy{"stored sessions": latchkey.DatabaseSessions, "JWT sessions": latchkey.JWTSessions} {
		t.Run(name, func(t *testing.T) {
			s := newDexSite(t, strategy)
			one, other := s.enter(t), s.enter(t)
			back := s.who.signOut(one.SignOut().Location())
			if back.Path != "/auth/signed-out/"+s.client.id || back.Query().Get("state") == "" {
				t.Fatalf("came back to %s", back)
			}
			if end := one.Get(back.String()); end.Status != http.StatusFound || end.Location().Host != back.Host || end.Location().Path == back.Path {
				t.Errorf("answered %d and leads to %v", end.Status, end.Location())
			}
			if one.Session() != nil {
				t.Error("the sign-out left a session")
			}
			for deadline := time.Now().Add(race.Patience(20 * time.Second)); other.Session() != nil; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the other browser's session lives")
				}
			}
		})
	}
}
