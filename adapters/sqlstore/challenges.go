package sqlstore

import (
	"cmp"
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/storage"
)

// mostChallenges is the length of a list that a query with no limit returns.
const mostChallenges = 1000

// Challenges implements [storage.ChallengeAdapter]. The calls of the store return an
// [errors.ErrUnsupported] if the layout has no table for challenges.
func (s *Store) Challenges() storage.ChallengeStore { return challenges{s.db} }

// challenges stores challenges.
type challenges struct{ db *database }

// challengeRow is what a row of challenges is read into.
type challengeRow struct {
	c                storage.Challenge
	tries            int64
	created, expires instant
}

// dest returns a destination in r for each column of challenges, in the order of package
// model. The caller passes the list to database.into.
func (r *challengeRow) dest() []any {
	c := &r.c
	return []any{&c.ID, &c.Purpose, &c.Tenant, &c.UserID, &c.Identifier, &c.Data, &r.tries, &r.created, &r.expires}
}

// read returns the challenge of the row.
func (r *challengeRow) read() storage.Challenge {
	c := r.c
	c.Tries, c.Created, c.Expires = int(r.tries), r.created.t, r.expires.t
	return c
}

// Create implements [storage.ChallengeStore]. It returns ErrConflict if the id is taken.
func (s challenges) Create(ctx context.Context, c storage.Challenge) error {
	err := s.db.needs("challenges")
	if err == nil {
		at := s.db.q.forms["challenges"].arg
		err = s.db.add(ctx, s.db.q.proofs.insertChallenge, c.ID, c.Purpose, null(c.Tenant), null(c.UserID), null(c.Identifier), c.Data,
			int64(c.Tries), at(c.Created), at(c.Expires))
	}
	return fail(ctx, "create challenge", err)
}

// Get implements [storage.ChallengeStore]. It returns ErrNotFound for an unknown id, and
// an expired challenge as long as the row exists.
func (s challenges) Get(ctx context.Context, id string) (storage.Challenge, error) {
	var row challengeRow
	err := s.db.needs("challenges")
	if err == nil {
		err = s.db.find(ctx, s.db.q.proofs.challenge, []string{id}, s.db.into("challenges", row.dest())...)
	}
	if err != nil {
		return storage.Challenge{}, fail(ctx, "get challenge", err)
	}
	return row.read(), nil
}

// List implements [storage.ChallengeStore]. Expired challenges are included.
func (s challenges) List(ctx context.Context, q storage.ChallengeQuery) (list []storage.Challenge, err error) {
	err = errors.Join(ctx.Err(), s.db.needs("challenges"))
	if err != nil || !findable(q.Purpose, q.Tenant, q.UserID, q.Identifier) {
		return nil, fail(ctx, "list challenges", err)
	}
	var compared []string
	var args []any
	for _, by := range []struct{ column, value string }{
		{"user_id", q.UserID}, {"purpose", q.Purpose}, {"identifier", q.Identifier}, {"tenant", q.Tenant},
	} {
		if by.value != "" {
			compared, args = append(compared, by.column), append(args, by.value)
		}
	}
	isNull := ""
	if q.Tenant == "" {
		isNull = "tenant"
	}
	args = append(args, cmp.Or(q.Limit, mostChallenges))
	err = s.db.conn.Each(ctx, s.db.layout.listChallenges(compared, isNull), args, func(scan func(...any) error) error {
		var row challengeRow
		err := scan(s.db.into("challenges", row.dest())...)
		list = append(list, row.read())
		return err
	})
	return list, fail(ctx, "list challenges", err)
}

// Try implements [storage.ChallengeStore]. It counts one try. It returns ErrNotFound for an
// unknown id, and ErrConflict if Tries has reached the number most. Both count nothing.
func (s challenges) Try(ctx context.Context, id string, most int) (storage.Challenge, error) {
	c, err := s.try(ctx, id, most)
	if err != nil {
		return storage.Challenge{}, fail(ctx, "try challenge", err)
	}
	return c, nil
}

// try counts a try if there were fewer than most. It returns errors of the driver as they are.
func (s challenges) try(ctx context.Context, id string, most int) (storage.Challenge, error) {
	var row challengeRow
	if err := errors.Join(ctx.Err(), s.db.needs("challenges")); err != nil {
		return row.c, err
	}
	if !findable(id) {
		return row.c, storage.ErrNotFound
	}
	args := append(s.db.layout.touches("challenges"), id, most)
	if s.db.layout.dialect.returning() {
		err := s.db.conn.One(ctx, s.db.q.proofs.tryChallenge+" RETURNING "+s.db.layout.read("challenges", ""), args, s.db.into("challenges", row.dest())...)
		if errors.Is(err, storage.ErrNotFound) {
			err = s.refused(ctx, id)
		}
		return row.read(), err
	}
	err := s.db.tx(ctx, func(tx *database) error { // which has locked the row
		n, err := tx.conn.Exec(ctx, tx.q.proofs.tryChallenge, args...)
		if err == nil && n == 0 {
			err = challenges{tx}.refused(ctx, id)
		}
		if err != nil {
			return err
		}
		return tx.conn.One(ctx, tx.q.proofs.challenge, []any{id}, tx.into("challenges", row.dest())...)
	})
	return row.read(), err
}

// refused returns why a try was not counted: ErrConflict if the challenge exists and so
// has no tries left, or ErrNotFound if it does not exist. It returns errors of the driver
// as they are.
func (s challenges) refused(ctx context.Context, id string) error {
	var row challengeRow
	if err := s.db.conn.One(ctx, s.db.q.proofs.challenge, []any{id}, s.db.into("challenges", row.dest())...); err != nil {
		return err
	}
	return storage.ErrConflict
}

// Take implements [storage.ChallengeStore]. It returns the challenge as removed, or
// ErrNotFound if there is none or another caller has removed it.
func (s challenges) Take(ctx context.Context, id string) (storage.Challenge, error) {
	var row challengeRow
	err := errors.Join(ctx.Err(), s.db.needs("challenges"))
	if err == nil && !findable(id) {
		err = storage.ErrNotFound
	}
	if err == nil {
		err = s.db.takeLocked(ctx, "challenges", s.db.q.proofs.challenge, s.db.q.proofs.deleteChallenge, []any{id},
			func(db *database) []any { return db.into("challenges", row.dest()) })
	}
	if err != nil {
		return storage.Challenge{}, fail(ctx, "take challenge", err)
	}
	return row.read(), nil
}

// Delete implements [storage.ChallengeStore]. It removes the user's challenges that have one
// of purposes, or all if purposes is empty, but none if userID is empty. It returns how many.
func (s challenges) Delete(ctx context.Context, userID string, purposes ...string) (int, error) {
	err := errors.Join(ctx.Err(), s.db.needs("challenges"))
	if err != nil || userID == "" || !findable(userID) || !findable(purposes...) {
		return 0, fail(ctx, "delete challenges", err)
	}
	args := []any{userID}
	for _, purpose := range purposes {
		args = append(args, purpose)
	}
	n, err := s.db.conn.Exec(ctx, s.db.layout.deleteChallenges(len(purposes)), args...)
	return int(n), fail(ctx, "delete challenges", err)
}
