package kvstore

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/latchkeyhq/latchkey/storage"
)

// authenticatorValue is the stored form of a passkey.
type authenticatorValue struct {
	owned
	ID         []byte   `json:"id"`
	AccountID  string   `json:"account"`
	Key        []byte   `json:"key"`
	Counter    uint32   `json:"counter"`
	DeviceType string   `json:"device"`
	BackedUp   bool     `json:"backed_up,omitempty"`
	Transports []string `json:"transports,omitempty"`
	Name       string   `json:"name,omitempty"`
	AAGUID     string   `json:"aaguid,omitempty"`
	Created    stamp    `json:"created,omitzero"`
	Used       stamp    `json:"used,omitzero"`
	Handle     []byte   `json:"handle,omitempty"`
}

// authenticator returns v as a passkey. Its slices are those of v.
func (v *authenticatorValue) authenticator() storage.Authenticator {
	return storage.Authenticator{
		CredentialID: v.ID, UserID: v.User, ProviderAccountID: v.AccountID, PublicKey: v.Key, Counter: v.Counter,
		DeviceType: v.DeviceType, BackedUp: v.BackedUp, Transports: v.Transports, Name: v.Name, AAGUID: v.AAGUID,
		Created: v.Created.Time, Used: v.Used.Time, UserHandle: v.Handle,
	}
}

// CreateAuthenticator implements [storage.AuthenticatorAdapter]. An unknown user is
// ErrNotFound. A credential id that is stored already is ErrConflict, unless its user
// was deleted.
func (s *Store) CreateAuthenticator(ctx context.Context, k storage.Authenticator) error {
	if !isText(k.ProviderAccountID, k.DeviceType, k.Name, k.AAGUID) || !isText(k.Transports...) {
		return errText
	}
	u, err := s.users.find(ctx, k.UserID)
	if err != nil {
		return err
	}
	v := authenticatorValue{
		owned: owned{owner: u.owner()}, ID: k.CredentialID, AccountID: k.ProviderAccountID, Key: k.PublicKey, Counter: k.Counter,
		DeviceType: k.DeviceType, BackedUp: k.BackedUp, Transports: k.Transports, Name: k.Name, AAGUID: k.AAGUID,
		Created: stampOf(k.Created), Used: stampOf(k.Used), Handle: k.UserHandle,
	}
	with := func(part string) value {
		v.Entry = part
		return v
	}
	return s.owned.create(ctx, k.UserID, Record{Key: keyOfAuthenticator(k.CredentialID)}, with, never, s.users.isAbandoned)
}

// GetAuthenticator implements [storage.AuthenticatorAdapter].
func (s *Store) GetAuthenticator(ctx context.Context, credentialID []byte) (storage.Authenticator, error) {
	_, v, err := s.findAuthenticator(ctx, credentialID)
	if err != nil {
		return storage.Authenticator{}, err
	}
	return v.authenticator(), nil
}

// findAuthenticator returns a passkey and its record. It returns ErrNotFound if
// there is none, or if its user was deleted.
func (s *Store) findAuthenticator(ctx context.Context, credentialID []byte) (r Record, v authenticatorValue, err error) {
	r, v, user, err := findWithUser[authenticatorValue](ctx, s.users, keyOfAuthenticator(credentialID))
	if err == nil && v.Born != user.Born {
		err = storage.ErrNotFound
	}
	return r, v, err
}

// ListAuthenticators implements [storage.AuthenticatorAdapter]. It orders the passkeys
// by credential id.
func (s *Store) ListAuthenticators(ctx context.Context, userID string) (list []storage.Authenticator, err error) {
	records, err := s.users.list(ctx, userID, KindAuthenticator)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		v, err := decode[authenticatorValue](&r)
		if err != nil {
			return nil, err
		}
		list = append(list, v.authenticator())
	}
	slices.SortFunc(list, func(a, b storage.Authenticator) int { return bytes.Compare(a.CredentialID, b.CredentialID) })
	return list, nil
}

// UpdateAuthenticatorCounter implements [storage.AuthenticatorAdapter].
func (s *Store) UpdateAuthenticatorCounter(ctx context.Context, credentialID []byte, counter uint32) (storage.Authenticator, error) {
	return s.changeAuthenticator(ctx, credentialID, func(v *authenticatorValue) error {
		if counter <= v.Counter && (counter != 0 || v.Counter != 0) {
			return storage.ErrConflict
		}
		v.Counter = counter
		return nil
	})
}

// UpdateAuthenticator implements [storage.AuthenticatorAdapter].
func (s *Store) UpdateAuthenticator(ctx context.Context, credentialID []byte, c storage.AuthenticatorChange) (storage.Authenticator, error) {
	if c.Name != nil && !isText(*c.Name) {
		return storage.Authenticator{}, errText
	}
	return s.changeAuthenticator(ctx, credentialID, func(v *authenticatorValue) error {
		set(&v.Name, c.Name)
		set(&v.BackedUp, c.BackedUp)
		if c.Used != nil {
			v.Used = stampOf(*c.Used)
		}
		return nil
	})
}

// changeAuthenticator reads a passkey, calls change with it, stores the result and
// returns it. It returns ErrNotFound as findAuthenticator does. It begins again if
// another call has changed the record meanwhile, so change may be called several times.
// If change returns an error, nothing is stored, and the error is returned as it is.
func (s *Store) changeAuthenticator(ctx context.Context, credentialID []byte, change func(*authenticatorValue) error) (storage.Authenticator, error) {
	for try := 0; ; try++ {
		seen, v, err := s.findAuthenticator(ctx, credentialID)
		if err == nil {
			err = change(&v)
		}
		if err != nil {
			return storage.Authenticator{}, err
		}
		_, err = s.records.rewrite(ctx, seen, v, never)
		if err == nil {
			return v.authenticator(), nil
		}
		if !errors.Is(err, storage.ErrConflict) {
			return storage.Authenticator{}, err
		}
		if err := pause(ctx, try); err != nil {
			return storage.Authenticator{}, err
		}
	}
}

// DeleteAuthenticator implements [storage.AuthenticatorAdapter].
func (s *Store) DeleteAuthenticator(ctx context.Context, credentialID []byte) error {
	_, err := s.owned.take(ctx, keyOfAuthenticator(credentialID))
	return err
}
