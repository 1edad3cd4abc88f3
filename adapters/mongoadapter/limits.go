package mongoadapter

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkeyhq/latchkey/storage"
)

// What all instances of a site have to agree on. The ids of these documents are
// hashes of their keys, so that nothing in a key can hurt or be read.

// limitDoc says when the budget of a key will be unused again, by the generic cell rate
// algorithm: each event moves that time on by its share of the period, and fits if the time
// is then at most a whole period away.
type limitDoc struct {
	ID      string    `bson:"_id"`
	EmptyAt int64     `bson:"full"` // Unix time in nanoseconds
	Expires time.Time `bson:"expires"`
}

// Take implements [storage.Limiter]. If r.Events or r.Per is not positive, there is no
// limit: Take counts nothing and returns 0. It uses the clock of the instance. An
// instance whose clock is ahead may delay events of the others by that difference. If
// other calls change the key at each of its tries, Take returns an error and counts
// nothing.
func (a *Adapter) Take(ctx context.Context, key string, r storage.Rate) (time.Duration, error) {
	if r.Events <= 0 || r.Per <= 0 {
		return 0, ctx.Err()
	}
	for range tries {
		wait, decided, err := take(ctx, a.limits, keyOf(key), r.Per/time.Duration(r.Events), r.Per)
		if err != nil || decided {
			return wait, fail(ctx, "take", err)
		}
	}
	return 0, fail(ctx, "take", errBusy)
}

// take counts an event in one command if the event fits, or returns how long until it
// does. Each event takes share of the period per. decided is false, and nothing is counted,
// if other calls have changed the limit since take read it, so that the event may not fit
// any more.
func take(ctx context.Context, limits *collection, id string, share, per time.Duration) (wait time.Duration, decided bool, err error) {
	now := time.Now()
	var d limitDoc
	err = find(ctx, limits, bson.D{{Key: "_id", Value: id}}, &d)
	if errors.Is(err, storage.ErrNotFound) {
		err = limits.add(ctx, limitDoc{ID: id, EmptyAt: now.Add(share).UnixNano(), Expires: now.Add(per)})
		if errors.Is(err, storage.ErrConflict) {
			return 0, false, nil
		}
		return 0, err == nil, err
	}
	if err != nil {
		return 0, false, err
	}
	if latest := now.Add(per).UnixNano(); d.EmptyAt > latest { // the clock was set back
		usedUp := bson.D{{Key: "$set", Value: bson.D{{Key: "full", Value: latest}}}}
		_, err := limits.UpdateOne(ctx, bson.D{{Key: "_id", Value: id}, {Key: "full", Value: d.EmptyAt}}, usedUp)
		return share, err == nil, err
	}
	if wait := time.Unix(0, d.EmptyAt).Add(share).Sub(now.Add(per)); wait > 0 {
		return wait, true, nil
	}
	expires := bson.E{Key: "$max", Value: bson.D{{Key: "expires", Value: now.Add(per)}}}
	// The conditions repeat what was read: the budget is unused, or the event still fits.
	condition := bson.D{{Key: "$lte", Value: now.UnixNano()}}
	count := bson.D{{Key: "$set", Value: bson.D{{Key: "full", Value: now.Add(share).UnixNano()}}}, expires}
	if d.EmptyAt > now.UnixNano() {
		condition = bson.D{{Key: "$gt", Value: now.UnixNano()}, {Key: "$lte", Value: now.Add(per - share).UnixNano()}}
		count = bson.D{{Key: "$inc", Value: bson.D{{Key: "full", Value: int64(share)}}}, expires}
	}
	done, err := limits.UpdateOne(ctx, bson.D{{Key: "_id", Value: id}, {Key: "full", Value: condition}}, count)
	return 0, err == nil && done.MatchedCount == 1, err
}

// Return implements [storage.ReturningLimiter]. It does nothing if r.Events or r.Per is
// not positive.
func (a *Adapter) Return(ctx context.Context, key string, r storage.Rate) error {
	if r.Events <= 0 || r.Per <= 0 {
		return ctx.Err()
	}
	used := bson.D{{Key: "_id", Value: keyOf(key)}, {Key: "full", Value: bson.D{{Key: "$gt", Value: time.Now().UnixNano()}}}}
	back := bson.D{{Key: "$inc", Value: bson.D{{Key: "full", Value: -int64(r.Per / time.Duration(r.Events))}}}}
	_, err := a.limits.UpdateOne(ctx, used, back)
	return fail(ctx, "return", err)
}

// Forget implements [storage.Limiter]. It returns nil if nothing is counted under key.
func (a *Adapter) Forget(ctx context.Context, key string) error {
	_, err := a.limits.DeleteOne(ctx, bson.D{{Key: "_id", Value: keyOf(key)}})
	return fail(ctx, "forget", err)
}

// usedDoc is a value that must not be used again before it expires.
type usedDoc struct {
	ID      string    `bson:"_id"`
	Expires time.Time `bson:"expires"`
}

// Use implements [storage.ReplayStore]. It returns true if the value was not used before, or
// if the earlier use has expired by the clock of the instance.
func (a *Adapter) Use(ctx context.Context, key string, expires time.Time) (bool, error) {
	id := keyOf(key)
	err := a.used.add(ctx, usedDoc{ID: id, Expires: expires})
	if !errors.Is(err, storage.ErrConflict) {
		return err == nil, fail(ctx, "use", err)
	}
	passed := bson.D{{Key: "_id", Value: id}, {Key: "expires", Value: bson.D{{Key: "$lte", Value: time.Now()}}}}
	done, err := a.used.UpdateOne(ctx, passed, bson.D{{Key: "$set", Value: bson.D{{Key: "expires", Value: expires}}}})
	return err == nil && done.MatchedCount == 1, fail(ctx, "use", err)
}

// revocationDoc says that what its key names is void if it was issued no later than At.
type revocationDoc struct {
	ID string    `bson:"_id"`
	At time.Time `bson:"at"`
}

// Revoke implements [storage.RevocationStore].
func (a *Adapter) Revoke(ctx context.Context, key string, at, expires time.Time) error {
	latest := bson.D{{Key: "$max", Value: bson.D{{Key: "at", Value: at}, {Key: "expires", Value: expires}}}}
	err := storage.ErrConflict // of several upserts at one time the server refuses all but one
	for n := 0; n < tries && errors.Is(err, storage.ErrConflict); n++ {
		_, err = a.revocations.UpdateOne(ctx, bson.D{{Key: "_id", Value: keyOf(key)}}, latest, options.UpdateOne().SetUpsert(true))
		err = orConflict(err)
	}
	if errors.Is(err, storage.ErrConflict) {
		err = errBusy
	}
	return fail(ctx, "revoke", err)
}

// RevokedAt implements [storage.RevocationStore].
func (a *Adapter) RevokedAt(ctx context.Context, keys ...string) (map[string]time.Time, error) {
	at := map[string]time.Time{}
	if len(keys) == 0 {
		return at, fail(ctx, "revoked at", ctx.Err())
	}
	named, ids := map[string]string{}, bson.A{}
	for _, key := range keys {
		id := keyOf(key)
		if _, twice := named[id]; !twice {
			ids = append(ids, id)
		}
		named[id] = key
	}
	found, err := findAll[revocationDoc](ctx, a.revocations, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
	if err != nil {
		return nil, fail(ctx, "revoked at", err)
	}
	for _, d := range found {
		at[named[d.ID]] = d.At.UTC()
	}
	return at, nil
}
