package mongoadapter_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkeyhq/latchkey/adapters/mongoadapter"
)

// a sweep keeps a lease for a day after it has expired, so that its next holder
// learns that it was abandoned.
func TestSweepKeepsAbandonedLeases(t *testing.T) {
	db := start(t).migrated(t)
	a, ctx := newAdapter(t, db, mongoadapter.Options{}), t.Context()
	if given, err := a.Lease(ctx, "k", "a", time.Minute); err != nil || !given.Held {
		t.Fatalf("%+v, %v", given, err)
	}
	for _, c := range []struct {
		after time.Duration
		left  int64
	}{{time.Hour, 1}, {24 * time.Hour, 1}, {25 * time.Hour, 0}} {
		_, err := a.Sweep(ctx, time.Now().Add(c.after))
		ok(t, err)
		n, err := db.Collection("leases").CountDocuments(ctx, bson.D{})
		ok(t, err)
		if n != c.left {
			t.Errorf("after %v: %d leases, want %d", c.after, n, c.left)
		}
	}
}

// a sweep goes on until nothing is left, also if another one removes some of what
// it has found.
func TestSweepBesideAnother(t *testing.T) {
	s := start(t)
	db := s.migrated(t)
	docs := make([]any, 1500)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}, {Key: "expires", Value: time.Now().Add(-time.Hour)}}
	}
	used := db.Collection("used_values")
	_, err := used.InsertMany(t.Context(), docs)
	ok(t, err)
	a, done := s.before(t, db, "delete", 0, func() {
		_, err := used.DeleteMany(t.Context(), bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: 1000}}}})
		ok(t, err)
	})
	_, err = a.Sweep(t.Context(), time.Now())
	ok(t, err)
	if n, err := used.CountDocuments(t.Context(), bson.D{}); err != nil || n != 0 || !done() {
		t.Errorf("%d values are left, error %v", n, err)
	}
}
