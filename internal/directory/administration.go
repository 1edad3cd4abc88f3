package directory

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// What an administrator does with a user.

// Provision stores a user for an administrator, with a new ID, and returns the user as
// stored. It sets Created and, with an address, Provisioned. It links no account: the
// first proof of the address claims the user. The caller leaves EmailVerified zero.
// Provision returns ErrConflict if another user has the address. It adds the event
// UserCreated.
func Provision(ctx context.Context, d *Directory, q *Outbox, u storage.User) (made storage.User, err error) {
	now := d.Now().UTC()
	u.ID, u.Created = secret.NewUserID(), now
	if u.Email != "" {
		u.Provisioned = now
	}
	err = q.together(ctx, d.Store, func(ctx context.Context, s *Store) error {
		if made, err = s.createUser(ctx, u); err == nil {
			q.addUser(event.UserCreated, made)
		}
		return err
	})
	return made, err
}

// claim clears Provisioned, in u and in the store, in the transaction of a sign-in. From
// then on administrators may no longer do what they may before the first sign-in of a
// user. claim does nothing if Provisioned is zero, and ignores that u is not stored.
func claim(ctx context.Context, s *Store, u *storage.User) error {
	if u.Provisioned.IsZero() {
		return nil
	}
	_, err := s.updateUser(ctx, u.ID, storage.UserChange{Provisioned: new(time.Time{})})
	u.Provisioned = time.Time{}
	return failure.Ignoring(err, storage.ErrNotFound)
}

// AcceptVouched accepts the sign-in of a user that the application names, without a
// transaction. It returns the error of CheckSuspension for a suspended user. Otherwise it
// clears Provisioned of the user, and ends a change of address that staff has asked for. For a
// user that is not stored it returns nil. It does not check whether something has ended the
// sign-in: Revocations.Accept does.
func AcceptVouched(ctx context.Context, d *Directory, q *Outbox, userID string) error {
	if err := CheckSuspension(ctx, d, d.Store, userID); err != nil {
		return err
	}
	u, err := guarded.Optional(d.Store.User(ctx, userID))
	if u == nil || err != nil {
		return err
	}
	return endStaffWork(ctx, d, q, d.Store, &SignIn{User: *u})
}

// Change changes fields of a user and returns the user as stored. It returns ErrNotFound
// for an unknown user, and ErrConflict if another user has the address. It adds the event
// UserUpdated, unless c is empty.
func Change(ctx context.Context, d *Directory, q *Outbox, userID string, c storage.UserChange) (u storage.User, err error) {
	err = q.together(ctx, d.Store, func(ctx context.Context, s *Store) error {
		if u, err = s.updateUser(ctx, userID, c); err == nil && c != (storage.UserChange{}) {
			q.addUser(event.UserUpdated, u)
		}
		return err
	})
	return u, err
}

// ChangeProvisioned changes the address of a user who never signed in, and marks it as not
// proven. It adds the event UserUpdated and returns true. *u keeps the former address. If the
// user has signed in since u was read, it changes nothing in the store, sets *u to the user as
// stored, and returns false. A taken address is ErrConflict. After an error *u may be empty.
func ChangeProvisioned(ctx context.Context, d *Directory, q *Outbox, u *storage.User, email string) (isDone bool, err error) {
	err = q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		now, err := s.LockUser(ctx, u.ID)
		if isDone = err == nil && !now.Provisioned.IsZero(); !isDone {
			*u = now
			return err
		}
		changed, err := s.updateUser(ctx, u.ID, storage.UserChange{Email: &email, EmailVerified: new(time.Time{})})
		if err == nil {
			q.addUser(event.UserUpdated, changed)
		}
		return err
	})
	return isDone && err == nil, err
}

// part is a part of an export. read returns nil if the store keeps nothing like it.
type part struct {
	name string
	read func(ctx context.Context, s *Store, id string) (any, error)
}

// parts are the parts of an export but the user.
var parts = []part{
	{"suspension", func(ctx context.Context, s *Store, id string) (any, error) {
		found, err := suspensionOf(ctx, s, id)
		if found == nil {
			return nil, err
		}
		return people.Exported(*found), err
	}},
	{"accounts", func(ctx context.Context, s *Store, id string) (any, error) {
		list, err := s.ListAccounts(ctx, id)
		return people.ExportedAll(list), err
	}},
	{"passkeys", func(ctx context.Context, s *Store, id string) (any, error) {
		list, err := s.ListAuthenticators(ctx, id)
		return people.ExportedAll(list), err
	}},
	{"sessions", func(ctx context.Context, s *Store, id string) (any, error) {
		list, err := s.ListSessions(ctx, id)
		return people.ExportedAll(list), err
	}},
	{"factors", listed(func(s *Store) bool { return s.factors != nil }, func(ctx context.Context, s *Store, id string) ([]storage.Factor, error) {
		return s.Factors().List(ctx, id)
	})},
	{"browsers", listed(func(s *Store) bool { return s.browsers != nil }, func(ctx context.Context, s *Store, id string) ([]storage.Browser, error) {
		return s.Browsers().List(ctx, id)
	})},
	{"pending", listed(func(s *Store) bool { return s.challenges != nil }, func(ctx context.Context, s *Store, id string) ([]storage.Challenge, error) {
		return s.Challenges().List(ctx, storage.ChallengeQuery{UserID: id})
	})},
	{"password", func(ctx context.Context, s *Store, id string) (any, error) {
		if s.passwords == nil {
			return nil, nil
		}
		found, err := guarded.Optional(s.Passwords().Get(ctx, id))
		if found == nil {
			return nil, err
		}
		return people.Exported(*found), err
	}},
	{"activity", listed(func(s *Store) bool { return s.activities != nil }, func(ctx context.Context, s *Store, id string) ([]storage.Activity, error) {
		return listActivities(ctx, s, id, mostExported)
	})},
}

// exportPatience is how long the application may take for its part of an export.
const exportPatience = 30 * time.Second

// mostExported is how many activities an export has at most.
const mostExported = 10_000

// listed returns the read function of a part that is a list. That function returns nil if
// has reports false.
func listed[T any](has func(*Store) bool, read func(ctx context.Context, s *Store, id string) ([]T, error)) func(context.Context, *Store, string) (any, error) {
	return func(ctx context.Context, s *Store, id string) (any, error) {
		if !has(s) {
			return nil, nil
		}
		list, err := read(ctx, s, id)
		return people.ExportedAll(list), err
	}
}

// Export writes what the store and the application keep of a user to w, as one JSON document
// without secrets. It leaves out the audit log, and all but the latest 10,000 activities.
// After an error the document is incomplete. For an unknown user Export returns ErrNotFound.
// It adds the event UserExported. An audit log in the transactions records that before the
// first byte. If it is required and fails, Export writes nothing and returns ErrAudit.
func Export(ctx context.Context, d *Directory, q *Outbox, userID string, w io.Writer) error {
	u, err := d.Store.User(ctx, userID)
	if err != nil {
		return err
	}
	exported := event.Event{Type: event.UserExported, UserID: userID}
	if q.recordsIn(d.Store) { // before the first byte leaves
		err := q.InTx(ctx, d.Store, func(context.Context, *Store) error { q.Foretell(exported); return nil })
		if err != nil {
			return err
		}
	}
	if err := export(ctx, d, &u, w); err != nil {
		return err
	}
	q.Add(exported, nil)
	return nil
}

// export writes the document of Export.
func export(ctx context.Context, d *Directory, u *storage.User, w io.Writer) error {
	doc := people.NewDocument(w)
	doc.Part("exported", d.Now().UTC().Format(time.RFC3339))
	doc.Part("user", people.Exported(*u))
	for _, part := range parts {
		value, err := part.read(ctx, d.Store, u.ID)
		switch {
		case errors.Is(err, errors.ErrUnsupported): // a layout without the table
		case err != nil:
			return err
		case value != nil:
			doc.Part(part.name, value)
		}
	}
	if d.ExportMore != nil {
		more, err := guarded.Timed(ctx, exportPatience, "AccountPage.ExportMore", func(ctx context.Context) (any, error) { return d.ExportMore(ctx, *u) })
		if err != nil {
			return err
		}
		doc.Part("application", more)
	}
	return doc.End()
}
