package sqlstore

import (
	"context"
	"slices"
	"time"
)

// Revoke implements [storage.RevocationStore]. It returns an [errors.ErrUnsupported] if
// the layout has no table for revocations.
func (s *Store) Revoke(ctx context.Context, key string, at, expires time.Time) error {
	err := s.db.needs("revocations")
	if err == nil && !findable(key) {
		err = errText
	}
	if err == nil {
		kept := s.db.layout.formOf("revocations")
		_, err = s.db.conn.Exec(ctx, s.db.q.revoke, key, kept.arg(at), kept.arg(expires))
	}
	return fail(ctx, "revoke", err)
}

// RevokedAt implements [storage.RevocationStore]. The map has no entry for a key that is
// not on record. It is never nil without an error. RevokedAt returns an
// [errors.ErrUnsupported] if the layout has no table for revocations.
func (s *Store) RevokedAt(ctx context.Context, keys ...string) (map[string]time.Time, error) {
	found := make(map[string]time.Time)
	err := ctx.Err()
	if err == nil {
		err = s.db.needs("revocations")
	}
	if err != nil {
		return nil, fail(ctx, "revoked at", err)
	}
	for some := range slices.Chunk(slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return !findable(k) }), maxKeys) {
		if err := readRevocations(ctx, s.db, some, found); err != nil {
			return nil, fail(ctx, "revoked at", err)
		}
	}
	return found, nil
}

// maxKeys is how many keys one statement asks for at most.
const maxKeys = 64

// readRevocations adds to found the instants of those keys that are on record. keys has
// at least one and at most maxKeys. The statement asks for 1, 2, 4 … keys, and the last
// key is repeated to fill it, so that there are few different statements to prepare.
func readRevocations(ctx context.Context, db *database, keys []string, found map[string]time.Time) error {
	n := 1
	for n < len(keys) {
		n *= 2
	}
	args := make([]any, n)
	for i := range args {
		args[i] = keys[min(i, len(keys)-1)]
	}
	return db.conn.Each(ctx, db.layout.selectRevocations(n), args, func(scan func(...any) error) error {
		var key string
		var at instant
		err := scan(&key, &at)
		found[key] = at.t
		return err
	})
}
