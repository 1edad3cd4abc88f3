package directory

import (
	"context"
	"errors"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

// RenewSession replaces the token, Expires, Proved, AMR and ACR of a session by those of
// next, and its names at a provider if next has any. Of any number of concurrent calls at
// most one succeeds. RenewSession returns ErrNotFound for a session that is gone. If the
// store cannot renew, RenewSession stores a new session with the same ID, or with another
// one if the store refuses that, and then deletes the old session.
func (s *Store) RenewSession(ctx context.Context, token string, next storage.StoredSession) error {
	defer s.SessionCache.dropSession(token)()
	_, err := apartOr(s, func() (none struct{}, err error) {
		return none, rowsApart(s).renew(ctx, token, next)
	}, func() (none struct{}, err error) {
		return none, rowsInAdapter(s).renew(ctx, token, next)
	})
	return err
}

// sessionRows are the sessions of one store. prefix begins the names of its calls
// in errors.
type sessionRows struct {
	bounds   *guarded.Bounds
	prefix   string
	renewing storage.SessionRenewalAdapter // nil: the store cannot
	getName  string
	get      func(ctx context.Context, token string) (storage.StoredSession, error)
	create   func(context.Context, storage.StoredSession) error
	delete   func(ctx context.Context, token string) (storage.StoredSession, error)
}

// rowsApart returns the sessions of the store apart.
func rowsApart(s *Store) sessionRows {
	in := s.Apart.Store
	able, _ := in.(storage.SessionRenewalAdapter)
	return sessionRows{s.bounds, "Session.Store: ", able, "GetSession", in.GetSession, in.CreateSession, in.DeleteSession}
}

// rowsInAdapter returns the sessions of the adapter.
func rowsInAdapter(s *Store) sessionRows {
	in := s.SessionRows
	able, _ := in.(storage.SessionRenewalAdapter)
	return sessionRows{s.bounds, "", able, "GetSessionAndUser", func(ctx context.Context, token string) (storage.StoredSession, error) {
		row, _, err := in.GetSessionAndUser(ctx, token)
		return row, err
	}, in.CreateSession, in.DeleteSession}
}

// renew does the work of [Store.RenewSession] in one store.
func (in sessionRows) renew(ctx context.Context, token string, next storage.StoredSession) error {
	if in.renewing != nil {
		return guarded.Do(ctx, in.bounds, in.prefix+"RenewSession", func(ctx context.Context) error { return in.renewing.RenewSession(ctx, token, next) })
	}
	row, err := guarded.CallFor(ctx, in.bounds, in.prefix+in.getName, isSession(token), func(ctx context.Context) (storage.StoredSession, error) {
		return in.get(ctx, token)
	})
	if err != nil {
		return err
	}
	row.Token, row.Expires, row.Proved, row.AMR, row.ACR = next.Token, next.Expires, next.Proved, next.AMR, next.ACR
	if next.ProviderSID != "" || next.ProviderSub != "" {
		row.ProviderSID, row.ProviderSub, row.ProviderIssued, row.Sealed = next.ProviderSID, next.ProviderSub, next.ProviderIssued, next.Sealed
	}
	if err := in.createAgain(ctx, row); err != nil {
		return err
	}
	if err := in.end(ctx, token); err != nil {
		return errors.Join(err, failure.Ignoring(in.end(ctx, next.Token), storage.ErrNotFound))
	}
	return nil
}

// NameProven prepares next, with which the session of a token is about to be renewed. It
// writes into next what the provider of a proof calls the session, beside the names that
// the session has. It writes nothing if at is nil or names nothing. It returns
// ErrNotFound if the session is gone.
func NameProven(ctx context.Context, d *Directory, s *Store, token string, at *AtProvider, next *storage.StoredSession) error {
	if at == nil || at.isEmpty() {
		return nil
	}
	found, err := s.Session(ctx, token)
	if err != nil {
		return err
	}
	row := &found.Row
	hint, _, _ := strings.Cut(row.Sealed, " ")
	if at.Provider == row.Provider {
		hint, err = d.Hints.Seal(at.Hint, row.UserID, row.Provider, d.Now(), hintLife)
	}
	next.Provider = row.Provider
	at.Beside(NamesOf(row)).keepNames(next, hint)
	return err
}

// ConfirmProven is for after the commit of a renewal with what NameProven has written. If
// a provider has ended a session with one of the names meanwhile, ConfirmProven deletes
// the renewed session and returns ErrNoToken. If it cannot find out, it deletes the
// session too, and returns the error of the store. A logout records its instant first and
// looks for sessions afterwards, so that one of the two sees the other.
func ConfirmProven(ctx context.Context, d *Directory, renewed *storage.StoredSession) error {
	void, err := d.Revocations.isVoidAtProvider(ctx, nil, NamesOf(renewed))
	if err == nil && !void {
		return nil
	}
	if err == nil {
		err = ErrNoToken
	}
	_, undone := d.Store.DeleteSession(context.WithoutCancel(ctx), renewed.Token)
	return errors.Join(err, failure.Ignoring(undone, storage.ErrNotFound))
}

// createAgain stores a session with an ID that another row still has. If the store
// refuses the ID, createAgain leaves it to the store to make one.
func (in sessionRows) createAgain(ctx context.Context, row storage.StoredSession) error {
	create := func(ctx context.Context) error { return in.create(ctx, row) }
	err := guarded.Do(ctx, in.bounds, in.prefix+"CreateSession", create)
	if errors.Is(err, storage.ErrConflict) && row.ID != "" {
		row.ID = ""
		err = guarded.Do(ctx, in.bounds, in.prefix+"CreateSession", create)
	}
	return err
}

// end deletes the session with a token, or returns ErrNotFound.
func (in sessionRows) end(ctx context.Context, token string) error {
	_, err := guarded.CallFor(ctx, in.bounds, in.prefix+"DeleteSession", isSession(token), func(ctx context.Context) (storage.StoredSession, error) {
		return in.delete(ctx, token)
	})
	return err
}
