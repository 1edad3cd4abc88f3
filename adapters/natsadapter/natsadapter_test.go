package natsadapter_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/latchkeyhq/latchkey/adapters/natsadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestOneServer: S-004 and S-001, every promise of every ability without
// exceptions, and what else one server shows.
func TestOneServer(t *testing.T) {
	js := alone(t)
	suites(t, js, 1)
	for name, f := range map[string]func(*testing.T, jetstream.JetStream){
		"lost answers": lostAnswers, "Migrate": migrate, "Check": check, "New refuses": newRefuses, "S-055 renewals lengthen the TTL": renewalLengthensTTL,
		"New refuses streams that lose": newRefusesStreams, "lists hold nothing ended": listsHoldNothingEnded, "a foreign value": foreignValue,
	} {
		t.Run(name, func(t *testing.T) { f(t, js) })
	}
}

// TestThreeServers: S-004, S-001, S-051 and S-070.
func TestThreeServers(t *testing.T) {
	js, nodes := three(t)
	suites(t, js, 3)
	t.Run("S-051 pairs", func(t *testing.T) { pairs(t, empty(t, js, 3)) })
	t.Run("S-070 the leader is lost", func(t *testing.T) { leaderIsLost(t, js, nodes) })
}

// suites gives each promise an empty bucket, which is always the same.
func suites(t *testing.T, js jetstream.JetStream, replicas int) {
	bucket := newBucket(t, js, replicas)
	s, err := js.Stream(t.Context(), "KV_"+bucket)
	ok(t, err)
	open := func(t *testing.T) *natsadapter.Adapter {
		ok(t, s.Purge(t.Context()))
		return on(t, js, bucket)
	}
	storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return open(t) })
	latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return open(t) })
	storagetest.TestStores(t, func(t *testing.T) any { return open(t) })
}

// deaf is a client that hears each second answer only to what it writes.
type deaf struct {
	jetstream.JetStream
	writes *atomic.Int64
}

// PublishMsg implements [jetstream.Publisher].
func (d deaf) PublishMsg(ctx context.Context, m *nats.Msg, o ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	answer, err := d.JetStream.PublishMsg(ctx, m, o...)
	if d.writes.Add(1)%2 == 1 {
		return nil, nats.ErrTimeout
	}
	return answer, err
}

// A write whose answer was lost is repeated, and is no conflict with itself.
func lostAnswers(t *testing.T, js jetstream.JetStream) {
	a, ctx, expires := empty(t, deaf{js, new(atomic.Int64)}, 1), t.Context(), time.Now().Add(time.Hour)
	u, err := a.CreateUser(ctx, storage.User{Email: "ada@example.com"})
	ok(t, err)
	email := "lovelace@example.com"
	_, err = a.UpdateUser(ctx, u.ID, storage.UserChange{Email: &email})
	ok(t, err)
	ok(t, a.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1"}))
	ok(t, a.CreateSession(ctx, storage.StoredSession{Token: "t", UserID: u.ID, Expires: expires}))
	ok(t, a.UpdateSession(ctx, "t", expires.Add(time.Hour)))
	_, err = a.DeleteSession(ctx, "t")
	ok(t, err)
	ok(t, a.CreateVerificationToken(ctx, storage.VerificationToken{Identifier: email, Token: "t", Expires: expires}))
	_, err = a.UseVerificationToken(ctx, email, "t")
	ok(t, err)
	if first, err := a.Use(ctx, "state", expires); err != nil || !first {
		t.Errorf("Use: %t, error %v", first, err)
	}
	_, err = a.DeleteUser(ctx, u.ID)
	ok(t, err)
}

func migrate(t *testing.T, js jetstream.JetStream) {
	t.Run("many at once, and again", func(t *testing.T) {
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if err := natsadapter.Migrate(t.Context(), js, "shared", natsadapter.Options{Replicas: 1}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	t.Run("a bucket made by the client", func(t *testing.T) {
		_, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "theirs", Description: "kept"})
		ok(t, err)
		for _, want := range []string{"direct reads", "marker TTL", "Migrate"} {
			if _, err := natsadapter.New(t.Context(), js, "theirs", natsadapter.Options{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one that names %q", err, want)
			}
		}
		ok(t, natsadapter.Migrate(t.Context(), js, "theirs", natsadapter.Options{Replicas: 1}))
		on(t, js, "theirs")
		s, err := js.Stream(t.Context(), "KV_theirs")
		ok(t, err)
		if said := s.CachedInfo().Config.Description; said != "kept" {
			t.Errorf("its description is %q", said)
		}
	})
	t.Run("what cannot be mended stays", func(t *testing.T) {
		for want, c := range map[string]jetstream.KeyValueConfig{
			"history": {Bucket: "history", History: 5, LimitMarkerTTL: time.Minute},
			"expires": {Bucket: "ttl", TTL: time.Hour, LimitMarkerTTL: time.Minute},
		} {
			_, err := js.CreateKeyValue(t.Context(), c)
			ok(t, err)
			if err := natsadapter.Migrate(t.Context(), js, c.Bucket, natsadapter.Options{Replicas: 1}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Migrate: error %v, want one that names %q", err, want)
			}
			if _, err := natsadapter.New(t.Context(), js, c.Bucket, natsadapter.Options{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("New: error %v, want one that names %q", err, want)
			}
			s, err := js.Stream(t.Context(), "KV_"+c.Bucket)
			ok(t, err)
			if !s.CachedInfo().Config.AllowDirect {
				t.Error("half of it was changed")
			}
		}
	})
}

func check(t *testing.T, js jetstream.JetStream) {
	if err := natsadapter.Check(t.Context(), js, "none", natsadapter.Options{}); !errors.Is(err, natsadapter.ErrNotMigrated) {
		t.Errorf("without a bucket: %v", err)
	}
	_, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "memory", LimitMarkerTTL: time.Minute, Storage: jetstream.MemoryStorage})
	ok(t, err)
	if err := natsadapter.Check(t.Context(), js, "memory", natsadapter.Options{}); err == nil || !strings.Contains(err.Error(), "direct reads") {
		t.Errorf("before Migrate: %v", err)
	}
	if _, err := natsadapter.Warnings(t.Context(), js, "memory", natsadapter.Options{}); err == nil || !strings.Contains(err.Error(), "direct reads") {
		t.Errorf("warnings before Migrate: %v", err)
	}
	ok(t, natsadapter.Migrate(t.Context(), js, "memory", natsadapter.Options{Replicas: 1}))
	ok(t, natsadapter.Migrate(t.Context(), js, "memory", natsadapter.Options{})) // which keeps the number of copies
	ok(t, natsadapter.Check(t.Context(), js, "memory", natsadapter.Options{}))
	lacking, err := natsadapter.Warnings(t.Context(), js, "memory", natsadapter.Options{})
	if text := strings.Join(lacking, "\n"); err != nil || len(lacking) != 2 || !strings.Contains(text, "a third copy") || !strings.Contains(text, "files") {
		t.Errorf("lacking %q, error %v", lacking, err)
	}
}

func newRefuses(t *testing.T, js jetstream.JetStream) {
	bucket := newBucket(t, js, 1)
	if _, err := natsadapter.New(t.Context(), js, "", natsadapter.Options{}); err == nil {
		t.Error("no bucket was accepted")
	}
	if _, err := natsadapter.New(t.Context(), nil, bucket, natsadapter.Options{}); err == nil {
		t.Error("no JetStream was accepted")
	}
	ok(t, js.DeleteKeyValue(t.Context(), bucket))
	if _, err := natsadapter.New(t.Context(), js, bucket, natsadapter.Options{}); err == nil || !strings.Contains(err.Error(), "Migrate") {
		t.Errorf("a bucket that is gone: error %v", err)
	}
}

// newRefusesStreams: NATS gives a stream of any settings as a bucket.
func newRefusesStreams(t *testing.T, js jetstream.JetStream) {
	for want, set := range map[string]func(*jetstream.StreamConfig){
		"waits for": func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy },
		"copies":    func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "others"}} },
		"other names": func(c *jetstream.StreamConfig) {
			c.SubjectTransform = &jetstream.SubjectTransformConfig{Destination: "other.>"}
		},
		"before":     func(c *jetstream.StreamConfig) { c.PersistMode = jetstream.AsyncPersistMode },
		"answers no": func(c *jetstream.StreamConfig) { c.NoAck = true },
		"ended":      func(c *jetstream.StreamConfig) { c.DiscardNewPerSubject = true },
		"removing":   func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
	} {
		s, err := js.Stream(t.Context(), "KV_"+newBucket(t, js, 1))
		ok(t, err)
		c := s.CachedInfo().Config
		ok(t, js.DeleteStream(t.Context(), c.Name))
		set(&c)
		_, err = js.CreateStream(t.Context(), c)
		ok(t, err)
		bucket := strings.TrimPrefix(c.Name, "KV_")
		if _, err := natsadapter.New(t.Context(), js, bucket, natsadapter.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New: error %v, want one that names %q", err, want)
		}
		if err := natsadapter.Migrate(t.Context(), js, bucket, natsadapter.Options{Replicas: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Migrate: error %v, want one that names %q", err, want)
		}
	}
}

// ttl is what a session's message lives, as its last writer said.
func ttl(t *testing.T, js jetstream.JetStream, bucket string, key string) time.Duration {
	t.Helper()
	s, err := js.Stream(t.Context(), "KV_"+bucket)
	ok(t, err)
	m, err := s.GetLastMsgForSubject(t.Context(), "$KV."+bucket+"."+key)
	ok(t, err)
	d, err := time.ParseDuration(m.Header.Get("Nats-TTL") + "s")
	ok(t, err)
	return d
}

// renewalLengthensTTL: a renewal lengthens what the server knows of the life of a session, too.
func renewalLengthensTTL(t *testing.T, js jetstream.JetStream) {
	bucket := newBucket(t, js, 1)
	a := on(t, js, bucket)
	ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: "u", Expires: time.Now().Add(time.Hour)}))
	kv := keysOf(t, js, bucket)
	keys, err := kv.ListKeysFiltered(t.Context(), "s.>")
	ok(t, err)
	key := <-keys.Keys()
	for _, hours := range []time.Duration{1, 30 * 24} {
		expires := time.Now().Add(hours * time.Hour)
		ok(t, a.UpdateSession(t.Context(), "t", expires))
		s, err := a.GetSession(t.Context(), "t")
		ok(t, err)
		if s.Expires.Before(expires.Truncate(time.Millisecond)) {
			t.Errorf("it expires %v, want %v", s.Expires, expires)
		}
		if got, want := ttl(t, js, bucket, key), (hours+24)*time.Hour; got < want-time.Minute || got > want+time.Minute {
			t.Errorf("the server keeps it for %v, want %v", got, want)
		}
	}
	_, err = a.DeleteSession(t.Context(), "t")
	ok(t, err)
	if got := ttl(t, js, bucket, key); got > 25*time.Hour {
		t.Errorf("its mark stays for %v, want a day", got)
	}
	if _, err := kv.Get(t.Context(), key); !errors.Is(err, jetstream.ErrKeyNotFound) {
		t.Errorf("others see an ended session: error %v", err)
	}
}

// Ended sessions leave nothing in the list of a user.
func listsHoldNothingEnded(t *testing.T, js jetstream.JetStream) {
	bucket := newBucket(t, js, 1)
	a := on(t, js, bucket)
	for range 50 {
		ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: "u", Expires: time.Now().Add(time.Hour)}))
		_, err := a.DeleteSession(t.Context(), "t")
		ok(t, err)
	}
	s, err := js.Stream(t.Context(), "KV_"+bucket)
	ok(t, err)
	info, err := s.Info(t.Context(), jetstream.WithSubjectFilter("$KV."+bucket+".b.>"))
	ok(t, err)
	if n := len(info.State.Subjects); n > 0 {
		t.Errorf("%d entries are left", n)
	}
}

// A bucket of another domain is written by way of that domain.
func TestDomain(t *testing.T) {
	config := filepath.Join(t.TempDir(), "nats.conf")
	ok(t, os.WriteFile(config, []byte("jetstream: {domain: hub}"), 0o600))
	nc := client(t, realservers.NewNATS(t, "--config", config)).Conn()
	js, err := jetstream.NewWithDomain(nc, "hub")
	ok(t, err)
	a := empty(t, js, 1)
	ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: "u", Expires: time.Now().Add(time.Hour)}))
	if n, err := a.DeleteSessions(t.Context(), "u", ""); n != 1 || err != nil {
		t.Errorf("%d sessions were ended, error %v", n, err)
	}
}

// What somebody else has put there is no session of nobody's.
func foreignValue(t *testing.T, js jetstream.JetStream) {
	bucket := newBucket(t, js, 1)
	a := on(t, js, bucket)
	_, err := keysOf(t, js, bucket).Put(t.Context(), "u.ada", []byte("hello"))
	ok(t, err)
	if _, err := a.GetUser(t.Context(), "ada"); err == nil || errors.Is(err, storage.ErrNotFound) || strings.Contains(err.Error(), "hello") {
		t.Errorf("error %v, want one that is not ErrNotFound and quotes nothing", err)
	}
}
