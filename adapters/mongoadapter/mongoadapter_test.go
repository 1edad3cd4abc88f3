package mongoadapter_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkeyhq/latchkey/adapters/mongoadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// server has an empty database for each caller.
type server struct {
	*realservers.Gate
	client *mongo.Client
	made   atomic.Int64
}

func start(t testing.TB) *server {
	t.Helper()
	s := &server{Gate: realservers.MongoDB(t)}
	s.client = s.connect(t)
	return s
}

func (s *server) connect(t testing.TB) *mongo.Client {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(s.URL))
	ok(t, err)
	t.Cleanup(func() { _ = client.Disconnect(context.WithoutCancel(t.Context())) })
	return client
}

func (s *server) empty() *mongo.Database {
	return s.client.Database(fmt.Sprintf("d%d", s.made.Add(1)))
}

func (s *server) migrated(t testing.TB) *mongo.Database {
	t.Helper()
	db := s.empty()
	ok(t, mongoadapter.Migrate(t.Context(), db, mongoadapter.Options{}))
	return db
}

// reused gives out one database, empty each time: to make one takes longer than
// most tests.
func (s *server) reused(t testing.TB) func(testing.TB) *mongo.Database {
	db := s.migrated(t)
	return func(t testing.TB) *mongo.Database {
		t.Helper()
		names, err := db.ListCollectionNames(t.Context(), bson.D{})
		ok(t, err)
		for _, name := range names {
			_, err := db.Collection(name).DeleteMany(t.Context(), bson.D{})
			ok(t, err)
		}
		return db
	}
}

func newAdapter(t testing.TB, db *mongo.Database, o mongoadapter.Options) *mongoadapter.Adapter {
	t.Helper()
	a, err := mongoadapter.New(db, o)
	ok(t, err)
	return a
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// TestAdapter: S-005.
func TestAdapter(t *testing.T) {
	again := start(t).reused(t)
	storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return newAdapter(t, again(t), mongoadapter.Options{}) })
	latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return newAdapter(t, again(t), mongoadapter.Options{}) })
}

// TestStores: S-001, for this store.
func TestStores(t *testing.T) {
	again := start(t).reused(t)
	t.Run("hashed tokens", func(t *testing.T) {
		storagetest.TestStores(t, func(t *testing.T) any { return newAdapter(t, again(t), mongoadapter.Options{}) })
	})
	t.Run("plain tokens", func(t *testing.T) {
		others := []string{"Limiter", "ReturningLimiter", "ReplayStore", "RevocationStore"} // which tokens are nothing to
		storagetest.TestStores(t, func(t *testing.T) any { return newAdapter(t, again(t), mongoadapter.Options{PlainTokens: true}) }, others...)
	})
}
