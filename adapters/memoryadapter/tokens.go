package memoryadapter

import (
	"context"
	"slices"

	"github.com/latchkeyhq/latchkey/storage"
)

// CreateVerificationToken implements [storage.VerificationTokenAdapter].
func (a *Adapter) CreateVerificationToken(ctx context.Context, t storage.VerificationToken) error {
	return a.withData(ctx, func(d *data) error {
		key := pair{t.Identifier, t.Token}
		if _, taken := d.tokens[key]; taken {
			return storage.ErrConflict
		}
		t.Expires = utc(t.Expires)
		put(d, d.tokens, key, t)
		return nil
	})
}

// UseVerificationToken implements [storage.VerificationTokenAdapter].
func (a *Adapter) UseVerificationToken(ctx context.Context, identifier, token string) (t storage.VerificationToken, err error) {
	err = a.withData(ctx, func(d *data) (err error) {
		t, err = take(d, d.tokens, pair{identifier, token})
		return err
	})
	return t, err
}

// CreateAuthenticator implements [storage.AuthenticatorAdapter]. An unknown
// user is ErrNotFound.
func (a *Adapter) CreateAuthenticator(ctx context.Context, k storage.Authenticator) error {
	return a.withData(ctx, func(d *data) error {
		key := string(k.CredentialID)
		if _, taken := d.authenticators[key]; taken {
			return storage.ErrConflict
		}
		if _, known := d.users[k.UserID]; !known {
			return storage.ErrNotFound
		}
		put(d, d.authenticators, key, copyAuthenticator(k))
		return nil
	})
}

// GetAuthenticator implements [storage.AuthenticatorAdapter].
func (a *Adapter) GetAuthenticator(ctx context.Context, credentialID []byte) (k storage.Authenticator, err error) {
	err = a.withData(ctx, func(d *data) error {
		found, known := d.authenticators[string(credentialID)]
		if !known {
			return storage.ErrNotFound
		}
		k = copyAuthenticator(found)
		return nil
	})
	return k, err
}

// ListAuthenticators implements [storage.AuthenticatorAdapter]. It orders the passkeys
// by credential id.
func (a *Adapter) ListAuthenticators(ctx context.Context, userID string) (list []storage.Authenticator, err error) {
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

// UpdateAuthenticatorCounter implements [storage.AuthenticatorAdapter].
func (a *Adapter) UpdateAuthenticatorCounter(ctx context.Context, credentialID []byte, counter uint32) (k storage.Authenticator, err error) {
	err = a.withData(ctx, func(d *data) error {
		found, known := d.authenticators[string(credentialID)]
		if !known {
			return storage.ErrNotFound
		}
		if counter <= found.Counter && (counter != 0 || found.Counter != 0) {
			return storage.ErrConflict
		}
		found.Counter = counter
		put(d, d.authenticators, string(credentialID), found)
		k = copyAuthenticator(found)
		return nil
	})
	return k, err
}

// UpdateAuthenticator implements [storage.AuthenticatorAdapter].
func (a *Adapter) UpdateAuthenticator(ctx context.Context, credentialID []byte, c storage.AuthenticatorChange) (k storage.Authenticator, err error) {
	err = a.withData(ctx, func(d *data) error {
		found, known := d.authenticators[string(credentialID)]
		if !known {
			return storage.ErrNotFound
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

// DeleteAuthenticator implements [storage.AuthenticatorAdapter].
func (a *Adapter) DeleteAuthenticator(ctx context.Context, credentialID []byte) error {
	return a.withData(ctx, func(d *data) error {
		_, err := take(d, d.authenticators, string(credentialID))
		return err
	})
}

func byCredentialID(a, b storage.Authenticator) int {
	return slices.Compare(a.CredentialID, b.CredentialID)
}
