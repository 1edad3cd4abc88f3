package passwords

import (
	"context"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// What is done by links in mails. Answers are equal for every address: what differs
// happens after them.

// Forgot mails the link that sets a new password, if a user has the address.
func (f *Flows) Forgot(email string, from Asker) {
	f.mailReset(from, MailReset, func(ctx context.Context) (*storage.User, error) {
		return guarded.Optional(f.Directory.Store.UserByEmail(ctx, email))
	})
}

// mailReset mails a link that sets a new password to a user that find returns; nil:
// none.
func (f *Flows) mailReset(from Asker, kind MailKind, find func(context.Context) (*storage.User, error)) {
	from.Mail(func(ctx context.Context) (Mail, error) {
		u, err := find(ctx)
		if u == nil || err != nil {
			return Mail{}, err
		}
		return f.Reset(ctx, u, kind)
	})
}

// Reset makes the link that sets a new password of a user, and the mail with it.
// Links that were made before stay good.
func (f *Flows) Reset(ctx context.Context, u *storage.User, kind MailKind) (Mail, error) {
	handle, expires, err := f.Directory.NewReset(ctx, u, f.LinkLife)
	return Mail{Kind: kind, To: u.Email, UserID: u.ID, Handle: handle, Expires: expires}, err
}

// MayBegin counts a sign-up or another request that costs work and a row, and
// reports whether the client has not made too many.
func (f *Flows) MayBegin(ctx context.Context, from Asker) (bool, error) {
	try, err := f.Limits.Take(ctx, f.Limits.PasswordRequest(from.Requester("")))
	return try.Wait == 0, err
}

// SignUp begins a sign-up: it hashes the password and stores a row, for every
// address alike. in.Mark is what the browser keeps. The mail goes out after the
// answer: a link to a new address, a notice to that of a user.
func (f *Flows) SignUp(ctx context.Context, in *directory.SignUp, password string, from Asker) error {
	ok, err := f.MayBegin(ctx, from)
	if !ok || err != nil {
		in.Mark = secret.RandomHex(32) // as if there were a row
		return err
	}
	if in.Hash, err = f.Hash(ctx, password); err != nil {
		return err
	}
	handle, expires, err := f.Directory.NewSignUp(ctx, in)
	if err != nil {
		return err
	}
	from.Mail(func(ctx context.Context) (Mail, error) {
		known, err := guarded.Optional(f.Directory.Store.UserByEmail(ctx, in.Email))
		if known != nil {
			return Mail{Kind: MailKnown, To: in.Email, UserID: known.ID}, err // the link is mailed to nobody
		}
		if f.SignUpInvited && err == nil {
			invited, err := directory.InvitationTo(ctx, f.Directory.Directory, in.Email)
			if invited == nil || err != nil {
				return Mail{}, err
			}
		}
		return Mail{Kind: MailSignUp, To: in.Email, Handle: handle, Expires: expires}, err
	})
	return nil
}

// Move asks for another address of a user. The answer is the
// same if another user has the address.
func (f *Flows) Move(ctx context.Context, u *storage.User, to string, from Asker) error {
	if ok, err := f.MayBegin(ctx, from); !ok || err != nil {
		return err
	}
	m, err := f.Directory.NewMove(ctx, u, to)
	if err != nil {
		return err
	}
	from.Mail(func(ctx context.Context) (Mail, error) {
		other, err := guarded.Optional(f.Directory.Store.UserByEmail(ctx, to))
		if other != nil {
			return Mail{Kind: MailTaken, To: to, UserID: other.ID}, err
		}
		return Mail{Kind: MailAddress, To: to, UserID: u.ID, Handle: m.Handle, Expires: m.Expires}, err
	})
	if m.Undo != "" {
		from.Mail(func(context.Context) (Mail, error) {
			return Mail{Kind: MailMoving, To: u.Email, UserID: u.ID, Handle: m.Undo, Expires: m.Until}, nil
		})
	}
	return nil
}

// Tell mails a user that the password was changed.
func (f *Flows) Tell(u *storage.User, from Asker) {
	if u.Email == "" {
		return
	}
	from.Mail(func(context.Context) (Mail, error) { return Mail{Kind: MailChanged, To: u.Email, UserID: u.ID}, nil })
}
