package natsadapter_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/latchkeyhq/latchkey/adapters/natsadapter"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/storage"
)

// load is people who sign up, and sessions that are opened and ended, from
// several sides; it writes down what was answered.
type load struct {
	a *natsadapter.Adapter

	mu          sync.Mutex
	answered    int
	people      map[string]string // e-mail address to user
	open, ended []string          // tokens
	slowest     time.Duration
	errs        []error
}

// patience is the deadline that the library gives a call.
const patience = 10 * time.Second

func (l *load) call(ctx context.Context, f func(context.Context) error, done func()) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begun := time.Now()
	err := f(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slowest = max(l.slowest, time.Since(begun))
	if err != nil {
		l.errs = append(l.errs, err)
		return
	}
	l.answered++
	done()
}

// visit is one person, who leaves if they came by an even number.
func (l *load) visit(ctx context.Context, name string, leaves bool) {
	email := name + "@example.com"
	var u storage.User
	l.call(ctx, func(ctx context.Context) (err error) {
		u, err = l.a.CreateUser(ctx, storage.User{ID: name, Email: email})
		return err
	}, func() { l.people[email] = u.ID })
	l.call(ctx, func(ctx context.Context) error {
		return l.a.CreateSession(ctx, storage.StoredSession{Token: name, UserID: name, Expires: time.Now().Add(time.Hour)})
	}, func() {
		if !leaves {
			l.open = append(l.open, name)
		}
	})
	if leaves {
		l.call(ctx, func(ctx context.Context) error {
			_, err := l.a.DeleteSession(ctx, name)
			return err
		}, func() { l.ended = append(l.ended, name) })
	}
}

// during keeps the load up from four sides while f runs.
func (l *load) during(ctx context.Context, round int, f func()) {
	over := make(chan struct{})
	var sides sync.WaitGroup
	for side := range 4 {
		sides.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				default:
					l.visit(ctx, fmt.Sprintf("v-%d-%d-%d", round, side, n), n%2 == 0)
				}
			}
		})
	}
	f()
	close(over)
	sides.Wait()
}

// await returns when so many more calls were answered.
func (l *load) await(t *testing.T, more int) {
	t.Helper()
	l.mu.Lock()
	until := l.answered + more
	l.mu.Unlock()
	eventually(t, "calls are answered again", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.answered >= until
	})
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(race.Patience(2 * time.Minute)); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}

// leader is the server that leads the bucket.
func leader(t *testing.T, js jetstream.JetStream, bucket string, nodes []realservers.NATS) (found realservers.NATS) {
	t.Helper()
	eventually(t, "the bucket has a leader and two copies", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		s, err := js.Stream(ctx, "KV_"+bucket)
		if err != nil || s.CachedInfo().Cluster == nil {
			return false
		}
		found = realservers.NATS{}
		copies := 0
		for _, p := range s.CachedInfo().Cluster.Replicas {
			if p.Current && !p.Offline {
				copies++
			}
		}
		for _, n := range nodes {
			if n.Name == s.CachedInfo().Cluster.Leader {
				found = n
			}
		}
		return found.Name != "" && copies == len(nodes)-1
	})
	return found
}

// judge is what must hold afterwards: nothing that was answered is lost, and
// nothing that was ended is back.
func (l *load) judge(t *testing.T) {
	t.Helper()
	for email, id := range l.people {
		if u, err := l.a.GetUserByEmail(t.Context(), email); err != nil || u.ID != id {
			t.Errorf("%s is %q, error %v, want %q", email, u.ID, err, id)
		}
	}
	for _, token := range l.open {
		if _, err := l.a.GetSession(t.Context(), token); err != nil {
			t.Errorf("session %s: %v", token, err)
		}
	}
	for _, token := range l.ended {
		if _, err := l.a.GetSession(t.Context(), token); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("session %s was ended, and reading it gives error %v", token, err)
		}
	}
	t.Logf("%d calls answered, %d people, %d sessions, %d ended; %d errors %v; the slowest call took %v",
		l.answered, len(l.people), len(l.open), len(l.ended), len(l.errs), l.errs[:min(len(l.errs), 2)], l.slowest.Round(time.Millisecond))
}

// leaderIsLost: whoever leads the bucket is taken away under load, and no answered
// write is lost. LATCHKEY_RACES says how often it is killed, up to 20 times; without
// it once, since the others notice after four to nine seconds.
func leaderIsLost(t *testing.T, js jetstream.JetStream, nodes []realservers.NATS) {
	for _, way := range []struct {
		name  string
		times int
		end   func(realservers.NATS)
	}{
		{"stopped", 1, realservers.NATS.Stop},
		{"killed", min(repeats(t, 1), 20), realservers.NATS.Crash},
	} {
		servers := t // who started them again ends them
		t.Run(way.name, func(t *testing.T) {
			bucket := newBucket(t, js, 3)
			l := &load{a: on(t, js, bucket), people: map[string]string{}}
			for round := range way.times {
				lost := leader(t, js, bucket, nodes)
				l.during(t.Context(), round, func() {
					l.await(t, 20)
					way.end(lost)
					l.await(t, 40)
				})
				lost.Restart(servers)
			}
			leader(t, js, bucket, nodes)
			l.judge(t)
			eventually(t, "with all three again nothing is lacking", func() bool {
				lacking, err := natsadapter.Warnings(t.Context(), js, bucket, natsadapter.Options{})
				return err == nil && len(lacking) == 0
			})
		})
	}
}
