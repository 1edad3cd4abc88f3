package challenge

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/storage"
)

const (
	// InvitationLife is how long an invitation lives if nothing else is said.
	InvitationLife = 7 * 24 * time.Hour
	// LongestInvitation is the longest life of an invitation.
	LongestInvitation = 30 * 24 * time.Hour
	// mostInvitationData bounds what the application keeps with an invitation, in bytes.
	mostInvitationData = 4 << 10
)

// Invitation is what an address is invited with.
type Invitation struct {
	ID          string // of the row; not its secret
	Email       string // the address
	CallbackURL string // where the browser goes in the end
	Data        string // the application's own
	Mailed      bool   // the site has mailed the link, so that opening it proves the address
	Accepted    bool   // a client that has the link accepted it
	Created     time.Time
	Expires     time.Time
}

// invitationData is the sealed data of an invitation.
type invitationData struct {
	CallbackURL string `json:"callbackUrl,omitempty"`
	Data        string `json:"data,omitempty"`
	Mailed      bool   `json:"mailed,omitempty"`
}

// Invite stores an invitation, and sends no mail. It returns the secret of its link, and
// the earlier invitations to the same address, for [Rows.EndRows]. It takes Email,
// CallbackURL, Data and Mailed from in. The caller has put Email into canonical form:
// addresses are compared byte by byte. A life of 0 is [InvitationLife]. Invite returns an
// InputError if the address is empty, the life is negative, or the life or the data exceed
// their limits. Other errors are those of the store.
func (r *Rows) Invite(ctx context.Context, in Invitation, life time.Duration) (token string, earlier []*Row, err error) {
	switch {
	case in.Email == "":
		return "", nil, &fault.InputError{Field: "Invitation.Email", Problem: "it is empty"}
	case life < 0 || life > LongestInvitation:
		return "", nil, &fault.InputError{Field: "Invitation.Expires", Problem: "want a time in the future, and 30 days from now at most; zero is 7 days"}
	case len(in.Data) > mostInvitationData:
		return "", nil, &fault.InputError{Field: "Invitation.Data", Problem: fmt.Sprintf("it has %d bytes, want at most %d", len(in.Data), mostInvitationData)}
	case life == 0:
		life = InvitationLife
	}
	if earlier, err = r.List(ctx, Invite, "", in.Email); err != nil {
		return "", nil, err
	}
	data := invitationData{in.CallbackURL, in.Data, in.Mailed}
	token, err = r.Create(ctx, Draft{Purpose: Invite, Identifier: in.Email, Data: data, Life: life})
	return token, earlier, err
}

// Invitation returns the invitation that a token names, and does not use it up. token is
// the secret of its link. Invitation returns storage.ErrNotFound if the invitation was
// taken, revoked or replaced, has expired, or never was.
func (r *Rows) Invitation(ctx context.Context, token string) (Invitation, error) {
	row, err := r.Get(ctx, Invite, token)
	if err != nil {
		return Invitation{}, err
	}
	return invitationOf(row)
}

// AcceptInvitation marks the invitation that a token names as accepted. The invitation
// stays: TakeInvitation removes it when the user of its address signs in. A second call
// changes nothing that callers see. AcceptInvitation returns storage.ErrNotFound where
// Invitation does.
func (r *Rows) AcceptInvitation(ctx context.Context, token string) error {
	_, err := r.Try(ctx, Invite, token, math.MaxInt32)
	return err
}

// TakeInvitation removes an invitation by its id, accepted or not. Of any number of
// concurrent calls at most one succeeds; the others return storage.ErrNotFound.
// TakeInvitation also returns storage.ErrNotFound, and removes nothing, for an invitation
// that has expired and for the id of any other challenge.
func (r *Rows) TakeInvitation(ctx context.Context, id string) error {
	found, err := r.Store.Get(ctx, id)
	if err != nil {
		return err
	}
	if found.ID != id {
		return storage.ErrNotFound
	}
	if _, err := r.Box.Open(Invite, &found, r.Now()); err != nil {
		return err
	}
	_, err = r.Store.Take(ctx, id)
	return err
}

// Invitations returns the invitations of the tenant that have not expired, the newest
// first, accepted or not. An empty email matches every address.
func (r *Rows) Invitations(ctx context.Context, email string) ([]Invitation, error) {
	rows, err := r.List(ctx, Invite, "", email)
	if err != nil {
		return nil, err
	}
	var all []Invitation
	for _, row := range rows {
		in, err := invitationOf(row)
		if err != nil {
			return nil, err
		}
		all = append(all, in)
	}
	return all, nil
}

// RevokeInvitation calls TakeInvitation. It removes the invitation with an id, and
// returns storage.ErrNotFound for an invitation that is gone or has expired, and for the
// id of any other challenge.
func (r *Rows) RevokeInvitation(ctx context.Context, id string) error {
	return r.TakeInvitation(ctx, id)
}

// invitationOf returns the invitation in an opened row. It returns an error if the data
// of the row is not that of an invitation.
func invitationOf(row *Row) (Invitation, error) {
	var data invitationData
	if err := row.Read(&data); err != nil {
		return Invitation{}, err
	}
	return Invitation{
		ID: row.ID, Email: row.Identifier, CallbackURL: data.CallbackURL, Data: data.Data, Mailed: data.Mailed,
		Accepted: row.Tries > 0, Created: row.Created, Expires: row.Expires,
	}, nil
}
