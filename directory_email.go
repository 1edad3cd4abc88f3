package latchkey

import (
	"context"
	"errors"
)

// The first proof of an e-mail address, and what it detaches.

// proveEmail marks the e-mail address of who.user as proven, and what others
// had attached to it before goes. Where neither link nor provider
// proves it, nothing happens.
func (d *directory) proveEmail(ctx context.Context, q *queue, s *store, who *signInResult) error {
	if !who.user.EmailVerified.IsZero() || !(who.provesEmail || who.emailVerified) {
		return nil
	}
	if err := d.evict(ctx, q, s, who); err != nil {
		return err
	}
	now := d.now().UTC()
	u, err := s.updateUser(ctx, who.user.ID, UserChange{EmailVerified: &now})
	if err != nil {
		return err
	}
	who.user = u
	q.addUser(EventUserUpdated, "updateUser", d.events.UpdateUser, u)
	return nil
}

// evict detaches what somebody may have attached to an e-mail address that was
// not theirs: passkeys, and accounts at providers that do not verify e-mail
// addresses.
func (d *directory) evict(ctx context.Context, q *queue, s *store, who *signInResult) error {
	e, err := d.unproven(ctx, s, &who.user)
	if err != nil || len(e.Accounts)+len(e.Authenticators) == 0 {
		return err
	}
	if d.refuseEviction {
		return ErrAccessDenied.wrap(errors.New("the e-mail address was never proven, and others have attached ways to sign in to its user (RefuseEviction)"))
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
	if who.revokedAt, err = d.endSessions(ctx, s, who.user.ID, ""); err != nil {
		return err
	}
	d.log.warn(ctx, "an e-mail address was proven for the first time; what others had attached to its user is detached",
		"user", who.user.ID, "accounts", len(e.Accounts), "authenticators", len(e.Authenticators))
	var call func(context.Context) error
	if handler := d.events.Evict; handler != nil {
		call = func(ctx context.Context) error { return handler(ctx, e) }
	}
	q.add(Event{Type: EventUserEvicted, UserID: who.user.ID}, "evict", call)
	return nil
}

// unproven is what is attached to a user without any proof of their e-mail
// address.
func (d *directory) unproven(ctx context.Context, s *store, u *User) (e EvictEvent, err error) {
	e.User = *u
	accounts, err := s.listAccounts(ctx, u.ID)
	if err != nil {
		return e, err
	}
	for _, a := range accounts {
		p, ok := d.providers[a.Provider]
		if a.Type == TypeWebAuthn || (ok && p.info().provesNoEmail) {
			e.Accounts = append(e.Accounts, a)
		}
	}
	e.Authenticators, err = s.listAuthenticators(ctx, u.ID)
	return e, err
}
