package memoryadapter

import (
	"context"
	"slices"

	"github.com/latchkeyhq/latchkey"
)

// CreateVerificationToken implements [latchkey.VerificationTokenAdapter].
func (a *Adapter) CreateVerificationToken(ctx context.Context, t latchkey.VerificationToken) error {
	return a.withData(ctx, func(d *data) error {
		key := pair{t.Identifier, t.Token}
		if _, taken := d.tokens[key]; taken {
			return latchkey.ErrConflict
		}
		t.Expires = utc(t.Expires)
		put(d, d.tokens, key, t)
		return nil
	})
}

// UseVerificationToken implements [latchkey.VerificationTokenAdapter].
func (a *Adapter) UseVerificationToken(ctx context.Context, identifier, token string) (t latchkey.VerificationToken, err error) {
	err = a.withData(ctx, func(d *data) (err error) {
		t, err = take(d, d.tokens, pair{identifier, token})
		return err
	})
	return t, err
}

// CreateAuthenticator implements [latchkey.AuthenticatorAdapter]. An unknown
// user is ErrNotFound.
func (a *Adapter) CreateAuthenticator(ctx context.Context, k latchkey.Authenticator) error {
	return a.withData(ctx, func(d *data) error {
		key := string(k.CredentialID)
		if _, taken := d.authenticators[key]; taken {
			return latchkey.ErrConflict
		}
		if _, known := d.users[k.UserID]; !known {
			return latchkey.ErrNotFound
		}
		put(d, d.authenticators, key, copyAuthenticator(k))
		return nil
	})
}

// GetAuthenticator implements [latchkey.AuthenticatorAdapter].
func (a *Adapter) GetAuthenticator(ctx context.Context, credentialID []byte) (k latchkey.Authenticator, err error) {
	err = a.withData(ctx, func(d *data) error {
		found, known := d.authenticators[string(credentialID)]
		if !known {
			return latchkey.ErrNotFound
		}
		k = copyAuthenticator(found)
		return nil
	})
	return k, err
}

// ListAuthenticators implements [latchkey.AuthenticatorAdapter]. They are in
// the order of their ids.
func (a *Adapter) ListAuthenticators(ctx context.Context, userID string) (list []latchkey.Authenticator, err error) {
	err = a.withData(ctx, func(d *data) error {
		for _, found := range d.authenticators {
			if found.UserID == userID {
				list = append(list, copyAuthenticator(found))
			}
		}
		slices.SortFunc(list, byCredentialID)
		return nil
	})
	return list, err
}

// UpdateAuthenticatorCounter implements [latchkey.AuthenticatorAdapter].
func (a *Adapter) UpdateAuthenticatorCounter(ctx context.Context, credentialID []byte, counter uint32) (k latchkey.Authenticator, err error) {
	err = a.withData(ctx, func(d *data) error {
		found, known := d.authenticators[string(credentialID)]
		if !known {
			return latchkey.ErrNotFound
		}
		if counter <= found.Counter && (counter != 0 || found.Counter != 0) {
			return latchkey.ErrConflict
		}
		found.Counter = counter
		put(d, d.authenticators, string(credentialID), found)
		k = copyAuthenticator(found)
		return nil
	})
	return k, err
}

// UpdateAuthenticator implements [latchkey.AuthenticatorAdapter].
func (a *Adapter) UpdateAuthenticator(ctx context.Context, credentialID []byte, c latchkey.AuthenticatorChange) (k latchkey.Authenticator, err error) {
	err = a.withData(ctx, func(d *data) error {
		found, known := d.authenticators[string(credentialID)]
		if !known {
			return latchkey.ErrNotFound
		}
		if c.Name != nil {
			found.Name = *c.Name
		}
		if c.BackedUp != nil {
			found.BackedUp = *c.BackedUp
		}
		if c.Used != nil {
			found.Used = utc(*c.Used)
		}
		put(d, d.authenticators, string(credentialID), found)
		k = copyAuthenticator(found)
		return nil
	})
	return k, err
}

// DeleteAuthenticator implements [latchkey.AuthenticatorAdapter].
func (a *Adapter) DeleteAuthenticator(ctx context.Context, credentialID []byte) error {
	return a.withData(ctx, func(d *data) error {
		_, err := take(d, d.authenticators, string(credentialID))
		return err
	})
}

func byCredentialID(a, b latchkey.Authenticator) int {
	return slices.Compare(a.CredentialID, b.CredentialID)
}
