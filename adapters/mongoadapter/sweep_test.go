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
