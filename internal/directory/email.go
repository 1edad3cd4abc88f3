package directory

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/storage"
)

// The first proof of an e-mail address, and what it detaches.

// proveEmail marks the e-mail address of signIn.User as proven, once evict has removed what
// was attached to the user before. It clears Provisioned and adds the event
// UserUpdated. It does nothing if the address was proven before, or if neither a link nor the
// provider proves it. It returns ErrConflict if the address was proven or changed since it was
// read, and ErrAccessDenied if RefuseEviction keeps evict from removing.
func (d *Directory) proveEmail(ctx context.Context, q *Outbox, s *Store, signIn *SignIn) error {
	if !signIn.User.EmailVerified.IsZero() || !(signIn.ProvesEmail || signIn.EmailVerified) {
		return nil
	}
	if err := d.awaitProof(ctx, s, signIn, &signIn.User); err != nil {
		return err
	}
	if err := d.evict(ctx, q, s, signIn); err != nil {
		return err
	}
	now := d.Now().UTC()
	// One change sets both. The proof is of this e-mail address and of no other
	// that the user may have meanwhile.
	proof := storage.UserChange{Email: &signIn.User.Email, EmailVerified: &now}
	if !signIn.User.Provisioned.IsZero() { // it claims the user
		proof.Provisioned = new(time.Time{})
	}
	u, err := s.updateUser(ctx, signIn.User.ID, proof)
	if err != nil {
		return err
	}
	signIn.User, signIn.proved = u, true
	q.addUser(event.UserUpdated, u)
	return d.evictLate(ctx, q, s, signIn)
}

// awaitProof locks u if the address of u is not proven, so that a concurrent proof of it
// comes wholly before or wholly after this transaction. Without the lock, a sign-in under
// way could attach what the proof is about to remove. awaitProof returns ErrConflict if
// the address was proven or changed since u was read.
func (d *Directory) awaitProof(ctx context.Context, s *Store, signIn *SignIn, u *storage.User) error {
	if !d.ProvesEmails || u.Email == "" || !u.EmailVerified.IsZero() {
		return nil
	}
	now, err := signIn.lock(ctx, s, u.ID)
	if err == nil && (!now.EmailVerified.IsZero() || !hasEmail(u.Email)(now)) {
		err = storage.ErrConflict
	}
	return err
}

// evict removes the sign-in methods of signIn.User that do not vouch for the e-mail
// address, and ends all sessions of the user: an attacker may have attached them
// by claiming the address. If sessions are stored, and every sign-in method and session
// comes from a provider that vouches, evict leaves all of them. JWT sessions end in any
// case, because a token does not say which account opened it, and that account may have
// been unlinked since. With RefuseEviction evict returns ErrAccessDenied, and removes
// nothing, if it finds a sign-in method, second factor or stored session to remove.
func (d *Directory) evict(ctx context.Context, q *Outbox, s *Store, signIn *SignIn) error {
	found, err := d.attached(ctx, s, &signIn.User)
	if err != nil || found.isVouched() && d.StoredSessions {
		return err
	}
	if d.RefuseEviction && found.evictedCount() > 0 {
		return failure.Wrap(fault.ErrAccessDenied, failure.Of(fault.SignInEviction, errors.New("the e-mail address was never proven, and others have attached ways to sign in to its user (RefuseEviction)")))
	}
	return d.detach(ctx, q, s, signIn, &found)
}

// evictLate repeats evict after the proof, for stores without transactions. It removes
// what was attached while evict ran. A sign-in that begins later sees the proof. With
// transactions evictLate does nothing.
func (d *Directory) evictLate(ctx context.Context, q *Outbox, s *Store, signIn *SignIn) error {
	if d.Store.Tx != nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	found, err := d.attached(ctx, s, &signIn.User)
	if err != nil || found.evictedCount() == 0 || found.isVouched() {
		return err
	}
	return d.detach(ctx, q, s, signIn, &found)
}

// evictSessionsLate runs after the commit of a first proof if sessions are in a store
// apart. If an account that was just unlinked may have opened any of the user's sessions
// before the commit, it deletes all of them. A session opened later sees the proof. The
// session of this sign-in is not stored yet.
func (d *Directory) evictSessionsLate(ctx context.Context, signIn *SignIn) error {
	if !signIn.proved || d.Store.Apart == nil {
		return nil
	}
	found, err := d.attached(ctx, d.Store, &signIn.User)
	if err != nil || len(found.sessions) == 0 || found.isVouched() {
		return err
	}
	return d.Store.deleteSessions(ctx, signIn.User.ID, "")
}

// detach removes the sign-in methods in found, and the password, second factors, browsers
// and challenges of the user as detachProofs does, and ends all sessions of the user. It
// sets signIn.begun after that end. It logs the eviction and adds its event.
func (d *Directory) detach(ctx context.Context, q *Outbox, s *Store, signIn *SignIn, found *attachments) error {
	e := found.evicted
	for _, a := range e.Accounts {
		if err := dropAccount(ctx, d, s, &a); err != nil {
			return err
		}
	}
	for _, k := range e.Authenticators {
		if err := failure.Ignoring(s.deleteAuthenticator(ctx, k.CredentialID), storage.ErrNotFound); err != nil { // it may have gone with its account
			return err
		}
	}
	letGo(d, q, e.Accounts...)
	if err := (Passwords{d}).detachProofs(ctx, q, s, signIn.User.ID, signIn.Second); err != nil {
		return err
	}
	ended, err := d.endAll(ctx, q, s, signIn.User.ID, "")
	if err != nil {
		return err
	}
	if !signIn.begun.After(ended) {
		signIn.begun = ended.Add(time.Millisecond)
	}
	d.tellEviction(ctx, q, found)
	return nil
}

// tellEviction logs an eviction as a warning and adds the event UserEvicted. It does
// nothing if nothing was removed.
func (d *Directory) tellEviction(ctx context.Context, q *Outbox, found *attachments) {
	e := found.evicted
	if found.evictedCount() == 0 {
		return
	}
	text := "an e-mail address was proven for the first time; what others had attached to its user is detached"
	if d.EndlessTokens {
		text += ", but their JWT sessions go on until they expire: nothing remembers that they have ended (Session.Revocations)"
	}
	d.Log.Warn(ctx, text,
		"user", e.User.ID, "accounts", len(e.Accounts), "authenticators", len(e.Authenticators), "proofs", found.proofs, "sessions", len(found.sessions))
	var payload any
	if q.Wants(event.UserEvicted) {
		e.Accounts = WithoutTokens(d, e.Accounts)
		payload = e
	}
	q.Add(event.Event{Type: event.UserEvicted, UserID: e.User.ID}, payload)
}

// attachments are the sign-in methods and sessions of a user whose e-mail
// address is about to be proven.
type attachments struct {
	evicted  event.EvictPayload      // what an eviction removes
	vouching map[string]bool         // the providers of the accounts that stay
	sessions []storage.StoredSession // all sessions; nil: the store cannot list them
	proofs   int                     // a password and second factors
}

// attached returns what the store has of the sign-in methods, second factors and sessions
// of u. An account whose provider does not vouch for the address of u is to be evicted,
// and so is every passkey.
func (d *Directory) attached(ctx context.Context, s *Store, u *storage.User) (found attachments, err error) {
	found.evicted.User, found.vouching = *u, map[string]bool{}
	accounts, err := s.ListAccounts(ctx, u.ID)
	if err != nil {
		return found, err
	}
	for _, a := range accounts {
		if d.vouched(&a, u.Email) {
			found.vouching[a.Provider] = true
		} else {
			found.evicted.Accounts = append(found.evicted.Accounts, a)
		}
	}
	if found.evicted.Authenticators, err = s.ListAuthenticators(ctx, u.ID); err != nil {
		return found, err
	}
	if found.sessions, err = s.ListSessions(ctx, u.ID); err != nil {
		return found, err
	}
	found.proofs, err = (Passwords{d}).countProofs(ctx, s, u.ID)
	return found, err
}

// evictedCount returns how many sign-in methods and sessions an eviction ends.
func (found *attachments) evictedCount() int {
	return len(found.evicted.Accounts) + len(found.evicted.Authenticators) + len(found.sessions) + found.proofs
}

// isVouched reports whether only the owner of the e-mail address can have attached the
// accounts and opened the sessions: there are accounts that vouch for the address,
// nothing is to be evicted, and those accounts' providers opened every session.
func (found *attachments) isVouched() bool {
	for _, row := range found.sessions {
		if !found.vouching[row.Provider] {
			return false
		}
	}
	return len(found.vouching) > 0 && len(found.evicted.Accounts)+len(found.evicted.Authenticators)+found.proofs == 0
}
