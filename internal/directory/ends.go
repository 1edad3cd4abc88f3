package directory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/storage"
)

// One instant for each user: everything of theirs from before it is void. The
// end of all sessions, the deletion of the user and an eviction set it. A sign-in
// compares it with the time at which its evidence was issued or looked at, and
// not with the time at which its session opens: an attacker who has shown an old
// password, or holds a link or a provider's answer, must not stay in.

// ErrEnded reports that the user's sessions have been ended since the evidence of
// a sign-in was issued or looked at. The same sign-in succeeds when it is begun
// anew.
var ErrEnded = errors.New("this sign-in was begun before the sessions of its user were ended, or within seconds of that: it has to be begun anew")

// rememberedEnds is for how many users a process remembers the last end that it
// has recorded.
const rememberedEnds = 10_000

// ownEnd is the end of a user's sessions that this process has recorded.
type ownEnd struct {
	void time.Time // the instant on record
	done time.Time // the time of this process's clock after it was recorded
}

// revokeUser voids everything of the user from before now and returns the instant on
// record. That is ahead of now by the tolerance between clocks: another process with a
// clock that is ahead may have opened a session just before. It is always later than the
// one before, and so than every sign-in that was accepted since. s is the store of the
// transaction that this is part of; nil: none. A nil r returns the zero time.
func (r *Revocations) revokeUser(ctx context.Context, s *Store, id string) (time.Time, error) {
	if r == nil {
		return time.Time{}, nil
	}
	sessionCache := r.SessionCache
	if s != nil {
		sessionCache = s.SessionCache
	}
	defer sessionCache.dropUser(id)()
	before, err := r.userVoidAt(ctx, s, id)
	if err != nil {
		return time.Time{}, err
	}
	now := wholeMillisecond(r.Now())
	at := now.Add(jwtclaims.Tolerance)
	if !at.After(before) {
		at = before.Add(time.Millisecond)
	}
	if r.Store != nil {
		err = r.void(ctx, s, r.writtenFor(id), at, at.Add(max(r.Life, r.EvidenceLife)))
	}
	r.own.Delete(id)
	r.own.GetOrAdd(id, ownEnd{void: at, done: r.Now()}) // also after an error: the store may have it
	return at, err
}

// userVoidAt returns the instant before which everything of the user is void. It is zero
// if none is on record, or if the store has no place for it. r must not be nil.
func (r *Revocations) userVoidAt(ctx context.Context, s *Store, id string) (time.Time, error) {
	if r.Store == nil {
		own, _ := r.own.Get(id)
		return own.void, nil
	}
	found, err := r.revokedAt(ctx, s, r.userKeys(id))
	var last time.Time
	for _, at := range found {
		if at.After(last) {
			last = at
		}
	}
	return last, failure.Ignoring(err, errors.ErrUnsupported)
}

// IsLive reports whether a session of a user that began at an instant goes on. It returns
// false if the user's sessions were ended since, or if the store fails. A nil r returns true.
func (r *Revocations) IsLive(ctx context.Context, id string, at time.Time) bool {
	if r == nil {
		return true
	}
	void, err := r.userVoidAt(ctx, nil, id)
	return err == nil && at.After(void)
}

// Accept returns an error that is ErrEnded if the sessions of the user of a sign-in have
// been ended since its evidence was issued. Otherwise it sets signIn.begun, from when the
// sign-in counts. Accept asks no store if claimSession has claimed the session of this
// user: claimSession itself fails if that session has ended. s is the store of the
// transaction that this is part of; nil: none. A nil r accepts every sign-in.
func (r *Revocations) Accept(ctx context.Context, s *Store, signIn *SignIn) error {
	if signIn.Issued.IsZero() {
		signIn.Issued, signIn.IssuedHere = signIn.Started, true
	}
	signIn.begun = signIn.Started.Truncate(time.Millisecond)
	switch {
	case signIn.isHeld():
		if since := time.UnixMilli(signIn.BegunIn.Since); since.After(signIn.begun) { // by another clock
			signIn.begun = since
		}
		return nil
	case r == nil, signIn.IsNew, signIn.User.ID == "":
		return nil
	}
	void, err := r.userVoidAt(ctx, s, signIn.User.ID)
	signIn.wasEnded = !void.IsZero()
	switch {
	case err != nil:
		return err
	case signIn.wasEnded && !r.isLater(signIn, void):
		return signIn.ended()
	case !signIn.begun.After(void):
		signIn.begun = void.Add(time.Millisecond)
	}
	return nil
}

// isLater reports whether the evidence of a sign-in was issued after the end that
// is on record with the instant void. If this process recorded the end and issued
// the evidence, it knows by its own clock, without the tolerance.
func (r *Revocations) isLater(signIn *SignIn, void time.Time) bool {
	if signIn.Issued.Truncate(time.Millisecond).After(void) {
		return true
	}
	own, ok := r.own.Get(signIn.User.ID)
	return ok && signIn.IssuedHere && own.void.Equal(void) && signIn.Issued.After(own.done)
}

// IssueTime returns the time of issue for evidence, such as a link, that is made now for
// a user. It is now, unless this process has just ended the sessions of the user. Then it
// is seconds later, so that no process takes the evidence for older than that end. For an
// empty id it is now.
func (r *Revocations) IssueTime(id string, now time.Time) time.Time {
	if r == nil || id == "" {
		return now
	}
	if own, ok := r.own.Get(id); ok && !now.After(own.void) && now.After(own.done) {
		return own.void.Add(2 * time.Millisecond) // expiries are cut to the millisecond
	}
	return now
}

// ended returns ErrEnded with the error type by which the browser is told to
// begin anew.
func (signIn *SignIn) ended() error {
	t := fault.ErrOAuthCallback
	switch signIn.Account.Type {
	case storage.TypeEmail:
		t = fault.ErrVerification
	case storage.TypeCredentials:
		t = fault.ErrCredentialsSignin
	case storage.TypeWebAuthn:
		t = fault.ErrWebAuthnVerification
	}
	return failure.WrapFor(t, signIn.Account.Provider, &failure.Mistake{Err: failure.Of(fault.FlowEnded, ErrEnded)})
}

// recognise makes u the user of a sign-in. It returns an OtherUser if the application was
// not asked about u, a Suspended for a suspended user, and ErrEnded if u was deleted or
// its sessions were ended since the evidence was issued. If sessions take part in the
// transaction, recognise locks u first: a concurrent call that ends the sessions either
// finds the new session, or comes before it.
func (d *Directory) recognise(ctx context.Context, s *Store, signIn *SignIn, u storage.User) error {
	if err := signIn.endIn(&u); err != nil {
		return err
	}
	if err := refuse(d, &signIn.Assertion, u.Suspension); err != nil {
		return err
	}
	if d.Store.SessionsInTx() {
		if _, err := signIn.lock(ctx, s, u.ID); errors.Is(err, storage.ErrNotFound) {
			return signIn.ended() // deleted meanwhile
		} else if err != nil {
			return err
		}
	}
	if err := d.Revocations.Accept(ctx, s, signIn); err != nil {
		return err
	}
	return gateUnderLock(ctx, d, s, signIn)
}

// lock locks a user in the transaction of the sign-in and returns the user as stored. A
// second call for the same user returns what the first one read. Without transactions it
// locks nothing and reads each time.
func (signIn *SignIn) lock(ctx context.Context, s *Store, id string) (storage.User, error) {
	if signIn.locked.ID == id && s.Tx != nil {
		return signIn.locked, nil
	}
	u, err := s.LockUser(ctx, id)
	if err == nil {
		signIn.locked = u
	}
	return u, err
}

// confirmSession checks once more, after a session was stored outside of any transaction,
// that nothing has ended it: its user exists and is not suspended, no call has ended the
// user's sessions, the account is linked, and the e-mail address was not proven by
// another sign-in meanwhile. Otherwise it deletes the session and returns ErrEnded, a
// Suspended or ErrConflict. A call that ends sessions records that first, and deletes
// them afterwards, so that one of the two sees the other.
func (d *Directory) confirmSession(ctx context.Context, s *Store, signIn *SignIn) error {
	err := s.InTx(ctx, func(ctx context.Context, s *Store) error {
		now, err := s.LockUser(ctx, signIn.User.ID) // waits for a concurrent end or proof
		if errors.Is(err, storage.ErrNotFound) {
			return signIn.ended()
		}
		if err == nil {
			err = confirm(ctx, d, s, signIn, &now)
		}
		return err
	})
	if err != nil {
		err = errors.Join(err, undoSession(ctx, s, signIn))
	}
	return err
}

// confirm makes the checks of confirmSession, and deletes nothing. now is the user as stored.
func confirm(ctx context.Context, d *Directory, s *Store, signIn *SignIn, now *storage.User) error {
	if err := CheckSuspension(ctx, d, s, now.ID); err != nil {
		return err
	}
	if d.Revocations != nil && !signIn.isHeld() {
		void, err := d.Revocations.userVoidAt(ctx, s, now.ID)
		if err != nil {
			return err
		}
		if !signIn.begun.After(void) {
			return signIn.ended()
		}
	}
	wasUnproven := d.ProvesEmails && signIn.User.Email != "" && signIn.User.EmailVerified.IsZero() && !signIn.wasProven
	if wasUnproven && !now.EmailVerified.IsZero() && !d.vouched(&signIn.Account, now.Email) {
		return storage.ErrConflict // it may have been opened by a sign-in method that the proof has removed
	}
	if signIn.NamesUser() {
		return nil
	}
	return s.checkOwner(ctx, &signIn.Account, now)
}

// renewKept calls renew, which gives the session with the id keep a new token: that
// session outlives the end of the others. after is the first instant that is not void,
// for renew. A nil renew means that no session goes on. If sessions are in a store apart,
// renewKept returns ErrNotFound at once if it does not find the session, and calls renew
// after the commit. If renew fails then, renewKept ends that session too and logs it, and
// the change stands.
func renewKept(ctx context.Context, d *Directory, s *Store, userID, keep string, renew func(context.Context, *Store, time.Time) error, after time.Time) error {
	if renew == nil {
		return nil
	}
	if s.late == nil {
		return renew(ctx, s, after)
	}
	rows, err := s.ListSessions(ctx, userID)
	if err == nil && keep != "" && !slices.ContainsFunc(rows, func(row storage.StoredSession) bool { return row.ID == keep }) {
		err = storage.ErrNotFound
	}
	if err != nil {
		return err
	}
	return afterCommit(ctx, s, func(ctx context.Context, s *Store) error {
		err := renew(ctx, s, after)
		if err == nil {
			return nil
		}
		ended := failure.Ignoring(s.deleteSessions(ctx, userID, ""), storage.ErrNotFound)
		d.Log.Warn(ctx, "the sessions of a user have ended, the one that was to go on included: its store gave it no new token",
			"user", userID, "error", errors.Join(err, ended).Error())
		return nil
	})
}

// OpenBeside stores a session beside one of the same user, whose token is former. It
// returns ErrNotFound if that one has ended, or ends meanwhile: whatever ends it may have
// listed the sessions before the new one was stored. begun is a time before
// former was looked up.
func OpenBeside(ctx context.Context, d *Directory, row storage.StoredSession, former string, begun time.Time) error {
	var err error
	if d.Store.SessionsInTx() {
		err = d.Store.InTx(ctx, func(ctx context.Context, s *Store) error {
			if _, err := s.LockUser(ctx, row.UserID); err != nil { // a call that ends all sessions waits, and then finds this one
				return err
			}
			if _, err := s.Session(ctx, former); err != nil {
				return err
			}
			return s.CreateSession(ctx, row)
		})
	} else {
		err = d.Store.CreateSession(ctx, row)
	}
	if err != nil {
		return err
	}
	if err := confirmBeside(ctx, d, &row, former, begun); err != nil {
		_, undone := d.Store.DeleteSession(context.WithoutCancel(ctx), row.Token)
		return errors.Join(err, failure.Ignoring(undone, storage.ErrNotFound))
	}
	return nil
}

// confirmBeside returns ErrNotFound if a session that OpenBeside has stored must not stay.
// A logout at the provider takes no part in transactions, and locks no user. It records
// its instant first, so that it is seen here, or finds the new session.
func confirmBeside(ctx context.Context, d *Directory, row *storage.StoredSession, former string, begun time.Time) error {
	void, err := d.Revocations.isVoidAtProvider(ctx, nil, NamesOf(row))
	if err == nil && void {
		err = storage.ErrNotFound
	}
	if err != nil || d.Store.SessionsInTx() {
		return err
	}
	return d.Store.InTx(ctx, func(ctx context.Context, s *Store) error {
		if _, err := s.LockUser(ctx, row.UserID); err != nil { // waits for a call that ends all sessions
			return err
		}
		var ended time.Time
		var err error
		if d.Revocations != nil {
			ended, err = d.Revocations.userVoidAt(ctx, s, row.UserID)
		}
		if err == nil && !begun.After(ended) {
			err = storage.ErrNotFound
		}
		if err != nil {
			return err
		}
		found, err := s.Session(ctx, former) // last: a sign-out may come at any time before
		if err == nil && found.User.Suspension.Holds(d.Now()) {
			err = storage.ErrNotFound
		}
		return err
	})
}
