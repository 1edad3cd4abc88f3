package redisadapter

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/storage"
)

// passkeyObject is the record of a passkey.
type passkeyObject struct {
	CredentialID      string  `json:"credentialID"` // base64, as is the key
	UserID            string  `json:"userId"`
	ProviderAccountID string  `json:"providerAccountId"`
	PublicKey         string  `json:"credentialPublicKey"`
	Counter           uint32  `json:"counter"`
	DeviceType        string  `json:"credentialDeviceType"`
	BackedUp          bool    `json:"credentialBackedUp"`
	Transports        *string `json:"transports"`

	// Auth.js has none of these and keeps them.
	Name       string `json:"name,omitempty"`
	AAGUID     string `json:"aaguid,omitempty"`
	Created    iso    `json:"created,omitzero"`
	Used       iso    `json:"used,omitzero"`
	UserHandle []byte `json:"userHandle,omitempty"`
}

// foundPasskey is a passkey, with the value of its key.
type foundPasskey struct {
	storage.Authenticator
	text *string
}

// credential returns a credential id in base64, as keys and records have it.
func credential(id []byte) string { return base64.StdEncoding.EncodeToString(id) }

// asPasskey returns the passkey in text, the value of a key. id is the credential id in
// base64. asPasskey returns ErrNotFound if text is nil or has no passkey with this id,
// and errMember if the id or the public key is no base64.
func asPasskey(text *string, id string) (foundPasskey, error) {
	var o passkeyObject
	if !decodeObject(text, &o) || o.CredentialID != id || o.UserID == "" {
		return foundPasskey{}, storage.ErrNotFound
	}
	raw, err := base64.StdEncoding.DecodeString(id)
	if err != nil {
		return foundPasskey{}, errMember
	}
	public, err := base64.StdEncoding.DecodeString(o.PublicKey)
	if err != nil {
		return foundPasskey{}, errMember
	}
	k := storage.Authenticator{
		CredentialID: raw, UserID: o.UserID, ProviderAccountID: o.ProviderAccountID, PublicKey: public, Counter: o.Counter,
		DeviceType: o.DeviceType, BackedUp: o.BackedUp, Name: o.Name, AAGUID: o.AAGUID, Created: o.Created.Time, Used: o.Used.Time,
		UserHandle: o.UserHandle,
	}
	if transports := orEmpty(o.Transports); transports != "" {
		k.Transports = strings.Split(transports, ",")
	}
	return foundPasskey{k, text}, nil
}

// passkeyText returns the record of a passkey as Auth.js writes it. over is the record
// that it replaces, or nil; members of over that this package does not know are kept. It
// returns errNoUTF8 or errMember for a passkey that cannot be written.
func passkeyText(over *string, k storage.Authenticator) (string, error) {
	if !areUTF8(append(slices.Clone(k.Transports), k.UserID, k.ProviderAccountID, k.DeviceType, k.Name, k.AAGUID)...) {
		return "", errNoUTF8
	}
	return encodeObject(over, passkeyObject{
		credential(k.CredentialID), k.UserID, k.ProviderAccountID, base64.StdEncoding.EncodeToString(k.PublicKey), k.Counter,
		k.DeviceType, k.BackedUp, orNull(strings.Join(k.Transports, ",")),
		k.Name, k.AAGUID,
		iso{k.Created},
		iso{k.Used},
		k.UserHandle,
	}, nil)
}

// passkeyKeys reads passkeys, and the lists of the passkeys of users.
type passkeyKeys struct{ keys *keyspace }

// find returns the passkey of a credential id in base64, or ErrNotFound.
func (s *passkeyKeys) find(ctx context.Context, id string) (foundPasskey, error) {
	text, err := s.keys.text(ctx, s.keys.at(ofPasskey, id))
	if err != nil {
		return foundPasskey{}, err
	}
	return asPasskey(text, id)
}

// ids returns the credential ids of a user's passkeys, each once, and the value of the
// key that lists them, or nil. The list itself may have an id several times: Auth.js
// adds the id again whenever the passkey is used after another one.
func (s *passkeyKeys) ids(ctx context.Context, userID string) (ids []string, text *string, err error) {
	text, err = s.keys.text(ctx, s.keys.at(passkeysOf, userID))
	var listed []string
	if text != nil {
		_ = json.Unmarshal([]byte(*text), &listed) // what is no list has none
	}
	return appendNew(nil, listed), text, err
}

// removeAll plans to delete all passkeys of a user and the list of them.
func (s *passkeyKeys) removeAll(ctx context.Context, p *plan, userID string) error {
	ids, was, err := s.ids(ctx, userID)
	if err != nil {
		return err
	}
	p.want(s.keys.at(passkeysOf, userID), was)
	p.Delete = append(p.Delete, s.keys.at(passkeysOf, userID))
	for _, id := range ids {
		k, err := s.find(ctx, id)
		if err == nil && k.UserID == userID {
			p.Delete = append(p.Delete, s.keys.at(ofPasskey, id))
		}
		if ignoreMissing(err) != nil {
			return err
		}
	}
	return nil
}

// CreateAuthenticator implements [storage.AuthenticatorAdapter]. An unknown user
// is ErrNotFound.
func (a *authJS) CreateAuthenticator(ctx context.Context, k storage.Authenticator) error {
	text, err := passkeyText(nil, k)
	if err != nil {
		return err
	}
	id := credential(k.CredentialID)
	return a.keys.change(ctx, func(p *plan) error {
		if err := a.users.want(ctx, p, k.UserID); err != nil {
			return err
		}
		if err := a.users.wantFree(ctx, p, a.keys.at(ofPasskey, id)); err != nil {
			return err
		}
		ids, was, err := a.passkeys.ids(ctx, k.UserID)
		if err != nil {
			return err
		}
		p.want(a.keys.at(passkeysOf, k.UserID), was)
		p.set(a.keys.at(ofPasskey, id), text)
		return p.setCredentials(a.keys.at(passkeysOf, k.UserID), append([]string{id}, without(ids, id)...))
	})
}

// without removes id from ids in place, and returns the shorter slice.
func without(ids []string, id string) []string {
	return slices.DeleteFunc(ids, func(one string) bool { return one == id })
}

// setCredentials plans to write a list of credential ids, or to delete its key if
// the list is empty.
func (p *plan) setCredentials(key string, ids []string) error {
	if len(ids) == 0 {
		p.Delete = append(p.Delete, key)
		return nil
	}
	text, err := json.Marshal(ids)
	p.set(key, string(text))
	return err
}

// GetAuthenticator implements [storage.AuthenticatorAdapter].
func (a *authJS) GetAuthenticator(ctx context.Context, credentialID []byte) (storage.Authenticator, error) {
	k, err := a.passkeys.find(ctx, credential(credentialID))
	return k.Authenticator, err
}

// ListAuthenticators implements [storage.AuthenticatorAdapter]. It leaves out passkeys
// that cannot be read.
func (a *authJS) ListAuthenticators(ctx context.Context, userID string) (list []storage.Authenticator, err error) {
	ids, _, err := a.passkeys.ids(ctx, userID)
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = a.keys.at(ofPasskey, id)
	}
	texts, err := a.keys.texts(ctx, keys...)
	for i, text := range texts {
		if k, err := asPasskey(text, ids[i]); err == nil && k.UserID == userID {
			list = append(list, k.Authenticator)
		}
	}
	return list, err
}

// UpdateAuthenticatorCounter implements [storage.AuthenticatorAdapter].
func (a *authJS) UpdateAuthenticatorCounter(ctx context.Context, credentialID []byte, counter uint32) (storage.Authenticator, error) {
	return a.changePasskey(ctx, credentialID, func(k *storage.Authenticator) error {
		if counter <= k.Counter && (counter != 0 || k.Counter != 0) {
			return storage.ErrConflict
		}
		k.Counter = counter
		return nil
	})
}

// UpdateAuthenticator implements [storage.AuthenticatorAdapter].
func (a *authJS) UpdateAuthenticator(ctx context.Context, credentialID []byte, c storage.AuthenticatorChange) (storage.Authenticator, error) {
	return a.changePasskey(ctx, credentialID, func(k *storage.Authenticator) error {
		setIf(&k.Name, c.Name)
		setIf(&k.BackedUp, c.BackedUp)
		setIf(&k.Used, c.Used)
		return nil
	})
}

// changePasskey reads a passkey, calls f with it, stores the result and returns it. It
// begins again if another call has changed the passkey meanwhile, so it may call f
// several times. It returns ErrNotFound for an unknown passkey. If f returns an error,
// nothing is stored, and the error is returned as it is.
func (a *authJS) changePasskey(ctx context.Context, credentialID []byte, f func(*storage.Authenticator) error) (storage.Authenticator, error) {
	id := credential(credentialID)
	var changed foundPasskey
	err := a.keys.change(ctx, func(p *plan) error {
		k, err := a.passkeys.find(ctx, id)
		if err != nil {
			return err
		}
		if err := f(&k.Authenticator); err != nil {
			return err
		}
		text, err := passkeyText(k.text, k.Authenticator)
		if err != nil {
			return err
		}
		p.want(a.keys.at(ofPasskey, id), k.text)
		p.set(a.keys.at(ofPasskey, id), text)
		changed, err = asPasskey(&text, id)
		return err
	})
	if err != nil {
		return storage.Authenticator{}, err
	}
	return changed.Authenticator, nil
}

// DeleteAuthenticator implements [storage.AuthenticatorAdapter].
func (a *authJS) DeleteAuthenticator(ctx context.Context, credentialID []byte) error {
	id := credential(credentialID)
	return a.keys.end(ctx, func(p *plan) error {
		k, err := a.passkeys.find(ctx, id)
		if err != nil {
			return err
		}
		ids, was, err := a.passkeys.ids(ctx, k.UserID)
		if err != nil {
			return err
		}
		p.want(a.keys.at(ofPasskey, id), k.text)
		p.want(a.keys.at(passkeysOf, k.UserID), was)
		p.Delete = append(p.Delete, a.keys.at(ofPasskey, id))
		return p.setCredentials(a.keys.at(passkeysOf, k.UserID), without(ids, id))
	})
}
