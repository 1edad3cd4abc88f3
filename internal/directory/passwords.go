package directory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

// Passwords is what a directory does about passwords that the library keeps, the
// addresses of their users, and known browsers.
type Passwords struct{ *Directory }

// errChanged is the ErrVerification of a link that is gone, or whose account has changed.
var errChanged = failure.Wrap(fault.ErrVerification, &failure.Mistake{Err: failure.Of(fault.LinkUsed, errors.New("the link is void: it was used, or the account has changed since"))})

// KeepChallenges has d keep challenges, sealed under secrets: the first is in use, and
// older ones still open. It sets Box and Tenant of d. tenant is empty if there is one
// site.
func KeepChallenges(d *Directory, secrets []string, tenant string) {
	d.Box, d.Tenant, d.scan = challenge.NewBox(secrets, tenant), tenant, &dueScan{}
}

// Waiting returns the challenges of the site in a store, which may be bound to a
// transaction. Box must not be nil.
func (d *Directory) Waiting(s *Store) *challenge.Rows {
	return &challenge.Rows{Box: d.Box, Store: s.Challenges(), Now: d.Now}
}

// PasswordOf returns the stored password of a user, or nil if there is none.
func (d Passwords) PasswordOf(ctx context.Context, userID string) (*storage.PasswordHash, error) {
	return guarded.Optional(d.Store.Passwords().Get(ctx, userID))
}

// PasswordChange is a password to be set.
type PasswordChange struct {
	UserID string
	Hash   string // of the new password; empty: it is removed

	// Was is the stored hash that the user proved to know. A nil Was is for other
	// proofs: any stored hash is replaced.
	Was *string

	// Reset is the handle of a reset link; empty: there is none. The link proves the
	// address that it was sent to.
	Reset  string
	Second *Second // the second factor beside it, which is used up; nil: none

	Keep  string // id of the stored session that goes on; empty: none
	Renew func(ctx context.Context, s *Store, after time.Time) error
	Event event.Type
}

// SetPassword sets or removes the password of the user c.UserID, or of the user of the reset
// link c.Reset. It ends everything that the user proved before: all sessions but c.Keep,
// links, codes, known browsers and sign-ins under way. It does all of it in one transaction if
// the store has transactions. c.Renew gives the kept session a new token; its after is the
// first instant that is not void. SetPassword returns ErrConflict if the stored hash is not
// c.Was any more, and ErrLastAccount if it is to remove the password of a user who has no
// passkey. For a reset link that is void it returns ErrVerification, for one of a suspended
// user a Suspended, and for a c.Second that was used before ErrWrongProof. After an outage it
// gives back the try that TryReset has counted for c.Second. It adds the event c.Event.
func (d Passwords) SetPassword(ctx context.Context, q *Outbox, c PasswordChange) (u storage.User, err error) {
	err = q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		u, err = d.setPassword(ctx, q, s, &c)
		return err
	})
	if c.Second != nil {
		err = ReturnReset(ctx, d.Directory, c.Reset, err)
	}
	return u, err
}

// setPassword does the work of SetPassword in the transaction of s.
func (d Passwords) setPassword(ctx context.Context, q *Outbox, s *Store, c *PasswordChange) (storage.User, error) {
	var reset *ResetLink
	if c.Reset != "" {
		var err error
		if reset, err = d.takeReset(ctx, s, c.Reset); err != nil {
			return storage.User{}, err
		}
		c.UserID = reset.UserID
	}
	u, err := s.LockUser(ctx, c.UserID)
	if err == nil && c.Second != nil {
		err = useProof(ctx, d.Factors, q, s, c.Second)
	}
	if err == nil && reset != nil {
		u, err = d.proveByReset(ctx, q, s, &u, reset, c.Second)
	}
	if err != nil {
		return u, err
	}
	if err := d.storePassword(ctx, s, c); err != nil {
		return u, err
	}
	ended, err := d.endAll(ctx, q, s, u.ID, c.Keep)
	if err == nil {
		err = d.dropProofs(ctx, s, u.ID)
	}
	if err == nil {
		err = renewKept(ctx, d.Directory, s, u.ID, c.Keep, c.Renew, after(ended))
	}
	q.Add(event.Event{Type: c.Event, UserID: u.ID}, nil)
	return u, err
}

// after returns the first instant that an end leaves valid.
func after(ended time.Time) time.Time { return ended.Add(time.Millisecond) }

// storePassword stores c.Hash in place of the stored hash, if there is one. An empty
// c.Hash removes the password as removePassword does. storePassword returns ErrConflict
// if the stored hash is not c.Was any more.
func (d Passwords) storePassword(ctx context.Context, s *Store, c *PasswordChange) error {
	stored, err := guarded.Optional(s.Passwords().Get(ctx, c.UserID))
	if err != nil {
		return err
	}
	was := ""
	if stored != nil {
		was = stored.Hash
	}
	if c.Was != nil && *c.Was != was {
		return storage.ErrConflict
	}
	if c.Hash == "" {
		return d.removePassword(ctx, s, c.UserID)
	}
	now := d.Now().UTC()
	return s.Passwords().Set(ctx, storage.PasswordHash{UserID: c.UserID, Hash: c.Hash, Created: now, Changed: now}, was)
}

// removePassword removes the hash of a user that has a passkey to sign in with. It
// returns ErrLastAccount for a user without one.
func (d Passwords) removePassword(ctx context.Context, s *Store, userID string) error {
	accounts, keys, err := d.WaysIn(ctx, s, userID)
	if err != nil {
		return err
	}
	if !SignsInByPasskey(d.Directory, accounts, keys) {
		return fault.ErrLastAccount
	}
	return s.Passwords().Delete(ctx, userID)
}

// SignsInByPasskey reports whether one of the accounts belongs to a passkey in keys and
// has a configured provider.
func SignsInByPasskey(d *Directory, accounts []storage.Account, keys []storage.Authenticator) bool {
	return slices.ContainsFunc(accounts, func(a storage.Account) bool {
		_, configured := d.Providers[a.Provider]
		return configured && slices.ContainsFunc(keys, func(k storage.Authenticator) bool { return IsKeyOf(&k, &a) })
	})
}

// dropProofs deletes what the end of a user's sessions has made void, to save space:
// known browsers, sign-ins that wait, enrolments, mailed codes, and links that set a
// password or move an address. Links that undo a move or stop a change stay.
func (d Passwords) dropProofs(ctx context.Context, s *Store, userID string) error {
	if s.Has(AbilityBrowsers) {
		if _, err := s.Browsers().Delete(ctx, userID, ""); err != nil {
			return err
		}
	}
	_, err := s.Challenges().Delete(ctx, userID,
		string(challenge.SignIn), string(challenge.Enrol), string(challenge.Reauth), string(challenge.Code), string(challenge.Reset), string(challenge.Email))
	return err
}

// Rehash replaces the hash of a right password by a newer hash of the same password, and
// clears the count of wrong ones. stored is the row as it was compared. If the user is
// gone, or a concurrent call has changed the password or requires a new one, Rehash
// changes nothing and returns nil.
func (d Passwords) Rehash(ctx context.Context, stored *storage.PasswordHash, hash string) error {
	err := d.Store.InTx(ctx, func(ctx context.Context, s *Store) error {
		if _, err := s.LockUser(ctx, stored.UserID); err != nil {
			return err
		}
		now, err := s.Passwords().Get(ctx, stored.UserID)
		if err != nil || now.Hash != stored.Hash || now.Renew != stored.Renew {
			return err
		}
		now.Hash, now.Failures = hash, 0
		return s.Passwords().Set(ctx, now, stored.Hash)
	})
	return failure.Ignoring(failure.Ignoring(err, storage.ErrConflict), storage.ErrNotFound)
}

// RequireNewPassword marks the password of a user so that it signs the user in no more,
// and ends the user's sessions and everything that the user proved before. The hash
// stays. It returns ErrNotFound for an unknown user and for one without a password. It
// adds the event PasswordRequired.
func (d Passwords) RequireNewPassword(ctx context.Context, q *Outbox, userID string) error {
	return q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		if _, err := s.LockUser(ctx, userID); err != nil {
			return err
		}
		stored, err := s.Passwords().Get(ctx, userID)
		if err != nil {
			return err
		}
		stored.Renew = true
		if err := s.Passwords().Set(ctx, stored, stored.Hash); err != nil {
			return err
		}
		q.Add(event.Event{Type: event.PasswordRequired, UserID: userID}, nil)
		_, err = d.endAll(ctx, q, s, userID, "")
		return err
	})
}

// ResetLink is what a link for a new password says.
type ResetLink struct {
	UserID string
	Email  string    // the address that it was sent to
	issued time.Time // compared with the instant before which everything is void
}

// resetData is the sealed part of a reset link's row.
type resetData struct {
	Issued time.Time `json:"issued"`
}

// NewReset stores a link that sets a new password of u, and returns its handle and
// expiry. It sends no mail. Earlier links stay.
func (d Passwords) NewReset(ctx context.Context, u *storage.User, life time.Duration) (handle string, expires time.Time, err error) {
	now := d.Now()
	handle, err = d.Waiting(d.Store).Create(ctx, challenge.Draft{
		Purpose: challenge.Reset, UserID: u.ID, Identifier: u.Email, Life: life,
		Data: resetData{d.Revocations.IssueTime(u.ID, now)},
	})
	return handle, now.Add(life), err
}

// LookAtReset returns what a reset link says, without using it up. It returns
// ErrVerification if the link was used or has expired, if the user is gone or has another
// address, or if the user's sessions were ended since. For a suspended user the error is
// a Suspended.
func (d Passwords) LookAtReset(ctx context.Context, handle string) (*ResetLink, error) {
	row, err := d.Waiting(d.Store).Get(ctx, challenge.Reset, handle)
	if err != nil {
		return nil, voidIf(err)
	}
	return d.resetOf(ctx, d.Store, row)
}

// TryReset counts one try at the second factor that is typed beside a reset link. The
// caller calls it before it compares the factor. It returns ErrVerification if the link
// was used or has expired. If five tries were counted before, it returns ErrVerification
// and ends the link.
func (d Passwords) TryReset(ctx context.Context, handle string) error {
	_, err := d.Waiting(d.Store).Try(ctx, challenge.Reset, handle, factor.MostTries)
	if errors.Is(err, challenge.ErrSpent) {
		return errChanged
	}
	return voidIf(err)
}

// ReturnReset gives back the try that TryReset has counted, if [IsUncounted] is true for err,
// the outcome of that try. It returns err, joined with an error of giving back.
func ReturnReset(ctx context.Context, d *Directory, handle string, err error) error {
	return returnTry(ctx, d, challenge.Reset, handle, err)
}

// takeReset uses up a reset link, locks its user, and returns what the link says, with
// the errors of LookAtReset.
func (d Passwords) takeReset(ctx context.Context, s *Store, handle string) (*ResetLink, error) {
	row, err := d.Waiting(s).Take(ctx, challenge.Reset, handle)
	if err != nil {
		return nil, voidIf(err)
	}
	if _, err := s.LockUser(ctx, row.UserID); err != nil { // before the instant is compared
		return nil, voidIf(err)
	}
	return d.resetOf(ctx, s, row)
}

// resetOf returns what the row of a reset link says. It returns errChanged if the user is
// gone, has another address by now, or has ended all sessions since the link was made,
// and a Suspended if the user is suspended.
func (d Passwords) resetOf(ctx context.Context, s *Store, row *challenge.Row) (*ResetLink, error) {
	var data resetData
	if err := row.Read(&data); err != nil {
		return nil, errChanged
	}
	u, err := s.User(ctx, row.UserID)
	if err != nil {
		return nil, voidIf(err)
	}
	if !hasEmail(row.Identifier)(u) {
		return nil, errChanged
	}
	if err := refuse(d.Directory, &Assertion{}, u.Suspension); err != nil {
		return nil, err
	}
	if err := d.isLater(ctx, s, u.ID, data.Issued); err != nil {
		return nil, err
	}
	return &ResetLink{UserID: u.ID, Email: u.Email, issued: data.Issued}, nil
}

// isLater returns errChanged if issued, the time of a proof or a link of a user, is not
// after the last end of the user's sessions. Any other error is that of the store.
func (d Passwords) isLater(ctx context.Context, s *Store, userID string, issued time.Time) error {
	void, err := d.Revocations.userVoidAt(ctx, s, userID)
	if err == nil && !void.IsZero() && !issued.After(void) {
		err = errChanged
	}
	return err
}

// voidIf returns errChanged if err is ErrNotFound, and err otherwise.
func voidIf(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return errChanged
	}
	return err
}

// proveByReset marks the address of a user as proven by a reset link that was sent to it,
// removes what a first proof removes, and returns the user as stored. It does nothing if
// the address was proven before. second is the factor that was shown; nil: none.
func (d Passwords) proveByReset(ctx context.Context, q *Outbox, s *Store, u *storage.User, r *ResetLink, second *Second) (storage.User, error) {
	if !u.EmailVerified.IsZero() {
		return *u, nil
	}
	proof := &SignIn{Assertion: Assertion{ProvesEmail: true, Issued: r.issued, Started: d.Now(), Second: second}, User: *u}
	err := d.proveEmail(ctx, q, s, proof)
	return proof.User, err
}
