// Package directory decides what happens to users, their accounts, passkeys and
// sessions, and keeps it in a store. It knows neither requests nor cookies nor
// configuration.
package directory

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// Directory knows users, their accounts and their stored sessions. It decides to
// which user a sign-in belongs, and what is created, linked or detached on the
// way. It adds the events to the caller's [Outbox]. It is safe for concurrent use.
type Directory struct {
	Store          *Store
	Revocations    *Revocations             // nil: none
	Tokens         TokenKeeper              // nil: an account keeps the tokens that it was linked with, as they are
	Providers      map[string]ProviderFacts // by id
	ProvesEmails   bool                     // some provider's sign-in may be the first proof of an e-mail address
	RefuseEviction bool
	EndlessTokens  bool           // sessions are JWTs, and nothing remembers that one has ended
	StoredSessions bool           // sessions are rows
	Factors        *Factors       // nil: the site has no second factors
	MovesAddresses bool           // e-mail addresses of users can change
	Passwords      bool           // the library keeps passwords, so that a proven e-mail address is a way in
	Hints          *Hints         // seals what a logout at a provider needs; nil: there is none
	Box            *challenge.Box // seals challenges; nil: nothing needs them, nor known browsers
	// ExportMore returns what the application keeps of a user. nil: nothing.
	ExportMore func(ctx context.Context, u storage.User) (any, error)
	Tenant     string // empty: there is one site
	Log        *journal.Logger
	Now        func() time.Time

	scan *dueScan // with Box
}

// Work is a piece of work on a directory, with its own outbox.
type Work struct {
	*Directory
	Events *Outbox

	// SessionID is the stored session of the request that the work belongs to. An
	// empty SessionID is none, or is not known.
	SessionID string

	Tell func(ctx context.Context) // calls the application's callbacks for Events

	// MailReset tells the owner of an account by mail that an administrator has removed
	// its second factors, where the site can.
	MailReset func(ctx context.Context, u *storage.User)

	Cursors *people.Cursors // of lists of users

	ActsAs bool // administrators can act as users
}

// ProviderFacts are what the directory asks about a configured provider.
type ProviderFacts struct {
	Type          storage.ProviderType
	ProvesNoEmail bool // it hands out e-mail addresses that were never proven
}

// SessionPlan is what has to be stored together with a sign-in.
type SessionPlan struct {
	Row    storage.StoredSession // its UserID is not known yet
	Former string                // token of the session that the request came with; empty: none
}

// SignIn is a sign-in with the user that it belongs to.
type SignIn struct {
	Assertion
	User      storage.User
	IsNew     bool
	Session   storage.StoredSession // with stored sessions; for a tracked token only its ID is set
	begun     time.Time             // from when it counts: an end of the user's sessions at this time or later voids it
	locked    storage.User          // the user that its transaction has locked; zero: none
	heldOf    string                // id of the user whose session claimSession has claimed; empty: none
	wasEnded  bool                  // something has ended the sessions of its user lately
	IsLink    bool                  // it linked an account to the signed-in user: that is no new sign-in
	wasProven bool                  // the user that the application named had a proven e-mail address
	proved    bool                  // it was the first proof of the user's e-mail address
	Actor     *ActorSession         // of the administrator who acts as the user; nil: it is the user's own
	Until     time.Time             // when a session ends in which an administrator acts
	IsRefused bool                  // the application has opened no session for it
	Since     int64                 // auth_time of the token it opened, in milliseconds; 0: not tracked
}

// KnownUser returns the stored user that an assertion belongs to already, or nil: the one
// whose password was shown, the one with the proven or new address, or else the owner of
// the account. For a user that the application names it returns nil. It writes nothing.
func (d *Directory) KnownUser(ctx context.Context, s *Store, in *Assertion) (*storage.User, error) {
	switch {
	case in.Vouched:
		return nil, nil
	case in.UserID != "":
		return guarded.Optional(s.User(ctx, in.UserID))
	case in.ProvesEmail, in.NewPassword != nil:
		return guarded.Optional(s.UserByEmail(ctx, in.Person.Email))
	default:
		return guarded.Optional(s.userByAccount(ctx, &in.Account))
	}
}

// CommitSignIn decides to which user a sign-in belongs, creates and links what is
// missing, and stores the session that plan describes; nil: none. If sessions take part in
// transactions (SessionsInTx), it does all of it or nothing. A logout at the provider
// meanwhile undoes the session alone. current is the signed-in user that a new account is
// linked to; nil: none. After an ErrConflict CommitSignIn tries once more. It returns
// an OtherUser if in.Allowed is set and does not have the user. If the conflict stays, or the
// account belongs to another user, it returns the error of notLinked. Its other errors include
// in.SessionGone, ErrNotFresh, a Suspended, ErrEnded, ErrAddressTaken, and those of the store.
func (d *Directory) CommitSignIn(ctx context.Context, q *Outbox, in Assertion, current *storage.User, plan *SessionPlan) (*SignIn, error) {
	fill.Default(&in.Started, d.Now())
	signIn, err := d.tryCommit(ctx, q, in, current, plan)
	if errors.Is(err, storage.ErrConflict) {
		signIn, err = d.tryCommit(ctx, q, in, current, plan)
	}
	if errors.Is(err, storage.ErrConflict) {
		err = notLinked(&in)
	}
	if errors.Is(err, ErrSessionGone) {
		err = in.SessionGone()
	}
	return signIn, err
}

// tryCommit runs the sign-in once, in one transaction. If sessions take no part in it,
// tryCommit stores the session after the commit. If the provider has ended its session
// before or meanwhile, tryCommit returns an error that is ErrEnded.
func (d *Directory) tryCommit(ctx context.Context, q *Outbox, in Assertion, current *storage.User, plan *SessionPlan) (*SignIn, error) {
	in.Said = nil                                                                                 // a stored user's empty fields are null
	if err := AcceptAtProvider(ctx, d.Store, d.Revocations, &SignIn{Assertion: in}); err != nil { // and once more below
		return nil, err
	}
	var signIn *SignIn
	err := q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		signIn = &SignIn{Assertion: in, User: in.Person}
		if err := spendSecond(ctx, d.Factors, q, s, signIn); err != nil {
			return err
		}
		if err := takeInvitation(ctx, d, s, signIn.Invitation); err != nil {
			return err
		}
		if err := d.claimSession(ctx, s, signIn, current, plan); err != nil {
			return err
		}
		if err := d.resolve(ctx, q, s, signIn, current); err != nil {
			return err
		}
		if err := endStaffWork(ctx, d, q, s, signIn); err != nil {
			return err
		}
		if signIn.begun.IsZero() { // nothing of a new user can have been ended yet
			signIn.begun = in.Started.Truncate(time.Millisecond)
		}
		if signIn.Invitation != nil {
			q.Add(event.Event{Type: event.InvitationUsed, UserID: signIn.User.ID}, nil)
		}
		if err := enrolSecond(ctx, d.Factors, q, s, signIn); err != nil {
			return err
		}
		return storeSessionInTx(ctx, d, q, s, signIn, plan)
	})
	if err == nil && !d.Store.SessionsInTx() { // sessions take part in no transaction; the end of the client's connection does not stop this
		ctx := context.WithoutCancel(ctx)
		if err = d.evictSessionsLate(ctx, signIn); err == nil {
			err = d.storeSession(ctx, d.Store, signIn, plan)
		}
	}
	if err == nil {
		err = AcceptAtProvider(ctx, d.Store, d.Revocations, signIn)
	}
	if err != nil {
		return nil, err
	}
	return signIn, nil
}

// resolve decides to which user a sign-in belongs, and writes that user into signIn. It
// creates and links what is missing.
func (d *Directory) resolve(ctx context.Context, q *Outbox, s *Store, signIn *SignIn, current *storage.User) error {
	if signIn.Vouched {
		return d.resolveVouched(ctx, s, signIn)
	}
	owner, err := d.KnownUser(ctx, s, &signIn.Assertion)
	if err != nil {
		return err
	}
	switch {
	case signIn.ByLink && (owner != nil || signIn.Invitation == nil):
		return errChanged
	case signIn.NewPassword != nil:
		return Passwords{d}.signUp(ctx, q, s, signIn, owner)
	case signIn.UserID != "":
		return Passwords{d}.resolveByPassword(ctx, s, signIn, owner)
	case signIn.ProvesEmail:
		return d.resolveByEmail(ctx, q, s, signIn, owner)
	}
	return d.resolveByAccount(ctx, q, s, signIn, owner, current)
}

// resolveByAccount signs in the owner of an account, links an account without an owner to
// the signed-in user, and otherwise finds or creates a user. It finds one by e-mail address
// only if the provider is trusted to have proven it. Any other known address, and an account
// of another user, is refused with the error of notLinked, a stale sign-in with ErrNotFresh.
func (d *Directory) resolveByAccount(ctx context.Context, q *Outbox, s *Store, signIn *SignIn, owner, current *storage.User) error {
	if err := checkConnect(&signIn.Assertion, owner, current); err != nil {
		return err
	}
	switch {
	case owner != nil && current != nil && owner.ID != current.ID, signIn.contradicts(owner, current):
		return notLinked(&signIn.Assertion)
	case owner != nil:
		if err := d.recognise(ctx, s, signIn, *owner); err != nil {
			return err
		}
		row, err := s.ownedAccount(ctx, &signIn.Account, owner)
		if err != nil {
			return err
		}
		if err := replaceTokens(ctx, d, s, signIn, row); err != nil {
			return err
		}
		signIn.keepJoinedNames()
		return d.awaitProof(ctx, s, signIn, owner)
	case current != nil && signIn.IsStale:
		return failure.WrapFor(notLinkedType(&signIn.Assertion), signIn.Account.Provider, failure.Of(fault.AccountFresh, ErrNotFresh))
	case current != nil:
		signIn.IsLink = true
		signIn.keepJoinedNames()
		if err := d.recognise(ctx, s, signIn, *current); err != nil {
			return err
		}
		if err := d.awaitProof(ctx, s, signIn, current); err != nil {
			return err
		}
		return d.linkAccount(ctx, q, s, signIn)
	}
	return resolveNewAccount(ctx, d, q, s, signIn)
}

// resolveNewAccount finds or creates the user of an account that belongs to no
// user, for a browser in which no user is signed in.
func resolveNewAccount(ctx context.Context, d *Directory, q *Outbox, s *Store, signIn *SignIn) error {
	namesake, err := guarded.Optional(s.UserByEmail(ctx, signIn.User.Email))
	if err != nil {
		return err
	}
	begun, err := d.beginSignUp(ctx, s, signIn)
	switch {
	case err != nil:
	case begun != nil:
		signIn.IsNew = true
		err = signIn.endIn(begun)
	case namesake == nil:
		err = d.createUser(ctx, q, s, signIn)
	case !signIn.mayLink():
		return d.refuseNamesake(ctx, s, signIn)
	default:
		if err = d.recognise(ctx, s, signIn, *namesake); err == nil {
			err = d.proveEmail(ctx, q, s, signIn)
		}
	}
	if err != nil {
		return err
	}
	return d.linkAccount(ctx, q, s, signIn)
}

// ErrNotFresh reports that the sign-in of the session is too old to link an
// account. An attacker with a stolen session must not gain a sign-in method of
// their own.
var ErrNotFresh = errors.New("linking an account takes a recent sign-in")

// refuseNamesake returns the error for an account whose e-mail address is that of another
// user. If the account has got an owner since it was looked up, such as by a sign-in in
// another window, the error is ErrConflict: the sign-in is tried again with that owner.
func (d *Directory) refuseNamesake(ctx context.Context, s *Store, signIn *SignIn) error {
	owner, err := d.KnownUser(ctx, s, &signIn.Assertion)
	if err != nil {
		return err
	}
	if owner != nil {
		return storage.ErrConflict
	}
	return notLinked(&signIn.Assertion)
}

// resolveByEmail signs in the user of the mailbox, or creates one: the client that opened
// the link has proven the address.
func (d *Directory) resolveByEmail(ctx context.Context, q *Outbox, s *Store, signIn *SignIn, owner *storage.User) error {
	if owner == nil {
		signIn.User.EmailVerified = d.Now().UTC()
		return d.createUser(ctx, q, s, signIn)
	}
	if err := d.recognise(ctx, s, signIn, *owner); err != nil {
		return err
	}
	if owner.EmailVerified.IsZero() {
		return d.proveEmail(ctx, q, s, signIn)
	}
	q.addUser(event.UserUpdated, signIn.User) // Auth.js sends this event at each magic link; nothing was written
	return nil
}

// beginSignUp returns the user that an interrupted sign-up of this account has created
// or nil. It sets signIn.User.ID to the id on record for the account, or records a
// new one. It does nothing with transactions, or if the store has no such records. If the
// user's e-mail address was proven or changed since, another client may have become that user:
// beginSignUp makes a new record and returns nil.
func (d *Directory) beginSignUp(ctx context.Context, s *Store, signIn *SignIn) (*storage.User, error) {
	if !d.Store.remembersSignUps() {
		return nil, nil
	}
	begun, err := d.recordSignUp(ctx, s, signIn)
	if err != nil || begun == nil || begun.EmailVerified.IsZero() && hasEmail(signIn.User.Email)(*begun) {
		return begun, err
	}
	if err := s.endSignUp(ctx, &signIn.Account); err != nil {
		return nil, err
	}
	_, err = d.recordSignUp(ctx, s, signIn)
	return nil, err
}

// recordSignUp sets signIn.User.ID to the id on record for the account, and returns the
// user with that id, or nil. Without a record it makes one of signIn.Person.ID or a new
// id.
func (d *Directory) recordSignUp(ctx context.Context, s *Store, signIn *SignIn) (*storage.User, error) {
	fresh := cmp.Or(signIn.Person.ID, secret.NewUserID())
	id, err := s.beginSignUp(ctx, &signIn.Account, fresh)
	if err != nil {
		return nil, err
	}
	signIn.User.ID = id
	return guarded.Optional(s.User(ctx, id))
}
