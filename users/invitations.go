package users

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/storage"
)

// The methods of this file need latchkey.Config.Invitations, and an Adapter that is a
// [storage.ChallengeAdapter].

// Invitation is what an e-mail address is invited with: Email, CallbackURL, Data, Expires
// and NoMail. The library sets ID and Created. Package event documents the fields.
type Invitation = event.Invitation

// Inviter is not for applications: it is the part of [Backend] that invitations need.
type Inviter struct {
	Link func(token string) string // nil: the URL of the site is not known
	// Mail sends the link of an invitation. nil: the site sends no mails.
	Mail func(ctx context.Context, to, url string, expires time.Time) error
}

// Invite invites an e-mail address and mails the link; the result link is then empty.
// With in.NoMail it mails nothing and returns the link, for the application to hand over. An
// earlier invitation to the address ends once the new mail has left, or at once with
// in.NoMail: to take one back before, call RevokeInvitation.
//
// The link leads to a page that asks the user to accept the invitation:
//
//   - Accepting a mailed link proves the address. If no user has the address, the user is
//     created and signed in. Where only invited users may sign up with a password, and on a
//     site with passwords but without a latchkey.Email, the user first chooses a password.
//   - If a user has the address, accepting leads to the sign-in page.
//   - A link that the application hands over proves nothing. Accepting leads to the sign-up
//     for the address, or to the sign-in page of a site without one.
//
// The first sign-in that proves the address uses the invitation up.
// latchkey.SignInAttempt and latchkey.SignInEvent have the invitation with Data, such
// as a team; the application gives out roles itself.
//
// A field that makes no sense is an [InputError]. Invite needs
// latchkey.Config.Invitations, for which the Adapter has to be a
// [storage.ChallengeAdapter], and latchkey.Site.URL. Without in.NoMail it also needs a
// way to send mails: latchkey.Mail.Send, or a latchkey.Email provider. Mails count for
// latchkey.Limits.MailsPerRecipient. If a mail cannot be sent, Invite revokes the
// invitation, keeps an earlier one to the address, and returns a latchkey.ErrEmailSignIn
// with the text of the error of Mail.Send. After too many mails to the address its Code is
// "limit". If it cannot end an earlier invitation, it returns an error after the mail left.
func (u *Users) Invite(ctx context.Context, in Invitation) (link string, err error) {
	w, i, err := u.inviting(ctx)
	switch {
	case err != nil:
		return "", err
	case i.Link == nil:
		return "", failure.Wrap(fault.ErrInvalidConfig, errors.New("set Site.URL: links of invitations lead there"))
	case i.Mail == nil && !in.NoMail:
		return "", failure.Wrap(fault.ErrInvalidConfig, errors.New("an invitation is mailed: set Mail.Send or add an Email provider, or set Invitation.NoMail"))
	}
	if in.Email, err = mailbox.Normalize(in.Email); err == nil {
		err = mailbox.Check(in.Email)
	}
	if err != nil {
		return "", &InputError{Field: "Invitation.Email", Problem: "want one e-mail address"}
	}
	defer w.Tell(ctx)
	made, err := directory.Invite(ctx, w.Directory, w.Events, &in)
	if err != nil {
		return "", err
	}
	link = i.Link(url.QueryEscape(made.Token))
	if in.NoMail {
		return link, nil
	}
	if err := i.Mail(ctx, in.Email, link, made.Expires); err != nil {
		revoked := directory.RevokeInvitation(context.WithoutCancel(ctx), w.Directory, w.Events, directory.InvitationID(w.Directory, made.Token))
		return "", errors.Join(err, failure.Ignoring(revoked, storage.ErrNotFound)) // a later call may have replaced it
	}
	return "", directory.EndEarlier(context.WithoutCancel(ctx), w.Directory, made)
}

// Invitations lists the invitations of the tenant that ctx names, the newest first. It
// leaves out those that were used up, were revoked or have expired. The result has no
// links. It needs latchkey.Config.Invitations, and an Adapter that is a
// [storage.ChallengeAdapter].
func (u *Users) Invitations(ctx context.Context) ([]Invitation, error) {
	w, _, err := u.inviting(ctx)
	if err != nil {
		return nil, err
	}
	return directory.Invitations(ctx, w.Directory)
}

// RevokeInvitation ends an invitation, named by [Invitation].ID. It returns ErrNotFound
// if there is no such invitation any more. It needs latchkey.Config.Invitations, and an
// Adapter that is a [storage.ChallengeAdapter].
func (u *Users) RevokeInvitation(ctx context.Context, id string) error {
	w, _, err := u.inviting(ctx)
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	return directory.RevokeInvitation(ctx, w.Directory, w.Events, id)
}

// inviting opens the directory, and returns it with what makes invitations. A site
// without invitations is ErrInvalidConfig.
func (u *Users) inviting(ctx context.Context) (*directory.Work, *Inviter, error) {
	i, err := u.backend.Inviter(ctx)
	if err != nil {
		return nil, nil, err
	}
	w, err := u.backend.Open(ctx)
	return w, i, err
}
