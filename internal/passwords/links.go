package passwords

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// What is done by links in mails. Answers are equal for every address: what differs
// happens after them.

// Forgot mails a link that sets a new password, if a user has the address. It returns at
// once. It finds the user, and sends the mail, after the site has sent its response. The
// caller needs no MayBegin, because the limits of mails count the request.
func (f *Flows) Forgot(email string, from Asker) {
	f.mailReset(from, MailReset, func(ctx context.Context) (*storage.User, error) {
		return guarded.Optional(f.Directory.Store.UserByEmail(ctx, email))
	})
}

// mailReset calls find after the site has sent its response, and mails a link that sets a
// new password to the user that find returns. If find returns nil, it sends no mail.
func (f *Flows) mailReset(from Asker, kind MailKind, find func(context.Context) (*storage.User, error)) {
	from.Mail(func(ctx context.Context) (Mail, error) {
		u, err := find(ctx)
		if u == nil || err != nil {
			return Mail{}, err
		}
		return f.Reset(ctx, u, kind)
	})
}

// Reset stores a link that sets a new password of a user, and returns the mail with the
// link. It sends nothing. Links that were made before stay good.
func (f *Flows) Reset(ctx context.Context, u *storage.User, kind MailKind) (Mail, error) {
	handle, expires, err := f.Directory.NewReset(ctx, u, f.LinkLife)
	return Mail{Kind: kind, To: u.Email, UserID: u.ID, Handle: handle, Expires: expires}, err
}

// MayBegin counts a request that begins a sign-up or a change of address. It returns
// false, without an error, if the client has made too many.
func (f *Flows) MayBegin(ctx context.Context, from Asker) (bool, error) {
	try, err := f.Limits.Take(ctx, f.Limits.PasswordRequest(from.Requester("")))
	return try.Wait == 0, err
}

// SignUp begins a sign-up: it hashes the password and stores a row, for every address
// alike. It sets in.Hash, and in.Mark and in.Code, which the browser keeps. It sends the
// mail after the answer: a link and a code to a new address, or a notice to the address
// of a user. With SignUpInvited a new address without an accepted invitation gets no
// mail. If the client has made too many requests, SignUp sets in.Mark and in.Code to
// random values, stores nothing, and returns nil.
func (f *Flows) SignUp(ctx context.Context, in *directory.SignUp, password string, from Asker) error {
	ok, err := f.MayBegin(ctx, from)
	if !ok || err != nil {
		in.Mark, in.Code = secret.RandomHex(32), challenge.NewHandle() // as if there were rows
		return err
	}
	if in.Hash, err = f.Hash(ctx, password); err != nil {
		return err
	}
	handle, expires, err := f.Directory.NewSignUp(ctx, in)
	if err != nil {
		return err
	}
	var code string
	rows := f.Directory.Waiting(f.Directory.Store)
	if in.Code, code, err = rows.CreateCode(ctx, challenge.MailCode{For: f.Provider, Identifier: in.Email, Link: handle}, CodeDigits); err != nil {
		return err
	}
	from.Mail(func(ctx context.Context) (Mail, error) {
		known, err := guarded.Optional(f.Directory.Store.UserByEmail(ctx, in.Email))
		if known != nil {
			return Mail{Kind: MailKnown, To: in.Email, UserID: known.ID}, err // the link is not mailed
		}
		if f.SignUpInvited && err == nil {
			invited, err := directory.InvitationTo(ctx, f.Directory.Directory, in.Email)
			if invited == nil || err != nil {
				return Mail{}, err
			}
		}
		if err == nil {
			code, err = f.allowedCode(ctx, in.Email, code)
		}
		return Mail{Kind: MailSignUp, To: in.Email, Handle: handle, Code: code, Expires: expires}, err
	})
	return nil
}

// CodeDigits is how many digits the code of a mail has.
const CodeDigits = 8

// allowedCode returns code, which is to be mailed, or "" after too many wrong codes for email.
func (f *Flows) allowedCode(ctx context.Context, email, code string) (string, error) {
	try, err := f.Limits.Take(ctx, f.Limits.CodeTry(email, limit.Requester{}))
	if err != nil || try.Wait > 0 {
		return "", err
	}
	return code, f.Limits.Return(ctx, try)
}

// EnterUnproven returns the hash of the password of a new user whom the site lets in
// before the address is proven. It returns "" if the site does not do so, if the address
// has a user, or if MayBegin, called for a new address only, returns false. The caller then
// calls SignUp, which answers all of them alike. EnterUnproven creates no user.
func (f *Flows) EnterUnproven(ctx context.Context, email, password string, from Asker) (hash string, err error) {
	if !f.AllowUnverified || !f.SignUpOpen {
		return "", nil
	}
	known, err := guarded.Optional(f.Directory.Store.UserByEmail(ctx, email))
	if known != nil || err != nil {
		return "", err
	}
	if ok, err := f.MayBegin(ctx, from); !ok || err != nil {
		return "", err
	}
	return f.Hash(ctx, password)
}

// Prove mails a link that proves the address email to the user who has it, after the
// response. It mails nothing if no user has the address. The caller needs no MayBegin. Prove
// is for a new user who has come in before the address was proven.
func (f *Flows) Prove(email string, from Asker) {
	from.Mail(func(ctx context.Context) (Mail, error) {
		u, err := guarded.Optional(f.Directory.Store.UserByEmail(ctx, email))
		if u == nil || err != nil {
			return Mail{}, err
		}
		m, err := f.Directory.NewMove(ctx, u, email)
		return Mail{Kind: MailProve, To: email, UserID: u.ID, Handle: m.Handle, Expires: m.Expires}, err
	})
}

// MoveCodes returns the purpose of the codes in mails to new addresses of users. The
// purpose of codes for sign-ups is Provider.
func (f *Flows) MoveCodes() string { return f.Provider + " email" }

// LinkByCode returns the handle of the link that belongs to a typed code, and ends the
// code. handle is the handle of the code, which the browser keeps. purpose is Provider
// for a sign-up, or MoveCodes. LinkByCode counts the try before it compares. It returns
// ErrVerification for a wrong code, for one that was used or has expired, after five
// tries, and after too many wrong codes for the mailbox or of the client. The link stays.
func (f *Flows) LinkByCode(ctx context.Context, purpose, handle, typed string, from Asker) (link string, err error) {
	wrong := func(why string) error {
		return failure.Wrap(fault.ErrVerification, &failure.Mistake{Err: failure.Of(fault.CodeWrong, errors.New(why))})
	}
	rows := f.Directory.Waiting(f.Directory.Store)
	var try limit.Try
	err = directory.TryMailCode(ctx, rows, handle, purpose, func(stands challenge.MailCode, fits func(string) error) (err error) {
		try, err = f.Limits.Take(ctx, f.Limits.CodeTry(stands.Identifier, from.Requester(stands.UserID)))
		switch {
		case err != nil:
			return err
		case try.Wait > 0:
			return wrong("too many wrong codes for one mailbox, or of one client")
		case fits(typed) != nil:
			return wrong("the code does not fit")
		}
		link = stands.Link
		return nil
	})
	switch {
	case errors.Is(err, storage.ErrNotFound), errors.Is(err, challenge.ErrSpent):
		return "", wrong("the code has expired, was used, was tried too often, or was asked for in another browser")
	case err != nil:
		return "", err
	}
	return link, errors.Join(f.Limits.Return(ctx, try), rows.End(ctx, challenge.Code, handle))
}

// Move begins to change the address of u to the address in to, which the caller has checked.
// It stores the links and adds EmailAsked to q. After the response it mails a link to the new
// address, or a notice if a user has that. It mails the former address if that is proven. If
// the client has made too many requests, Move does nothing and returns nil.
func (f *Flows) Move(ctx context.Context, q *directory.Outbox, u *storage.User, to string, from Asker) error {
	if ok, err := f.MayBegin(ctx, from); !ok || err != nil {
		return err
	}
	m, err := f.Directory.AskToMove(ctx, q, u, to)
	if err == nil {
		f.mailMove(&m, u, "", from)
	}
	return err
}

// MoveWithCode does what Move does, and also mails a code with the link to the new
// address. It returns the handle of the code, which the browser keeps. If the client has
// made too many requests, MoveWithCode does nothing and returns a random handle.
func (f *Flows) MoveWithCode(ctx context.Context, q *directory.Outbox, u *storage.User, to string, from Asker) (handle string, err error) {
	if ok, err := f.MayBegin(ctx, from); !ok || err != nil {
		return challenge.NewHandle(), err // as if there were a row
	}
	m, err := f.Directory.AskToMove(ctx, q, u, to)
	if err != nil {
		return "", err
	}
	rows := f.Directory.Waiting(f.Directory.Store)
	handle, code, err := rows.CreateCode(ctx, challenge.MailCode{For: f.MoveCodes(), Identifier: to, UserID: u.ID, Link: m.Handle}, CodeDigits)
	if err == nil {
		f.mailMove(&m, u, code, from)
	}
	return handle, err
}

// Regain begins a change that staff has asked for, of the address of a user who cannot sign
// in. It calls TellRegain, which mails both addresses. If TellRegain fails, Regain withdraws
// the change and returns the error. It does nothing if the same change is under way. After
// three changes in a day it returns an ErrEmailSignIn with the Code limit. See
// [directory.AskToRegain] for other errors and for the event.
func (f *Flows) Regain(ctx context.Context, q *directory.Outbox, u *storage.User, to string, send func(context.Context, Mail) error) error {
	d := f.Directory.Directory
	try, err := f.Limits.Take(ctx, f.Limits.ChangeFor(u.ID))
	if err == nil && try.Wait > 0 {
		err = &fault.Error{Type: fault.ErrEmailSignIn, Code: "limit", Detail: fault.LimitMails, Err: &failure.Mistake{Err: errors.New("too many changes of one user's address")}}
	}
	if err != nil {
		return err
	}
	r, err := directory.AskToRegain(ctx, d, q, u.ID, to, f.RegainDelay)
	if err != nil {
		return errors.Join(failure.Ignoring(err, directory.ErrRegainPending), f.Limits.Return(ctx, try))
	}
	if err := f.TellRegain(ctx, q, &r, send); err != nil {
		return errors.Join(err, directory.WithdrawRegain(ctx, d, q, &r))
	}
	return nil
}

// TellRegain sends the mails of a change that Regain has begun, one to each address. If none
// are due now, it returns nil. It mails the new address first. If that fails, the former one
// gets no mail, so that a later try repeats none there. If the former mailbox does not exist,
// it adds the event EmailUnheard and returns nil: that mailbox was lost for good.
func (f *Flows) TellRegain(ctx context.Context, q *directory.Outbox, r *directory.Regain, send func(context.Context, Mail) error) error {
	d := f.Directory.Directory
	return directory.TellRegain(ctx, d, r, func(ctx context.Context, from time.Time) error {
		if err := send(ctx, Mail{Kind: MailRegain, To: r.To, UserID: r.UserID, Handle: r.Link, Expires: from}); err != nil {
			return err
		}
		err := send(ctx, Mail{Kind: MailReplaced, To: r.From, UserID: r.UserID, Handle: r.Stop, Expires: from})
		if errors.Is(err, mailbox.ErrGone) {
			err = directory.RecordUnheard(ctx, d, q, r)
		}
		return err
	})
}

// mailMove sends the mails about a change of address, after the answer. One goes to the
// new address: the link, or a notice to the user that has the address. The other goes to
// the former address, if the change can be undone. An empty code is not mailed.
func (f *Flows) mailMove(m *directory.AddressMove, u *storage.User, code string, from Asker) {
	from.Mail(func(ctx context.Context) (Mail, error) {
		other, err := guarded.Optional(f.Directory.Store.UserByEmail(ctx, m.To))
		if other != nil {
			return Mail{Kind: MailTaken, To: m.To, UserID: other.ID}, err
		}
		if err == nil && code != "" {
			code, err = f.allowedCode(ctx, m.To, code)
		}
		return Mail{Kind: MailAddress, To: m.To, UserID: u.ID, Handle: m.Handle, Code: code, Expires: m.Expires}, err
	})
	if m.Undo != "" {
		from.Mail(func(context.Context) (Mail, error) {
			return Mail{Kind: MailMoving, To: u.Email, UserID: u.ID, Handle: m.Undo, Expires: m.Until}, nil
		})
	}
}

// TellFormer does what Tell does, for the address taken that u had before an undo (see
// [directory.Passwords.UndoMove]). It does nothing if taken is still the address of u.
func (f *Flows) TellFormer(u *storage.User, taken string, from Asker) {
	if taken != u.Email {
		f.Tell(&storage.User{ID: u.ID, Email: taken}, from)
	}
}

// Tell mails a user, after the response, that the password was set, changed or removed. It
// does nothing for a user without an address.
func (f *Flows) Tell(u *storage.User, from Asker) {
	if u.Email == "" {
		return
	}
	from.Mail(func(context.Context) (Mail, error) { return Mail{Kind: MailChanged, To: u.Email, UserID: u.ID}, nil })
}
