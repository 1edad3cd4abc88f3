package directory

import (
	"cmp"
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/storage"
)

// Invitations of e-mail addresses. A client that has the link accepts an invitation. The
// sign-in that proves the address takes it.

// Invited is an accepted invitation that a sign-in takes.
type Invited struct {
	challenge.Invitation

	taken bool // in a store without transactions
}

// Shown returns the invitation as the application gets it; nil for nil.
func (in *Invited) Shown() *event.Invitation {
	if in == nil {
		return nil
	}
	return new(ShownInvitation(&in.Invitation))
}

// ShownInvitation returns an invitation as the application gets it.
func ShownInvitation(in *challenge.Invitation) event.Invitation {
	return event.Invitation{
		ID: in.ID, Email: in.Email, CallbackURL: in.CallbackURL, Data: in.Data, NoMail: !in.Mailed, Created: in.Created, Expires: in.Expires,
	}
}

// Made is an invitation that Invite has stored.
type Made struct {
	Token   string // the secret of its link
	Expires time.Time

	earlier []*challenge.Row // invitations to the same address that are still there
}

// Invite stores an invitation, and sends no mail. With in.NoMail it ends earlier invitations
// to the address. Otherwise the caller calls [EndEarlier] after the mail. If the mail cannot
// be sent, the earlier link still works. A zero in.Expires means seven days. Invite
// returns an InputError for an expiry that has passed or is more than 30 days away, for an
// empty address, and for more than 4 KiB of Data. It adds the event InvitationMade.
func Invite(ctx context.Context, d *Directory, q *Outbox, in *event.Invitation) (made Made, err error) {
	now, life := d.Now(), time.Duration(0)
	if !in.Expires.IsZero() {
		if life = in.Expires.Sub(now); life <= 0 {
			life = -1 // which is refused
		}
	}
	asked := challenge.Invitation{Email: in.Email, CallbackURL: in.CallbackURL, Data: in.Data, Mailed: !in.NoMail}
	err = q.together(ctx, d.Store, func(ctx context.Context, s *Store) (err error) {
		rows := d.Waiting(s)
		if made.Token, made.earlier, err = rows.Invite(ctx, asked, life); err != nil {
			return err
		}
		if in.NoMail {
			if err := rows.EndRows(ctx, made.earlier); err != nil {
				return err
			}
		}
		q.Add(event.Event{Type: event.InvitationMade}, nil)
		return nil
	})
	made.Expires = now.Add(cmp.Or(life, challenge.InvitationLife))
	return made, err
}

// EndEarlier ends the invitations to the address of made that Invite has found before it.
func EndEarlier(ctx context.Context, d *Directory, made Made) error {
	return d.Waiting(d.Store).EndRows(ctx, made.earlier)
}

// RevokeInvitation removes the invitation with an id, and adds the event
// InvitationRevoked. It returns ErrNotFound if there is none.
func RevokeInvitation(ctx context.Context, d *Directory, q *Outbox, id string) error {
	return q.together(ctx, d.Store, func(ctx context.Context, s *Store) error {
		err := d.Waiting(s).RevokeInvitation(ctx, id)
		if err == nil {
			q.Add(event.Event{Type: event.InvitationRevoked}, nil)
		}
		return err
	})
}

// InvitationTo returns the newest accepted invitation to an address, or nil. It leaves out
// invitations that have expired. For an empty email it returns nil.
func InvitationTo(ctx context.Context, d *Directory, email string) (*Invited, error) {
	if email == "" {
		return nil, nil
	}
	all, err := d.Waiting(d.Store).Invitations(ctx, email)
	if err != nil {
		return nil, err
	}
	for _, in := range all {
		if in.Accepted {
			return &Invited{Invitation: in}, nil
		}
	}
	return nil, nil
}

// InvitationOf returns the accepted invitation that a sign-in takes, or nil. It looks for
// the address of the sign-in only if that is proven: by this sign-in, by its provider, or
// before. known is the stored user that the sign-in ends in; nil: none. It returns
// in.Invitation if an earlier try of the sign-in has removed that from the store.
func InvitationOf(ctx context.Context, d *Directory, in *Assertion, known *storage.User) (*Invited, error) {
	email := ""
	switch a := &in.Account; {
	case in.ProvesEmail:
		email = in.Person.Email
	case known != nil && (!known.EmailVerified.IsZero() || d.vouched(a, known.Email)):
		email = known.Email
	case known == nil && !in.Vouched && d.vouched(a, in.Person.Email):
		email = in.Person.Email
	}
	if was := in.Invitation; was != nil && was.taken && was.Email == email {
		return was, nil
	}
	return InvitationTo(ctx, d, email)
}

// takeInvitation removes the invitation of a sign-in; nil: there is none. If the
// invitation is gone, it returns ErrVerification: the application may have allowed the
// sign-in because of it. Without transactions a second call for the same Invited does
// nothing.
func takeInvitation(ctx context.Context, d *Directory, s *Store, in *Invited) error {
	if in == nil || in.taken {
		return nil
	}
	in.taken = s.Tx == nil
	return voidIf(d.Waiting(s).TakeInvitation(ctx, in.ID))
}

// Invitations returns the invitations that have not expired and that no sign-in has
// taken, the newest first. Those that were accepted are among them.
func Invitations(ctx context.Context, d *Directory) ([]event.Invitation, error) {
	found, err := d.Waiting(d.Store).Invitations(ctx, "")
	var all []event.Invitation
	for i := range found {
		all = append(all, ShownInvitation(&found[i]))
	}
	return all, err
}

// InvitationID returns the id of the invitation that a token names. It does not look
// whether there is such an invitation.
func InvitationID(d *Directory, token string) string { return d.Box.ID(challenge.Invite, token) }
