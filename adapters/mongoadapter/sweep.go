package mongoadapter

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkeyhq/latchkey/storage"
)

// batch is how many documents are removed at once: few enough for the time that the
// next batch takes to be known from the last.
const batch = 1000

// Sweep implements [storage.SweepAdapter], for servers that do not remove by themselves
// what has expired. It removes sessions, links, revocations, limits and used values that
// expired before the instant. It removes leases a day after that: until then the next
// holder learns that one was abandoned. It works in batches. If the deadline of ctx
// leaves no time for another batch it returns [storage.ErrUnfinished], since the server
// does not tell how much an interrupted command has removed.
func (a *Adapter) Sweep(ctx context.Context, before time.Time) (total int, err error) {
	var longest time.Duration
	for _, c := range []*collection{a.sessions, a.links, a.revocations, a.limits, a.used, a.leases} {
		before := before
		if c == a.leases {
			before = before.Add(-grace)
		}
		for n := batch; n == batch; total += n {
			begun := time.Now()
			if deadline, has := ctx.Deadline(); has && longest > 0 && begun.Add(2*longest).After(deadline) {
				return total, storage.ErrUnfinished
			}
			if n, err = sweep(ctx, c, before); err != nil {
				return total, fail(ctx, "sweep", err)
			}
			longest = max(longest, time.Since(begun))
		}
	}
	return total, nil
}

// sweep removes at most one batch of expired documents, and returns how many it
// removed. A document that was renewed since it was found stays.
func sweep(ctx context.Context, c *collection, before time.Time) (int, error) {
	expired := bson.D{{Key: "expires", Value: bson.D{{Key: "$lt", Value: before}}}}
	found, err := c.Find(ctx, expired, options.Find().SetLimit(batch).SetProjection(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		return 0, err
	}
	var rows []struct {
		ID any `bson:"_id"`
	}
	if err := found.All(ctx, &rows); err != nil || len(rows) == 0 {
		return 0, err
	}
	ids := make(bson.A, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	gone, err := c.DeleteMany(ctx, append(expired, bson.E{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}))
	if err != nil {
		return 0, err
	}
	return int(gone.DeletedCount), nil
}
