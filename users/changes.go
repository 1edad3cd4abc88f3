package users

import (
	"context"
	"io"
	"time"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/storage"
)

// NewUser is a user whom an administrator creates.
type NewUser struct {
	Name  string // 1 to 256 characters, none of them a control character; empty: unknown
	Email string // taken as unproven; empty: unknown
	Image string // an http(s) URL of at most 2,048 bytes, never fetched; empty: none
}

// Change names what to change of a user. A nil field stays as it is.
type Change struct {
	Name  *string // as in NewUser; empty: none
	Image *string // as in NewUser; empty: none
	// Unverify makes the e-mail address unproven. The next sign-in that proves it removes
	// the accounts and passkeys whose provider has not vouched for the address, and ends
	// the sessions that were opened before: see latchkey.EvictEvent.
	Unverify bool
}

// Create stores a user that has no way to sign in yet. It mails nothing. The first
// sign-in that proves the e-mail address ends in this user: by a link, a code, or a
// provider that vouches for the address and has
// latchkey.OAuth.AllowDangerousEmailAccountLinking. A taken address is ErrConflict, and
// a field that makes no sense is an [InputError].
func (u *Users) Create(ctx context.Context, n NewUser) (storage.User, error) {
	w, err := u.backend.Open(ctx)
	if err != nil {
		return storage.User{}, err
	}
	if err := people.CheckName(n.Name); err != nil {
		return storage.User{}, err
	}
	if err := people.CheckImage(n.Image); err != nil {
		return storage.User{}, err
	}
	if n.Email != "" {
		normal, err := mailbox.Normalize(n.Email)
		if err != nil || mailbox.Check(normal) != nil {
			return storage.User{}, wrong("Email", "it is no e-mail address")
		}
		n.Email = normal
	}
	defer w.Tell(ctx)
	return directory.Provision(ctx, w.Directory, w.Events, storage.User{Name: n.Name, Email: n.Email, Image: n.Image})
}

// Update changes fields of a user and returns the user. A field of c that makes no
// sense is an [InputError]. Concurrent calls that change different fields all succeed.
// JWT sessions show the change at the next sign-in or update. Update never marks an
// e-mail address as proven.
func (u *Users) Update(ctx context.Context, userID string, c Change) (storage.User, error) {
	w, err := u.open(ctx, userID, "Users.Update")
	if err != nil {
		return storage.User{}, err
	}
	change := storage.UserChange{Name: c.Name, Image: c.Image}
	if c.Name != nil {
		err = people.CheckName(*c.Name)
	}
	if err == nil && c.Image != nil {
		err = people.CheckImage(*c.Image)
	}
	if err != nil {
		return storage.User{}, err
	}
	if c.Unverify {
		change.EmailVerified = new(time.Time{})
	}
	defer w.Tell(ctx)
	return directory.Change(ctx, w.Directory, w.Events, userID, change)
}

// Export writes everything that is kept of a user to out, as a JSON document with
// "version" 1. It also writes what latchkey.AccountPage.ExportMore returns. The
// document has no token, hash or other secret, and names administrators by kind only.
// What the Adapter cannot list is missing. After an error the document is not whole.
func (u *Users) Export(ctx context.Context, userID string, out io.Writer) error {
	w, err := u.open(ctx, userID, "Users.Export")
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	return directory.Export(ctx, w.Directory, w.Events, userID, out)
}

// Erase deletes a user as Delete does, and before that the challenges that name the
// user's e-mail address: pending invitations, codes and changes of address. With
// latchkey.Audit.Store it also erases what is personal of the user's audit events. Use it
// for requests to erase personal data. The record that voids the sessions of the user,
// and the keyed hashes of limits, stay until they expire. Its errors are those of Delete.
// If it failed, call Erase again, also after ErrSessionsNotEnded: another error may stand
// beside that one. If an earlier Erase has deleted the user, this one erases the rest, and
// then returns ErrNotFound: nothing is left. It needs an
// Adapter that is a [storage.UserDeletionAdapter].
func (u *Users) Erase(ctx context.Context, userID string) error {
	w, err := u.open(ctx, userID, "Users.Erase")
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	return directory.Erase(ctx, w.Directory, w.Events, userID)
}
