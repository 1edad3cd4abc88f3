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

// Create stores a challenge and returns its handle. A Handle of d that names a challenge
// of the same purpose already is storage.ErrConflict. Other errors are those of
// [Box.Make] and of the store. The handle is of no use beside an error.
func (r *Rows) Create(ctx context.Context, d Draft) (handle string, err error) {
	handle, row, err := r.Box.Make(d, r.Now())
	if err != nil {
		return "", err
	}
	return handle, r.Store.Create(ctx, row)
}

// Get returns the challenge that a handle names, and counts no try. It returns
// storage.ErrNotFound if there is none for this purpose and tenant, or if it has expired
// or does not open.
func (r *Rows) Get(ctx context.Context, p Purpose, handle string) (*Row, error) {
	row, err := r.stored(ctx, p, handle)
	if err != nil || row.Tries == 0 {
		return row, err
	}
	back, err := r.returned(ctx, row)
	row.Tries = max(0, row.Tries-back)
	return row, err
}

// stored does what Get does, but the Tries of the row are all that were ever counted.
func (r *Rows) stored(ctx context.Context, p Purpose, handle string) (*Row, error) {
	return r.open(p, handle, func(id string) (storage.Challenge, error) { return r.Store.Get(ctx, id) })
}

// Try counts one try at the challenge that a handle names, and returns the challenge.
// Callers call it before they compare the answer. If as many tries as most were counted
// before, Try removes the challenge and returns an error that is [ErrSpent]. It returns
// storage.ErrNotFound where Get does.
func (r *Rows) Try(ctx context.Context, p Purpose, handle string, most int) (*Row, error) {
	row, err := r.Count(ctx, p, handle, most)
	if errors.Is(err, ErrSpent) {
		return nil, errors.Join(ErrSpent, r.End(ctx, p, handle))
	}
	return row, err
}

// Count does what Try does, but does not remove a challenge whose tries are used up. It
// returns ErrSpent until Return gives a try back, or until that challenge expires.
func (r *Rows) Count(ctx context.Context, p Purpose, handle string, most int) (*Row, error) {
	row, err := r.count(ctx, p, handle, most)
	isSpent := errors.Is(err, ErrSpent)
	if isSpent {
		row, err = r.stored(ctx, p, handle)
	}
	if err != nil || !isSpent && row.Tries == 1 {
		return row, err
	}
	back, err := r.returned(ctx, row)
	switch {
	case err != nil:
		return nil, err
	case isSpent && back == 0:
		return nil, ErrSpent
	case isSpent:
		row, err = r.count(ctx, p, handle, most+back)
	}
	if err == nil {
		row.Tries = max(1, row.Tries-back)
	}
	return row, err
}

// count counts one try in the row that a handle names, and returns the row with all tries
// that were ever counted, or ErrSpent if they are as many as most.
func (r *Rows) count(ctx context.Context, p Purpose, handle string, most int) (*Row, error) {
	row, err := r.open(p, handle, func(id string) (storage.Challenge, error) { return r.Store.Try(ctx, id, most) })
	if errors.Is(err, storage.ErrConflict) {
		return nil, ErrSpent
	}
	return row, err
}

// mostReturned is how many tries at one challenge are given back.
const mostReturned = 20

// Return gives one try at a challenge back. The caller has counted that try itself, by Try
// or Count, and calls Return once for it, if an outage kept the answer from being looked
// at. Tries given back are counted in a row beside the challenge, which lives as long.
// That number only grows, and each try in it was counted before: a read that is late
// allows fewer tries, and never more. Return does nothing if the challenge is gone, or if
// 20 tries were given back before.
func (r *Rows) Return(ctx context.Context, p Purpose, handle string) error {
	row, err := r.stored(ctx, p, handle)
	if err != nil {
		return failure.Ignoring(err, storage.ErrNotFound)
	}
	name := backOf(row)
	_, err = r.Create(ctx, Draft{Purpose: Back, Handle: name, UserID: row.UserID, Life: row.Expires.Sub(r.Now())})
	if failure.Ignoring(err, storage.ErrConflict) != nil {
		return err
	}
	_, err = r.count(ctx, Back, name, mostReturned)
	return failure.Ignoring(err, ErrSpent)
}

// returned returns how many tries at the challenge of a row were given back.
func (r *Rows) returned(ctx context.Context, row *Row) (int, error) {
	back, err := r.stored(ctx, Back, backOf(row))
	if err != nil {
		return 0, failure.Ignoring(err, storage.ErrNotFound)
	}
	return back.Tries, nil
}

// backOf returns the handle of the row that counts the tries that Return has given back for
// row. A later challenge with the handle of row has another such row.
func backOf(row *Row) string { return row.ID + " " + row.Created.Format(time.RFC3339Nano) }

// Take removes the challenge that a handle names, and returns it. Of any number of
// concurrent calls at most one succeeds; the others return storage.ErrNotFound. Take also
// returns storage.ErrNotFound where Get does. It then has removed a challenge that had
// expired or does not open.
func (r *Rows) Take(ctx context.Context, p Purpose, handle string) (*Row, error) {
	return r.open(p, handle, func(id string) (storage.Challenge, error) { return r.Store.Take(ctx, id) })
}

// End removes the challenge that a handle names. It returns nil if there is none.
func (r *Rows) End(ctx context.Context, p Purpose, handle string) error {
	_, err := r.Store.Take(ctx, r.Box.ID(p, handle))
	return failure.Ignoring(err, storage.ErrNotFound)
}

// List returns all challenges of a purpose and of the tenant that are about a user and an
// address, the newest first. An empty userID or identifier matches all. List leaves out
// challenges that have expired or do not open.
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

// all returns the challenges that q names, however many there are. It ignores q.Limit,
// and asks for more and more until the store returns fewer than it was asked for.
func (r *Rows) all(ctx context.Context, q storage.ChallengeQuery) ([]storage.Challenge, error) {
	for q.Limit = firstLimit; ; q.Limit *= moreLimit {
		found, err := r.Store.List(ctx, q)
		if err != nil || len(found) < q.Limit {
			return found, err
		}
	}
}

// Keep removes the challenges of a purpose about a user, except the newest ones. newest
// is how many stay. An empty userID stands for all users.
func (r *Rows) Keep(ctx context.Context, p Purpose, userID string, newest int) error {
	rows, err := r.List(ctx, p, userID, "")
	if err != nil || len(rows) <= newest {
		return err
	}
	return r.EndRows(ctx, rows[newest:])
}

// EndRow removes the challenge of a row by its ID. It returns nil if the challenge is
// gone.
func (r *Rows) EndRow(ctx context.Context, row *Row) error {
	_, err := r.Store.Take(ctx, row.ID)
	return failure.Ignoring(err, storage.ErrNotFound)
}

// EndRows removes challenges as EndRow does. After an error it goes on, and joins all.
func (r *Rows) EndRows(ctx context.Context, rows []*Row) (err error) {
	for _, row := range rows {
		err = errors.Join(err, r.EndRow(ctx, row))
	}
	return err
}

// maxHandle bounds a handle, which strangers send, before it is hashed.
const maxHandle = 512

// open calls lookUp with the id of the row that a handle names, and opens the row. It
// returns storage.ErrNotFound where Box.Open does, and also, without calling lookUp, for
// a handle that is empty or too long. It returns errors of lookUp as they are.
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
