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
		for found := batch; found == batch; {
			begun := time.Now()
			if deadline, has := ctx.Deadline(); has && longest > 0 && begun.Add(2*longest).After(deadline) {
				return total, storage.ErrUnfinished
			}
			var gone int
			if found, gone, err = sweep(ctx, c, before); err != nil {
				return total, fail(ctx, "sweep", err)
			}
			total += gone
			longest = max(longest, time.Since(begun))
		}
	}
	return total, nil
}

// sweep removes at most one batch of expired documents. It returns how many it has found
// and how many of them it has removed: another sweep may have removed some of them. A
// document that was renewed since it was found stays.
func sweep(ctx context.Context, c *collection, before time.Time) (found, removed int, err error) {
	expired := bson.D{{Key: "expires", Value: bson.D{{Key: "$lt", Value: before}}}}
	ids, err := idsOf(ctx, c, expired, batch)
	if err != nil || len(ids) == 0 {
		return 0, 0, err
	}
	gone, err := c.DeleteMany(ctx, append(expired, amongIDs(ids)...))
	if err != nil {
		return len(ids), 0, err
	}
	return len(ids), int(gone.DeletedCount), nil
}

// idsOf returns the ids of the documents that filter names, in any order: at most as many
// as limit says, or all if limit is 0.
func idsOf(ctx context.Context, c *collection, filter bson.D, limit int64) (ids bson.A, err error) {
	found, err := c.Find(ctx, filter, options.Find().SetLimit(limit).SetProjection(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		return nil, err
	}
	var rows []struct {
		ID any `bson:"_id"`
	}
	err = found.All(ctx, &rows)
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return ids, err
}

// amongIDs returns the filter of the documents with one of the ids.
func amongIDs(ids bson.A) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}
}
