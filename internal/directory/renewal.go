package directory

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

// RenewSession replaces the token, Expires, Proved, AMR and ACR of a session by
// those of next. Of any number of concurrent calls at most one succeeds. A session
// that is gone is ErrNotFound. A store that cannot renew gets a new session with
// the same ID, or with one of its own if it refuses that ID, and the old session is
// deleted afterwards.
func (s *Store) RenewSession(ctx context.Context, token string, next storage.StoredSession) error {
	defer s.SessionCache.dropSession(token)()
	_, err := apartOr(s, func() (none struct{}, err error) {
		return none, s.renew(ctx, s.rowsApart(), token, next)
	}, func() (none struct{}, err error) {
		return none, s.renew(ctx, s.rowsInAdapter(), token, next)
	})
	return err
}

// sessionRows are the sessions of one store. prefix begins the names of its calls
// in errors.
type sessionRows struct {
	prefix string
	renew  storage.SessionRenewalAdapter // nil: the store cannot
	read   string                        // the name of get
	get    func(ctx context.Context, token string) (storage.StoredSession, error)
	create func(context.Context, storage.StoredSession) error
	delete func(ctx context.Context, token string) (storage.StoredSession, error)
}

func (s *Store) rowsApart() sessionRows {
	in := s.Apart.Store
	able, _ := in.(storage.SessionRenewalAdapter)
	return sessionRows{"Session.Store: ", able, "GetSession", in.GetSession, in.CreateSession, in.DeleteSession}
}

func (s *Store) rowsInAdapter() sessionRows {
	in := s.SessionRows
	able, _ := in.(storage.SessionRenewalAdapter)
	return sessionRows{"", able, "GetSessionAndUser", func(ctx context.Context, token string) (storage.StoredSession, error) {
		row, _, err := in.GetSessionAndUser(ctx, token)
		return row, err
	}, in.CreateSession, in.DeleteSession}
}

func (s *Store) renew(ctx context.Context, in sessionRows, token string, next storage.StoredSession) error {
	if in.renew != nil {
		return guarded.Do(ctx, s.bounds, in.prefix+"RenewSession", func(ctx context.Context) error { return in.renew.RenewSession(ctx, token, next) })
	}
	row, err := guarded.CallFor(ctx, s.bounds, in.prefix+in.read, isSession(token), func(ctx context.Context) (storage.StoredSession, error) {
		return in.get(ctx, token)
	})
	if err != nil {
		return err
	}
	row.Token, row.Expires, row.Proved, row.AMR, row.ACR = next.Token, next.Expires, next.Proved, next.AMR, next.ACR
	if err := s.createAgain(ctx, in, row); err != nil {
		return err
	}
	if err := s.deleteRow(ctx, in, token); err != nil {
		return errors.Join(err, failure.Ignoring(s.deleteRow(ctx, in, next.Token), storage.ErrNotFound))
	}
	return nil
}

// createAgain stores a session whose ID another row has, or leaves the ID to the
// store.
func (s *Store) createAgain(ctx context.Context, in sessionRows, row storage.StoredSession) error {
	create := func(ctx context.Context) error { return in.create(ctx, row) }
	err := guarded.Do(ctx, s.bounds, in.prefix+"CreateSession", create)
	if errors.Is(err, storage.ErrConflict) && row.ID != "" {
		row.ID = ""
		err = guarded.Do(ctx, s.bounds, in.prefix+"CreateSession", create)
	}
	return err
}

func (s *Store) deleteRow(ctx context.Context, in sessionRows, token string) error {
	_, err := guarded.CallFor(ctx, s.bounds, in.prefix+"DeleteSession", isSession(token), func(ctx context.Context) (storage.StoredSession, error) {
		return in.delete(ctx, token)
	})
	return err
}
