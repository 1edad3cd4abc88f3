package natsadapter_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/latchkeyhq/latchkey/adapters/natsadapter"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/realservers"
)

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// client is connected to whichever of the servers is there.
func client(t testing.TB, servers ...realservers.NATS) jetstream.JetStream {
	t.Helper()
	o := nats.GetDefaultOptions()
	o.MaxReconnect, o.ReconnectWait, o.Timeout = -1, 50*time.Millisecond, patience
	for _, s := range servers {
		o.Servers = append(o.Servers, s.URL)
	}
	nc, err := o.Connect()
	ok(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(patience))
	ok(t, err)
	return js
}

// alone is one server, three are three that have agreed on a leader.
func alone(t testing.TB) jetstream.JetStream { return client(t, realservers.NewNATS(t)) }

func three(t testing.TB) (jetstream.JetStream, []realservers.NATS) {
	t.Helper()
	nodes := realservers.NewNATSCluster(t)
	return client(t, nodes...), nodes
}

var buckets atomic.Int64

// newBucket makes an empty bucket and returns its name.
func newBucket(t testing.TB, js jetstream.JetStream, replicas int) string {
	t.Helper()
	bucket := fmt.Sprint("latchkey-", buckets.Add(1))
	ctx, cancel := context.WithTimeout(t.Context(), race.Patience(time.Minute))
	defer cancel()
	ok(t, natsadapter.Migrate(ctx, js, bucket, natsadapter.Options{Replicas: replicas}))
	return bucket
}

// keysOf is a bucket as the client of NATS sees it.
func keysOf(t testing.TB, js jetstream.JetStream, bucket string) jetstream.KeyValue {
	t.Helper()
	kv, err := js.KeyValue(t.Context(), bucket)
	ok(t, err)
	return kv
}

func on(t testing.TB, js jetstream.JetStream, bucket string) *natsadapter.Adapter {
	t.Helper()
	a, err := natsadapter.New(t.Context(), js, bucket, natsadapter.Options{})
	ok(t, err)
	return a
}

// empty is an adapter on a bucket of its own.
func empty(t testing.TB, js jetstream.JetStream, replicas int) *natsadapter.Adapter {
	t.Helper()
	return on(t, js, newBucket(t, js, replicas))
}
