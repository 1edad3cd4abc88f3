package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// fastSite is a running site with users in a database and sessions, or the end of JWT
// sessions, in Redis.
type fastSite struct {
	*peopleSite
	url    string // of Redis, for --sessions
	redis  realservers.Redis
	issuer *latchkeytest.Issuer
	site   string
}

func newFastSite(t *testing.T, strategy latchkey.Strategy) *fastSite {
	s := &fastSite{peopleSite: newPeopleSite(t, "sqlite:"+filepath.Join(t.TempDir(), "auth.db")), redis: realservers.NewRedisPrimary(t), issuer: latchkeytest.NewIssuer(t)}
	s.url = "redis://me:hunter2@" + s.redis.Addr + "?prefix=site:"
	s.redis.Ask(t, "ACL SETUSER me on >hunter2 ~* +@all")
	client := redis.NewClient(&redis.Options{Addr: s.redis.Addr, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = client.Close() })
	fast, err := redisadapter.New(client, redisadapter.Options{Prefix: "site:"})
	s.must(err)
	var auth *latchkey.Auth
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { auth.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	s.site = server.URL
	c := latchkey.Config{
		Site: latchkey.Site{URL: s.site}, Secrets: []string{newerSecret}, Adapter: s.store, Providers: []latchkey.Provider{s.issuer.Provider()},
		Session: latchkey.SessionConfig{Strategy: strategy, Revocations: fast}, Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
	}
	if strategy == latchkey.DatabaseSessions {
		c.Session.Store, c.Session.Revocations = fast, nil
	}
	auth, err = latchkey.New(c)
	s.must(err)
	s.env = environment{s.env[0], "AUTH_URL=" + s.site + "/auth", "AUTH_SECRET=" + newerSecret}
	return s
}

// signIn returns a browser of a new user, and the user's id.
func (s *fastSite) signIn(name string) (*latchkeytest.Client, string) {
	s.Helper()
	s.issuer.SignInAs(latchkeytest.Person{Subject: name, Email: name + "@new.example", EmailVerified: true})
	c := latchkeytest.NewClientAt(s.T, s.site)
	c.SignIn(s.issuer)
	u, err := s.store.GetUserByEmail(s.Context(), name+"@new.example")
	s.must(err)
	s.now = time.Now().Add(time.Minute) // after the sign-in, whatever a second is
	return c, u.ID
}

// TestSessionsElsewhere ends sessions that live in a store beside the database, by
// each command that says it ends them.
func TestSessionsElsewhere(t *testing.T) {
	for _, strategy := range []latchkey.Strategy{latchkey.DatabaseSessions, latchkey.JWTSessions} {
		t.Run(string(strategy), func(t *testing.T) {
			s := newFastSite(t, strategy)
			for _, command := range []string{"suspend", "end-sessions", "reset-factors", "erase --yes", "delete --yes"} {
				words := strings.Fields(command)
				browser, id := s.signIn(words[0])
				other, _ := s.signIn("other-of-" + words[0])
				args := append(append([]string{"user", words[0], id}, words[1:]...), "--sessions", s.url)
				s.says(exitOK, ", also in Redis at "+s.redis.Addr, args...)
				if browser.Session() != nil {
					t.Errorf("R-774 after %s the user is signed in", command)
				}
				if other.Session() == nil {
					t.Errorf("R-774 %s has signed out another user", command)
				}
			}
			browser, id := s.signIn("ada")
			all := s.env
			s.env = append(all[:len(all):len(all)], "SESSIONS_URL="+s.url)
			s.says(exitOK, ", also in Redis", "user", "end-sessions", id)
			if browser.Session() != nil {
				t.Error("R-774 SESSIONS_URL is not read")
			}
			s.env = environment{all[0], all[1]}
			s.says(exitProblem, "AUTH_SECRET is not set", "user", "reset-factors", id, "--sessions", s.url)
		})
	}
}

// TestSessionsThatCannotBeReached: a store that does not answer, or a URL of none,
// leaves everything as it was.
func TestSessionsThatCannotBeReached(t *testing.T) {
	s := newPeopleSite(t, "sqlite:"+filepath.Join(t.TempDir(), "auth.db"))
	server := realservers.NewRedisPrimary(t)
	for _, row := range []struct {
		url, says string
		code      int
	}{
		{"redis://me:hunter2@" + server.Addr, "it refuses the user or the password (WRONGPASS). Check both in its URL. Nothing was changed", exitProblem},
		{"redis://:hunter2@127.0.0.1:1", "Redis at 127.0.0.1:1: it does not answer", exitProblem},
		{"rediss://:hunter2@127.0.0.1:1/x/y", "--sessions: the URL cannot be read", exitUsage},
		{"redis://me:hunter2/x@db", "--sessions: the URL cannot be read", exitUsage},
		{"redis://127.0.0.1:1?layout=hunter2", "layout is authjs, unstorage or nothing", exitUsage},
		{"redis://127.0.0.1:1?addr=127.0.0.1:2&layout=authjs", "a cluster cannot write keys of Auth.js together", exitProblem},
		{"postgres://me:hunter2@db/site", "SQL keeps sessions in the database of the users", exitUsage},
		{"oracle://me:hunter2@db/site", "--sessions: the URL cannot be read", exitUsage},
		{"nats://me:hunter2@127.0.0.1:1/auth", "--sessions: NATS bucket", exitProblem},
		{"nats://me:hunter2@127.0.0.1:1", "--sessions: name the bucket", exitUsage},
	} {
		s.says(row.code, row.says, "user", "suspend", s.ada.ID, "--sessions", row.url)
		s.says(row.code, row.says, "user", "reset-factors", s.ada.ID, "--sessions", row.url)
	}
	if _, err := s.store.Suspensions().Get(t.Context(), s.ada.ID); err == nil || s.sessions(s.ada.ID) != 1 {
		t.Errorf("R-774 something was changed: %v", err)
	}
}

// TestSessionsInNATS: the stores of migrate and doctor take sessions, too.
func TestSessionsInNATS(t *testing.T) {
	s := newPeopleSite(t, "sqlite:"+filepath.Join(t.TempDir(), "auth.db"))
	url := "nats://" + strings.TrimPrefix(realservers.NewNATS(t).URL, "nats://") + "/auth"
	s.says(exitProblem, "was Migrate forgotten?", "user", "end-sessions", s.ada.ID, "--sessions", url)
	steps(t, url+"?replicas=1", step{"migrate", "it lacks a third copy", 0})
	p := &program{env: s.env}
	apart, err := openSessions(t.Context(), p, url)
	s.must(err)
	defer apart.close()
	s.must(apart.apart.CreateSession(t.Context(), storage.StoredSession{Token: "token in NATS", UserID: s.ada.ID, Expires: time.Now().Add(time.Hour)}))
	s.says(exitOK, `also in NATS bucket "auth"`, "user", "end-sessions", s.ada.ID, "--sessions", url)
	list, err := apart.apart.ListSessions(t.Context(), s.ada.ID)
	if err != nil || len(list) != 0 || s.sessions(s.ada.ID) != 0 {
		t.Errorf("R-774 %d sessions are left, %d in the database: %v", len(list), s.sessions(s.ada.ID), err)
	}
}
