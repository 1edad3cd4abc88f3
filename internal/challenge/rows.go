package challenge

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/storage"
)

// ErrSpent reports a challenge whose tries are used up.
var ErrSpent = errors.New("all tries are used up")

// Rows are the challenges of one configuration in a store. In a transaction the
// caller makes Rows of the store that is bound to it.
type Rows struct {
	Box   *Box
	Store storage.ChallengeStore
	Now   func() time.Time
}

// Create stores a challenge and returns its handle.
func (r *Rows) Create(ctx context.Context, d Draft) (handle string, err error) {
	handle, row, err := r.Box.Make(d, r.Now())
	if err != nil {
		return "", err
	}
	return handle, r.Store.Create(ctx, row)
}

// Get returns the challenge that a handle names. It returns storage.ErrNotFound if
// there is none for this purpose, or it has expired.
func (r *Rows) Get(ctx context.Context, p Purpose, handle string) (*Row, error) {
	return r.open(p, handle, func(id string) (storage.Challenge, error) { return r.Store.Get(ctx, id) })
}

// Try counts one try before its answer is looked at. If most tries were counted before,
// it ends the challenge and returns [ErrSpent]. It returns storage.ErrNotFound as Get
// does.
func (r *Rows) Try(ctx context.Context, p Purpose, handle string, most int) (*Row, error) {
	row, err := r.Count(ctx, p, handle, most)
	if errors.Is(err, ErrSpent) {
		return nil, errors.Join(ErrSpent, r.End(ctx, p, handle))
	}
	return row, err
}

// Count does what Try does, but leaves a challenge with all tries used up until it
// expires.
func (r *Rows) Count(ctx context.Context, p Purpose, handle string, most int) (*Row, error) {
	row, err := r.open(p, handle, func(id string) (storage.Challenge, error) { return r.Store.Try(ctx, id, most) })
	if errors.Is(err, storage.ErrConflict) {
		return nil, ErrSpent
	}
	return row, err
}

// Take removes the challenge that a handle names, and returns it. Of any number of
// concurrent calls at most one succeeds; the others return storage.ErrNotFound.
func (r *Rows) Take(ctx context.Context, p Purpose, handle string) (*Row, error) {
	return r.open(p, handle, func(id string) (storage.Challenge, error) { return r.Store.Take(ctx, id) })
}

// End removes the challenge that a handle names, if there is one.
func (r *Rows) End(ctx context.Context, p Purpose, handle string) error {
	_, err := r.Store.Take(ctx, r.Box.ID(p, handle))
	return failure.Ignoring(err, storage.ErrNotFound)
}

// List returns all live challenges of a purpose about a user, an address or both,
// the newest first. An empty userID or identifier matches all.
func (r *Rows) List(ctx context.Context, p Purpose, userID, identifier string) ([]*Row, error) {
	found, err := r.all(ctx, storage.ChallengeQuery{Purpose: string(p), Tenant: r.Box.tenant, UserID: userID, Identifier: identifier})
	if err != nil {
		return nil, err
	}
	var rows []*Row
	for i := range found {
		row, err := r.Box.Open(p, &found[i], r.Now())
		if err == nil && (userID == "" || row.UserID == userID) && (identifier == "" || row.Identifier == identifier) {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b *Row) int { return b.Created.Compare(a.Created) })
	return rows, nil
}

const (
	firstLimit = 1000 // of a list; few lists are longer
	moreLimit  = 4    // how many times as many rows are asked for after a full list
)

// all returns the challenges that q names, however many there are. A store that returns
// fewer than it is asked for has no more.
func (r *Rows) all(ctx context.Context, q storage.ChallengeQuery) ([]storage.Challenge, error) {
	for q.Limit = firstLimit; ; q.Limit *= moreLimit {
		found, err := r.Store.List(ctx, q)
		if err != nil || len(found) < q.Limit {
			return found, err
		}
	}
}

// Keep removes challenges of a purpose about a user, all but the newest. newest is how
// many stay.
func (r *Rows) Keep(ctx context.Context, p Purpose, userID string, newest int) error {
	rows, err := r.List(ctx, p, userID, "")
	if err != nil || len(rows) <= newest {
		return err
	}
	for _, row := range rows[newest:] {
		if err := r.EndRow(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// EndRow removes a challenge, if it is still there.
func (r *Rows) EndRow(ctx context.Context, row *Row) error {
	_, err := r.Store.Take(ctx, row.ID)
	return failure.Ignoring(err, storage.ErrNotFound)
}

// maxHandle bounds a handle, which strangers send, before it is hashed.
const maxHandle = 512

// open calls lookUp for the row of a handle and opens it. It returns storage.ErrNotFound
// for a handle that is empty or too long, and as Box.Open does.
func (r *Rows) open(p Purpose, handle string, lookUp func(id string) (storage.Challenge, error)) (*Row, error) {
	if handle == "" || len(handle) > maxHandle {
		return nil, storage.ErrNotFound
	}
	id := r.Box.ID(p, handle)
	found, err := lookUp(id)
	if err != nil {
		return nil, err
	}
	if found.ID != id {
		return nil, storage.ErrNotFound
	}
	return r.Box.Open(p, &found, r.Now())
}
