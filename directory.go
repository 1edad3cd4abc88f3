package latchkey

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// directory knows users, their accounts and their stored sessions: whose a
// sign-in is, and what is created, linked or detached on the way. It knows no
// request. What happened is queued for the application in the caller's queue.
type directory struct {
	store          *store
	revocations    *revocations             // nil: none
	providers      map[string]ProviderFacts // by id
	provesEmails   bool                     // some provider's sign-in may be the first proof of an e-mail address
	refuseEviction bool
	endlessTokens  bool // sessions are JWTs, and nothing remembers that one has ended
	log            *journal.Logger
	now            func() time.Time
}

// ProviderFacts are what the directory asks about a configured provider.
type ProviderFacts struct {
	Type          storage.ProviderType
	ProvesNoEmail bool // it hands out e-mail addresses that were never proven
}

// sessionPlan is what has to be stored together with a sign-in.
type sessionPlan struct {
	row    storage.StoredSession // its UserID is not known yet
	former string                // token of the session that the request came with; empty: none
}

// signInResult is the user an assertion turned out to be.
type signInResult struct {
	assertion
	user      User
	isNew     bool
	session   storage.StoredSession // with stored sessions; of a token that is tracked the ID
	begun     time.Time             // before anything was written: what is revoked later voids it; zero: nothing was
	revokedAt time.Time             // when this sign-in ended the sessions before it; zero: it did not
	held      time.Time             // when the session that this was begun in was found alive; zero: in none
	isLink    bool                  // it gave who was signed in another account: that proves nobody anew
	proved    bool                  // it was the first proof of the user's e-mail address
	since     int64                 // auth_time of the token it opened, in milliseconds; 0: not tracked
}

// knownUser finds the user an assertion already is to us, or nil. It writes
// nothing.
func (d *directory) knownUser(ctx context.Context, s *store, in *assertion) (*User, error) {
	switch {
	case in.vouched:
		return nil, nil
	case in.provesEmail:
		return guarded.Optional(s.userByEmail(ctx, in.person.Email))
	default:
		return guarded.Optional(s.userByAccount(ctx, &in.account))
	}
}

// commitSignIn decides which user this is, creates and links what is missing,
// and stores the session: all of it or nothing. here is who is signed in
// already, where that has a say. When somebody else was faster with a unique
// key, what they did is looked at once more.
func (d *directory) commitSignIn(ctx context.Context, q *Outbox, in assertion, here *User, plan *sessionPlan) (*signInResult, error) {
	who, err := d.tryCommit(ctx, q, in, here, plan)
	if errors.Is(err, ErrConflict) {
		who, err = d.tryCommit(ctx, q, in, here, plan)
	}
	if errors.Is(err, ErrConflict) {
		err = notLinked(&in)
	}
	return who, err
}

func (d *directory) tryCommit(ctx context.Context, q *Outbox, in assertion, here *User, plan *sessionPlan) (*signInResult, error) {
	in.said = nil // a stored user's empty fields are null
	begun := q.mark()
	var who *signInResult
	err := d.store.inTx(ctx, func(ctx context.Context, s *store) error {
		q.rewind(begun)
		who = &signInResult{assertion: in, user: in.person, begun: d.now()}
		if err := d.holdSession(ctx, s, who, here, plan); err != nil {
			return err
		}
		if err := d.resolve(ctx, q, s, who, here); err != nil {
			return err
		}
		if d.store.isTogether() {
			return d.storeSession(ctx, s, who, plan)
		}
		return nil
	})
	if err != nil && d.store.tx != nil {
		q.rewind(begun) // rolled back: it did not happen
	}
	if err == nil && !d.store.isTogether() { // no transaction waits for sessions, and no client that hangs up stops this
		ctx := context.WithoutCancel(ctx)
		if err = d.evictSessionsLate(ctx, who); err == nil {
			err = d.storeSession(ctx, d.store, who, plan)
		}
	}
	if err != nil {
		return nil, err
	}
	return who, nil
}

// resolve decides whose sign-in this is.
func (d *directory) resolve(ctx context.Context, q *Outbox, s *store, who *signInResult, here *User) error {
	if who.vouched {
		return d.resolveVouched(ctx, s, who)
	}
	owner, err := d.knownUser(ctx, s, &who.assertion)
	if err != nil {
		return err
	}
	if who.provesEmail {
		return d.resolveByEmail(ctx, q, s, who, owner)
	}
	return d.resolveByAccount(ctx, q, s, who, owner, here)
}

// resolveVouched: the application has checked who it is. A stored session needs
// a stored user; a token does not, and does not come here.
func (d *directory) resolveVouched(ctx context.Context, s *store, who *signInResult) error {
	known, err := guarded.Optional(s.user(ctx, who.user.ID))
	if err == nil && known == nil {
		err = failure.Wrap(ErrUnsupportedStrategy, errors.New("the adapter has no user with the id that Authorize returned: create one first (see docs/users.md), or set Session.Strategy to JWTSessions"))
	}
	return err
}

// resolveByAccount: an account keeps its owner; who is signed in gains it; a
// stranger becomes a new user. A known e-mail address never decides, unless the
// provider is trusted to have proved it.
func (d *directory) resolveByAccount(ctx context.Context, q *Outbox, s *store, who *signInResult, owner, here *User) error {
	switch {
	case owner != nil && here != nil && owner.ID != here.ID, who.contradicts(owner, here):
		return notLinked(&who.assertion)
	case owner != nil:
		who.user = *owner
		if err := s.ownedBy(ctx, &who.account, owner); err != nil {
			return err
		}
		return d.awaitProof(ctx, s, owner)
	case here != nil && who.isStale:
		return failure.WrapFor(notLinkedType(&who.assertion), who.account.Provider, errNotFresh)
	case here != nil:
		who.user, who.isLink = *here, true
		if err := d.awaitProof(ctx, s, here); err != nil {
			return err
		}
		return d.linkAccount(ctx, q, s, who)
	}
	namesake, err := guarded.Optional(s.userByEmail(ctx, who.user.Email))
	if err != nil {
		return err
	}
	begun, err := d.beginSignUp(ctx, s, who)
	switch {
	case err != nil:
		return err
	case begun != nil:
		who.user, who.isNew = *begun, true
	case namesake == nil:
		if err := d.createUser(ctx, q, s, who); err != nil {
			return err
		}
	case !who.mayLink():
		return d.refuseNamesake(ctx, s, who)
	default:
		who.user = *namesake
		if err := d.proveEmail(ctx, q, s, who); err != nil {
			return err
		}
	}
	return d.linkAccount(ctx, q, s, who)
}

// errNotFresh: what takes a session must not gain a way in of its own.
var errNotFresh = errors.New("linking an account takes a recent sign-in")

// refuseNamesake: the e-mail address is taken. That may be by this very person,
// who has signed up in another window since the account was looked for.
func (d *directory) refuseNamesake(ctx context.Context, s *store, who *signInResult) error {
	owner, err := d.knownUser(ctx, s, &who.assertion)
	if err != nil {
		return err
	}
	if owner == nil {
		return notLinked(&who.assertion)
	}
	who.user = *owner
	return nil
}

// notLinked: the account, or its e-mail address, is somebody else's.
func notLinked(in *assertion) error {
	return failure.WrapFor(notLinkedType(in), in.account.Provider, errors.New("the account or its e-mail address belongs to another user"))
}

func notLinkedType(in *assertion) ErrorType {
	if in.account.Type == TypeWebAuthn {
		return ErrAccountNotLinked
	}
	return ErrOAuthAccountNotLinked
}

// resolveByEmail: whoever opened the link has the mailbox, and so the user.
func (d *directory) resolveByEmail(ctx context.Context, q *Outbox, s *store, who *signInResult, owner *User) error {
	if owner == nil {
		who.user.EmailVerified = d.now().UTC()
		return d.createUser(ctx, q, s, who)
	}
	who.user = *owner
	if owner.EmailVerified.IsZero() {
		return d.proveEmail(ctx, q, s, who)
	}
	q.addUser(event.UserUpdated, who.user) // as Auth.js tells at each link; nothing was written
	return nil
}

// beginSignUp finds the user that an earlier, interrupted sign-up of this very
// account has made. Stores with transactions have none. A user whose
// e-mail address was proven or changed since is somebody else's by now: that
// record is forgotten, and the sign-up starts afresh.
func (d *directory) beginSignUp(ctx context.Context, s *store, who *signInResult) (*User, error) {
	if !d.store.remembersSignUps() {
		return nil, nil
	}
	begun, err := d.recordSignUp(ctx, s, who)
	if err != nil || begun == nil || begun.EmailVerified.IsZero() && hasEmail(who.user.Email)(*begun) {
		return begun, err
	}
	if err := s.endSignUp(ctx, &who.account); err != nil {
		return nil, err
	}
	_, err = d.recordSignUp(ctx, s, who)
	return nil, err
}

// recordSignUp gives who.user the id that is on record for the account, and
// finds the user who has it.
func (d *directory) recordSignUp(ctx context.Context, s *store, who *signInResult) (*User, error) {
	id, err := s.beginSignUp(ctx, &who.account, secret.NewUserID())
	if err != nil {
		return nil, err
	}
	who.user.ID = id
	return guarded.Optional(s.user(ctx, id))
}

func (d *directory) createUser(ctx context.Context, q *Outbox, s *store, who *signInResult) error {
	if who.user.ID == "" {
		who.user.ID = secret.NewUserID()
	}
	u, err := s.createUser(ctx, who.user)
	if err != nil {
		return err
	}
	who.user, who.isNew = u, true
	q.addUser(event.UserCreated, u)
	return nil
}

func (d *directory) linkAccount(ctx context.Context, q *Outbox, s *store, who *signInResult) error {
	who.account.UserID = who.user.ID
	row := who.account
	row.Tokens = who.keep
	if err := s.linkAccount(ctx, row); err != nil {
		return err
	}
	if who.passkey != nil {
		key := *who.passkey
		key.UserID = who.user.ID
		if err := s.createAuthenticator(ctx, key); err != nil {
			return err
		}
	}
	if err := d.yieldToProof(ctx, s, &who.user, &row); err != nil {
		return err
	}
	if d.store.remembersSignUps() {
		if err := s.endSignUp(ctx, &who.account); err != nil {
			return err
		}
	}
	e := LinkAccountEvent{User: who.user, Account: who.account, Profile: who.profile}
	q.addAccount(event.AccountLinked, &e)
	return nil
}
