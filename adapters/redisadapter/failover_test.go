package redisadapter_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestClusterLosesAPrimary under load: S-061 planned, then S-060 by a crash.
func TestClusterLosesAPrimary(t *testing.T) {
	cluster := realservers.NewRedisCluster(t)
	client := clusterClient(t, cluster)
	t.Run("S-061 planned", func(t *testing.T) {
		l := newLoad(t, on(t, client, redisadapter.Options{Prefix: "planned:"}))
		l.during(t, func() { cluster.Promote(t, 3) }, 200)
		l.judge(t)
		if l.errs*100 > l.calls {
			t.Errorf("%d of %d calls failed, such as by %v", l.errs, l.calls, l.firstErr)
		}
	})
	t.Run("S-060 by a crash", func(t *testing.T) {
		l := newLoad(t, on(t, client, redisadapter.Options{Prefix: "crash:"}))
		cluster.Nodes[1].AwaitCopies(t)
		l.during(t, func() { cluster.Lose(t, 1, nil) }, 400)
		l.judge(t)
		l.within(t, 6*time.Second)
	})
}

// TestSentinelSwitch under load: S-062.
func TestSentinelSwitch(t *testing.T) {
	s := realservers.NewRedisSentinel(t)
	l := newLoad(t, on(t, sentinelClient(t, s), redisadapter.Options{}))
	s.Primary.AwaitCopies(t)
	l.during(t, func() { s.Lose(t) }, 400)
	l.judge(t)
	l.within(t, 5*time.Second)
}

// TestNoEndedSessionComesBack: S-063. A primary is lost 20 times while sessions
// end that must be on its replica before the answer.
func TestNoEndedSessionComesBack(t *testing.T) {
	primary, revived, ended := realservers.NewRedisPrimary(t), 0, 0
	for round := range 20 {
		replica := realservers.NewRedisReplica(t, primary)
		acknowledged := endUntilCrash(t, primary, fmt.Sprint(round, "-"))
		replica.Ask(t, "REPLICAOF NO ONE")
		a := on(t, closing(t, redis.NewClient(&redis.Options{Addr: replica.Addr})), redisadapter.Options{})
		for _, token := range acknowledged {
			if _, err := a.GetSession(t.Context(), token); err == nil {
				revived++
			}
		}
		ended += len(acknowledged)
		primary = replica
	}
	if t.Logf("%d sessions ended, %d came back", ended, revived); revived > 0 {
		t.Errorf("%d of %d ended sessions came back", revived, ended)
	}
}

// endUntilCrash ends sessions from several sides until the server is gone, in the
// middle, and says which ends were answered.
func endUntilCrash(t *testing.T, primary realservers.Redis, prefix string) (acknowledged []string) {
	t.Helper()
	const sessions, sides = 160, 8
	a := on(t, closing(t, redis.NewClient(&redis.Options{Addr: primary.Addr, MaxRetries: -1})), redisadapter.Options{Replicas: 1})
	for i := range sessions {
		ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: fmt.Sprint(prefix, i), UserID: "u", Expires: time.Now().Add(time.Hour)}))
	}
	crashAt := rand.IntN(sessions/sides - 1) // of the first side, which has more to end then
	var (
		mu sync.Mutex
		wg sync.WaitGroup
	)
	for side := range sides {
		wg.Go(func() {
			for i := side; i < sessions; i += sides {
				token := fmt.Sprint(prefix, i)
				if _, err := a.DeleteSession(t.Context(), token); err != nil {
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, token)
				mu.Unlock()
				if i == crashAt*sides {
					primary.Crash()
				}
			}
		})
	}
	wg.Wait()
	if len(acknowledged) == sessions {
		t.Error("all sessions ended before the crash")
	}
	return acknowledged
}

// TestReplicasThatAreNotThere: an end that is on one server alone is an error,
// and done nevertheless. Who tries again, having heard that, hears the same, also
// from another process, whose connections have written nothing.
func TestReplicasThatAreNotThere(t *testing.T) {
	primary := realservers.NewRedisPrimary(t)
	replica := realservers.NewRedisReplica(t, primary)
	client := func() *redis.Client { return closing(t, redis.NewClient(&redis.Options{Addr: primary.Addr})) }
	c := client()
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			lone := on(t, c, redisadapter.Options{Layout: layout, Prefix: name + ":", Replicas: 1})
			for _, token := range []string{"t", "t1", "t2", "t3", "kept"} {
				ok(t, lone.CreateSession(t.Context(), storage.StoredSession{ID: token, Token: token, UserID: "u", Expires: time.Now().Add(time.Hour), ProviderSID: token}))
			}
			u, err := lone.CreateUser(t.Context(), storage.User{ID: "u"})
			ok(t, err)
			link := storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1"}
			ok(t, lone.LinkAccount(t.Context(), link))
			t.Parallel() // the replica is paused now, and each try waits for a second
			for _, end := range []struct {
				what string
				do   func() error
			}{
				{"the end of a session", func() error { _, err := lone.DeleteSession(t.Context(), "t"); return err }},
				{"R-759 the end of a session by its id", func() error { return lone.DeleteSessionByID(t.Context(), u.ID, "t1") }},
				{"R-759 the end of a session at its provider", func() error {
					_, err := lone.DeleteProviderSessions(t.Context(), []string{"t2"}, nil, time.Now())
					if errors.Is(err, errors.ErrUnsupported) { // the layouts of Auth.js end it another way
						_, err = lone.DeleteSession(t.Context(), "t2")
					}
					return err
				}},
				{"R-759 the end of all sessions but one", func() error { _, err := lone.DeleteSessions(t.Context(), u.ID, "kept"); return err }},
				{"the end of all sessions", func() error { _, err := lone.DeleteSessions(t.Context(), u.ID, ""); return err }},
				{"the end of a link", func() error { _, err := lone.UnlinkAccount(t.Context(), "acme", "1"); return err }},
				{"the end of a user", func() error { _, err := lone.DeleteUser(t.Context(), u.ID); return err }},
			} {
				for try := range 2 { // the first has done it
					lone = on(t, client(), redisadapter.Options{Layout: layout, Prefix: name + ":", Replicas: 1})
					if err := end.do(); err == nil || !strings.Contains(err.Error(), "0 of 1 replicas") {
						t.Errorf("%s, try %d: error %v, want one that counts replicas", end.what, try, err)
					}
				}
			}
			_, err = lone.GetSession(t.Context(), "t")
			notFound(t, "the session", err)
		})
	}
	primary.AwaitCopies(t)
	replica.Pause()
	t.Cleanup(replica.Resume)
}

// Redis promises that WAIT is about the writes of its own connection. So a
// repeated end in the layout of Auth.js writes something, whatever it finds. Ours writes
// the marks of what it finds anew.
func TestRepeatedEndsWrite(t *testing.T) {
	primary := realservers.NewRedisPrimary(t)
	realservers.NewRedisReplica(t, primary)
	c := closing(t, redis.NewClient(&redis.Options{Addr: primary.Addr}))
	changes := func() string {
		_, after, _ := strings.Cut(primary.Ask(t, "INFO persistence"), "rdb_changes_since_last_save:")
		n, _, _ := strings.Cut(after, "\r")
		return n
	}
	a := on(t, c, redisadapter.Options{Layout: redisadapter.AuthJS(), Replicas: 1})
	ok(t, a.CreateSession(t.Context(), storage.StoredSession{ID: "kept", Token: "kept", UserID: "u", Expires: time.Now().Add(time.Hour)}))
	// Their errors are of another test: a replica of a busy machine may be late.
	for what, end := range map[string]func(){
		"a session":            func() { _, _ = a.DeleteSession(t.Context(), "t") },
		"an index for a token": func() { _, _ = a.DeleteSession(t.Context(), "by-user-id:u") },
		"a session by its id":  func() { _ = a.DeleteSessionByID(t.Context(), "u", "t") },
		"all sessions but one": func() { _, _ = a.DeleteSessions(t.Context(), "u", "kept") },
	} {
		before := changes()
		end()
		if changes() == before {
			t.Errorf("the end of %s: nothing was written", what)
		}
	}
}

// TestFullServer: S-071. With noeviction, writes fail and nothing is half done;
// reading and signing out go on.
func TestFullServer(t *testing.T) {
	server := realservers.NewRedis(t, "--maxmemory-policy", "noeviction")
	client := closing(t, redis.NewClient(&redis.Options{Addr: server.Addr, ContextTimeoutEnabled: true}))
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			server.Ask(t, "CONFIG SET maxmemory 0")
			a := on(t, client, redisadapter.Options{Layout: layout, Prefix: name + ":"})
			ada, err := signIn(t.Context(), a, "ada", "ada@example.com", "t")
			ok(t, err)
			server.Ask(t, "CONFIG SET maxmemory 1")
			if _, err := signIn(t.Context(), a, "eve", "eve@example.com", "e"); err == nil {
				t.Error("a sign-up succeeded")
			}
			if _, err := signIn(t.Context(), a, "ada", "ada@example.com", "t2"); err == nil {
				t.Error("a sign-in succeeded")
			}
			if err := a.UpdateSession(t.Context(), "t", time.Now().Add(2*time.Hour)); err == nil {
				t.Error("a renewal succeeded")
			}
			s, u, err := a.GetSessionAndUser(t.Context(), "t")
			if err != nil || s.UserID != ada.ID || u.ID != ada.ID {
				t.Errorf("reading: %v of %v, error %v", s, u, err)
			}
			if _, err := a.DeleteSession(t.Context(), "t"); err != nil {
				t.Errorf("signing out: %v", err)
			}
			_, err = a.GetSession(t.Context(), "t")
			notFound(t, "the session that was ended", err)

			server.Ask(t, "CONFIG SET maxmemory 0")
			_, err = a.GetUserByEmail(t.Context(), "eve@example.com")
			notFound(t, "who could not sign up", err)
			for _, token := range []string{"e", "t2"} {
				_, err = a.GetSession(t.Context(), token)
				notFound(t, "session "+token, err)
			}
			_, err = signIn(t.Context(), a, "eve", "eve@example.com", "e")
			ok(t, err)
		})
	}
}
