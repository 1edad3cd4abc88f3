package latchkey

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
)

// Whose sign-in is it? Everything about that is decided here, for all kinds of
// provider: which user an arrival is, and what is created, linked or detached
// on the way.

// recognize finds the user an arrival already is to us, or nil.
func (v *visit) recognize(ctx context.Context, s *store, in arrival) (*User, error) {
	switch {
	case s == nil:
		return nil, nil
	case in.vouched:
		return nil, nil
	case in.provesEmail:
		return found(s.userByEmail(ctx, in.user.Email))
	default:
		return found(s.userByAccount(ctx, &in.account))
	}
}

// admit settles which user this is, creating and linking what is missing, and
// stores their session: all of it or nothing. When somebody else was faster
// with a unique key, what they did is looked at once more.
func (v *visit) admit(ctx context.Context, in arrival) (*admission, error) {
	if v.store == nil || (in.vouched && v.Session.Strategy != DatabaseSessions) {
		return &admission{arrival: in, user: in.user}, nil
	}
	who, err := v.tryAdmit(ctx, in)
	if errors.Is(err, ErrConflict) {
		who, err = v.tryAdmit(ctx, in)
	}
	if errors.Is(err, ErrConflict) {
		err = notLinked(&in)
	}
	return who, err
}

func (v *visit) tryAdmit(ctx context.Context, in arrival) (*admission, error) {
	here, err := v.visitor(ctx, in)
	if err != nil {
		return nil, err
	}
	told := len(v.after)
	var who *admission
	err = v.store.inTx(ctx, func(ctx context.Context, s *store) error {
		v.after = v.after[:told]
		who = &admission{arrival: in, user: in.user}
		if err := v.settle(ctx, s, who, here); err != nil {
			return err
		}
		return v.sessions.record(ctx, v, s, who)
	})
	if err != nil && v.store.transactional() {
		v.after = v.after[:told] // rolled back: it did not happen
	}
	if err != nil {
		return nil, err
	}
	return who, nil
}

// visitor is who is signed in already, where that has a say: an account that
// nobody has is linked to them.
func (v *visit) visitor(ctx context.Context, in arrival) (*holder, error) {
	if in.vouched || in.provesEmail {
		return nil, nil
	}
	if in.begunBy == "" {
		return v.sessions.current(ctx, v)
	}
	u, err := found(v.store.user(ctx, in.begunBy))
	if u == nil || err != nil {
		return nil, err
	}
	return &holder{user: *u}, nil
}

func (s *store) transactional() bool { _, ok := s.a.(TxAdapter); return ok }

// settle decides whose sign-in this is.
func (v *visit) settle(ctx context.Context, s *store, who *admission, here *holder) error {
	if who.vouched {
		return v.settleVouched(ctx, s, who)
	}
	owner, err := v.recognize(ctx, s, who.arrival)
	if err != nil {
		return err
	}
	if who.provesEmail {
		return v.settleByEmail(ctx, s, who, owner)
	}
	return v.settleByAccount(ctx, s, who, owner, here)
}

// settleVouched: the application has checked who it is. A stored session needs
// a stored user; a token does not, and does not come here.
func (v *visit) settleVouched(ctx context.Context, s *store, who *admission) error {
	known, err := found(s.user(ctx, who.user.ID))
	if err == nil && known == nil {
		err = ErrUnsupportedStrategy.because(errors.New("the adapter has no user with the id that Authorize returned; stored sessions need one"))
	}
	return err
}

// settleByAccount: an account keeps its owner; a signed-in visitor gains it; a
// stranger becomes a new user. A known address never decides, unless the
// provider is trusted to have proved it.
func (v *visit) settleByAccount(ctx context.Context, s *store, who *admission, owner *User, here *holder) error {
	switch {
	case owner != nil && here != nil && owner.ID != here.user.ID:
		return notLinked(&who.arrival)
	case owner != nil:
		who.user = *owner
		return nil
	case here != nil:
		who.user = here.user
		return v.linkAccount(ctx, s, who)
	}
	namesake, err := found(s.userByEmail(ctx, who.user.Email))
	if err != nil {
		return err
	}
	begun, err := v.beginSignUp(ctx, s, who)
	switch {
	case err != nil:
		return err
	case begun != nil:
		who.user, who.isNew = *begun, true
	case namesake == nil:
		if err := v.createUser(ctx, s, who); err != nil {
			return err
		}
	case !who.mayLink():
		return v.refuseNamesake(ctx, s, who)
	default:
		who.user = *namesake
		if err := v.proveEmail(ctx, s, who); err != nil {
			return err
		}
	}
	return v.linkAccount(ctx, s, who)
}

// refuseNamesake: the address is taken. That may be by this very person, who has
// signed up in another window since the account was looked for.
func (v *visit) refuseNamesake(ctx context.Context, s *store, who *admission) error {
	owner, err := v.recognize(ctx, s, who.arrival)
	if err != nil {
		return err
	}
	if owner == nil {
		return notLinked(&who.arrival)
	}
	who.user = *owner
	return nil
}

// mayLink: the provider is trusted with addresses, and vouches for this one.
func (in *arrival) mayLink() bool {
	return in.link == linkAnything || (in.link == linkVerified && in.emailVerified)
}

// notLinked: the account, or its address, is somebody else's.
func notLinked(in *arrival) error {
	t := ErrOAuthAccountNotLinked
	if in.account.Type == TypeWebAuthn {
		t = ErrAccountNotLinked
	}
	return t.at(in.account.Provider, errors.New("the account or its address belongs to another user"))
}

// settleByEmail: whoever opened the link has the address, and so the user.
func (v *visit) settleByEmail(ctx context.Context, s *store, who *admission, owner *User) error {
	if owner == nil {
		who.user.EmailVerified = v.now().UTC()
		return v.createUser(ctx, s, who)
	}
	who.user = *owner
	if owner.EmailVerified.IsZero() {
		return v.proveEmail(ctx, s, who)
	}
	u := who.user
	v.tellUser("updateUser", v.Events.UpdateUser, u)
	return nil
}

// proveEmail marks the address of who.user as proven. What others had attached
// to it before goes, unless who vouches does not vouch for the address.
func (v *visit) proveEmail(ctx context.Context, s *store, who *admission) error {
	if !who.user.EmailVerified.IsZero() || !(who.provesEmail || who.emailVerified) {
		return nil
	}
	if err := v.evict(ctx, s, who); err != nil {
		return err
	}
	now := v.now().UTC()
	u, err := s.updateUser(ctx, who.user.ID, UserChange{EmailVerified: &now})
	if err != nil {
		return err
	}
	who.user = u
	v.tellUser("updateUser", v.Events.UpdateUser, u)
	return nil
}

// evict detaches what somebody may have attached to an address that was not
// theirs: passkeys, and accounts at providers that do not verify addresses.
func (v *visit) evict(ctx context.Context, s *store, who *admission) error {
	e, err := v.unproven(ctx, s, &who.user)
	if err != nil || len(e.Accounts)+len(e.Authenticators) == 0 {
		return err
	}
	if v.RefuseEviction {
		return ErrAccessDenied.because(errors.New("the address was never proven, and others have attached ways to sign in to its user (RefuseEviction)"))
	}
	for _, a := range e.Accounts {
		if _, err := s.unlinkAccount(ctx, a.Provider, a.ProviderAccountID); err != nil {
			return err
		}
	}
	for _, k := range e.Authenticators {
		if err := s.deleteAuthenticator(ctx, k.CredentialID); err != nil {
			return err
		}
	}
	if err := v.endSessions(ctx, s, who.user.ID, ""); err != nil {
		return err
	}
	v.log.warn("an address was proven for the first time; what others had attached to its user is detached",
		"user", who.user.ID, "accounts", len(e.Accounts), "authenticators", len(e.Authenticators))
	if told := v.Events.Evict; told != nil {
		v.tell("evict", func(ctx context.Context) error { return told(ctx, e) })
	}
	return nil
}

// unproven is what is attached to a user without any proof of their address.
func (v *visit) unproven(ctx context.Context, s *store, u *User) (e EvictEvent, err error) {
	e.User = *u
	accounts, err := s.accounts(ctx, u.ID)
	if err != nil {
		return e, err
	}
	for _, a := range accounts {
		p, ok := v.providers[a.Provider].(*oauthProvider)
		if a.Type == TypeWebAuthn || (ok && p.VerifiesEmail == No) {
			e.Accounts = append(e.Accounts, a)
		}
	}
	e.Authenticators, err = s.authenticators(ctx, u.ID)
	return e, err
}

// endSessions ends every session of the user but the stored one called keep.
func (v *visit) endSessions(ctx context.Context, s *store, userID, keep string) error {
	if err := s.deleteSessions(ctx, userID, keep); err != nil {
		return err
	}
	return v.revokeUser(ctx, s, userID)
}

// beginSignUp finds the user that an earlier, interrupted sign-up of this very
// account has made. Stores with transactions have none.
func (v *visit) beginSignUp(ctx context.Context, s *store, who *admission) (*User, error) {
	intents, ok := s.a.(SignUpAdapter)
	if !ok || v.store.transactional() {
		return nil, nil
	}
	who.user.ID = newUserID()
	id, err := ask(ctx, s, "BeginSignUp", func(ctx context.Context) (string, error) {
		return intents.BeginSignUp(ctx, who.account.Provider, who.account.ProviderAccountID, who.user.ID)
	})
	if err != nil {
		return nil, err
	}
	who.user.ID = id
	return found(s.user(ctx, id))
}

func (v *visit) createUser(ctx context.Context, s *store, who *admission) error {
	if who.user.ID == "" {
		who.user.ID = newUserID()
	}
	u, err := s.createUser(ctx, who.user)
	if err != nil {
		return err
	}
	who.user, who.isNew = u, true
	v.tellUser("createUser", v.Events.CreateUser, u)
	return nil
}

func (v *visit) linkAccount(ctx context.Context, s *store, who *admission) error {
	who.account.UserID = who.user.ID
	if err := s.linkAccount(ctx, who.account); err != nil {
		return err
	}
	if err := v.endSignUp(ctx, s, &who.account); err != nil {
		return err
	}
	if told := v.Events.LinkAccount; told != nil {
		e := LinkAccountEvent{User: who.user, Account: who.account, Profile: who.profile}
		v.tell("linkAccount", func(ctx context.Context) error { return told(ctx, e) })
	}
	return nil
}

// endSignUp forgets that a sign-up of this account was under way.
func (v *visit) endSignUp(ctx context.Context, s *store, a *Account) error {
	intents, ok := s.a.(SignUpAdapter)
	if !ok || v.store.transactional() {
		return nil
	}
	err := do(ctx, s, "EndSignUp", func(ctx context.Context) error {
		return intents.EndSignUp(ctx, a.Provider, a.ProviderAccountID)
	})
	return ignoring(err, ErrNotFound)
}

// newUserID is a random UUID, which is what the original gives new users.
func newUserID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (v *visit) tellUser(name string, told func(context.Context, User) error, u User) {
	if told != nil {
		v.tell(name, func(ctx context.Context) error { return told(ctx, u) })
	}
}
