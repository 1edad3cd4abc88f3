package sqlstore

import (
	"context"

	"github.com/latchkeyhq/latchkey/storage"
)

// CreateVerificationToken implements [storage.VerificationTokenAdapter]. It returns
// ErrConflict if the pair of Identifier and Token is taken.
func (s *Store) CreateVerificationToken(ctx context.Context, t storage.VerificationToken) error {
	row := []any{s.db.layout.newID(""), t.Identifier, t.Token, s.db.layout.arg(t.Expires), null(t.Purpose)}
	err := s.db.claim(ctx, func(db *database) error { return db.add(ctx, db.q.insertToken, row...) },
		claimed("verification_token", t.Identifier, t.Token), s.db.q.token, t.Identifier, t.Token)
	return fail(ctx, "create verification token", err)
}

// UseVerificationToken implements [storage.VerificationTokenAdapter]. It returns
// ErrNotFound for an unknown token. It returns an expired token as long as the row
// exists. A token with an Expires that cannot be read stays, and is an error.
func (s *Store) UseVerificationToken(ctx context.Context, identifier, token string) (t storage.VerificationToken, err error) {
	var id string
	var expires instant
	err = ctx.Err()
	if err == nil && !findable(identifier, token) {
		err = storage.ErrNotFound
	}
	if err == nil {
		err = s.db.tx(ctx, func(tx *database) error { // what cannot be read is not removed
			return tx.take(ctx, "verification_token", tx.q.token, tx.q.deleteToken, []any{identifier, token},
				tx.into("verification_token", []any{&id, &t.Identifier, &t.Token, &expires, &t.Purpose})...)
		})
	}
	if err != nil {
		return storage.VerificationToken{}, fail(ctx, "use verification token", err)
	}
	t.Expires = expires.t
	return t, nil
}
