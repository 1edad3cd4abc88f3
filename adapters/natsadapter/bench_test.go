package natsadapter_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/latchkeyhq/latchkey"
)

// beside runs what the adapter does and the bare calls that do the same in turns,
// so that both see the same machine, and reports the medians of both and how much
// longer ours takes.
func beside(b *testing.B, ours, bare func() error) {
	b.Helper()
	var spent [2][]time.Duration
	for b.Loop() {
		for i, f := range []func() error{ours, bare} {
			begun := time.Now()
			err := f()
			spent[i] = append(spent[i], time.Since(begun))
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	var median [2]float64
	for i := range spent {
		slices.Sort(spent[i])
		median[i] = float64(spent[i][len(spent[i])/2])
	}
	b.ReportMetric(median[0], "ns-ours")
	b.ReportMetric(median[1], "ns-bare")
	b.ReportMetric(median[0]/median[1], "ratio")
}

func BenchmarkRead(b *testing.B) {
	js := alone(b)
	kv := newBucket(b, js, 1)
	a, ctx := on(b, js, kv), b.Context()
	u, err := a.CreateUser(ctx, latchkey.User{Name: "Ada Lovelace", Email: "ada@example.com", EmailVerified: time.Now(), Image: "https://example.com/a.png"})
	ok(b, err)
	now := time.Now()
	ok(b, a.CreateSession(ctx, latchkey.StoredSession{
		ID: "9f1c7a52-6a0e-4d3c-8a55-0d9c2a1b7e44", Token: "t", UserID: u.ID, Expires: now.Add(30 * 24 * time.Hour), Created: now,
		UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", Provider: "github", Proved: now,
	}))
	keys, err := kv.ListKeysFiltered(ctx, "s.>")
	ok(b, err)
	session := <-keys.Keys()
	bare := func(key string) error {
		_, err := kv.Get(ctx, key)
		return err
	}
	b.Run("GetSession", func(b *testing.B) {
		beside(b, func() error {
			_, err := a.GetSession(ctx, "t")
			return err
		}, func() error { return bare(session) })
	})
	b.Run("GetSessionAndUser", func(b *testing.B) {
		beside(b, func() error {
			_, _, err := a.GetSessionAndUser(ctx, "t")
			return err
		}, func() error {
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
	kv := newBucket(b, js, 1)
	a, ctx, rate := on(b, js, kv), b.Context(), latchkey.Rate{Events: 1e9, Per: time.Hour}
	_, err := kv.Create(ctx, "bare", []byte("1"), jetstream.KeyTTL(time.Hour))
	ok(b, err)
	beside(b, func() error {
		_, err := a.Take(ctx, "mail:ada@example.com", rate)
		return err
	}, func() error {
		e, err := kv.Get(ctx, "bare")
		if err == nil {
			_, err = kv.Update(ctx, "bare", []byte("2"), e.Revision())
		}
		return err
	})
}
