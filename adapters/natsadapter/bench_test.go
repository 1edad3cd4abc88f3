package natsadapter_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/latchkeyhq/latchkey/internal/turns"
	"github.com/latchkeyhq/latchkey/storage"
)

func BenchmarkRead(b *testing.B) {
	js := alone(b)
	bucket := newBucket(b, js, 1)
	a, ctx := on(b, js, bucket), b.Context()
	u, err := a.CreateUser(ctx, storage.User{Name: "Ada Lovelace", Email: "ada@example.com", EmailVerified: time.Now(), Image: "https://example.com/a.png"})
	ok(b, err)
	now := time.Now()
	ok(b, a.CreateSession(ctx, storage.StoredSession{
		ID: "9f1c7a52-6a0e-4d3c-8a55-0d9c2a1b7e44", Token: "t", UserID: u.ID, Expires: now.Add(30 * 24 * time.Hour), Created: now,
		UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", Provider: "github", Proved: now,
	}))
	kv := keysOf(b, js, bucket)
	keys, err := kv.ListKeysFiltered(ctx, "s.>")
	ok(b, err)
	session := <-keys.Keys()
	bare := func(key string) error {
		_, err := kv.Get(ctx, key)
		return err
	}
	b.Run("GetSession", func(b *testing.B) {
		turns.Compare(b, func(int) error {
			_, err := a.GetSession(ctx, "t")
			return err
		}, func(int) error { return bare(session) })
	})
	b.Run("GetSessionAndUser", func(b *testing.B) {
		turns.Compare(b, func(int) error {
			_, _, err := a.GetSessionAndUser(ctx, "t")
			return err
		}, func(int) error {
			if err := bare(session); err != nil {
				return err
			}
			return bare("u." + u.ID)
		})
	})
}

// A try at a limit is a read and a write over what was read.
func BenchmarkTake(b *testing.B) {
	js := alone(b)
	bucket := newBucket(b, js, 1)
	a, ctx, rate := on(b, js, bucket), b.Context(), storage.Rate{Events: 1e9, Per: time.Hour}
	kv := keysOf(b, js, bucket)
	_, err := kv.Create(ctx, "bare", []byte("1"), jetstream.KeyTTL(time.Hour))
	ok(b, err)
	turns.Compare(b, func(int) error {
		_, err := a.Take(ctx, "mail:ada@example.com", rate)
		return err
	}, func(int) error {
		e, err := kv.Get(ctx, "bare")
		if err == nil {
			_, err = kv.Update(ctx, "bare", []byte("2"), e.Revision())
		}
		return err
	})
}
