package mongoadapter

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkeyhq/latchkey/storage"
)

// authenticatorDoc is the document of a passkey, with the field names that Auth.js has in
// other databases. The credential id and the public key are standard base64, as there.
type authenticatorDoc struct {
	ID         bson.ObjectID `bson:"_id"`
	UserID     bson.ObjectID `bson:"userId"`
	Credential string        `bson:"credentialID"`
	AccountID  string        `bson:"providerAccountId"`
	PublicKey  string        `bson:"credentialPublicKey"`
	Counter    int64         `bson:"counter"`
	DeviceType string        `bson:"credentialDeviceType"`
	BackedUp   bool          `bson:"credentialBackedUp"`
	Transports string        `bson:"transports,omitempty"`
	Name       string        `bson:"name,omitempty"`
	AAGUID     string        `bson:"aaguid,omitempty"`
	Created    time.Time     `bson:"created,omitempty"`
	Used       time.Time     `bson:"used,omitempty"`
	Handle     []byte        `bson:"userHandle,omitempty"`
}

// newAuthenticatorDoc returns the document of a passkey, with a new id. It returns
// errText for a text that is not UTF-8.
func newAuthenticatorDoc(k storage.Authenticator) (d authenticatorDoc, err error) {
	transports := strings.Join(k.Transports, ",")
	if !storable(k.ProviderAccountID, k.DeviceType, transports, k.Name, k.AAGUID) {
		return d, errText
	}
	return authenticatorDoc{
		ID: bson.NewObjectID(), UserID: objectID(k.UserID), Credential: base64.StdEncoding.EncodeToString(k.CredentialID),
		AccountID: k.ProviderAccountID, PublicKey: base64.StdEncoding.EncodeToString(k.PublicKey), Counter: int64(k.Counter),
		DeviceType: k.DeviceType, BackedUp: k.BackedUp, Transports: transports,
		Name: k.Name, AAGUID: k.AAGUID, Created: k.Created, Used: k.Used, Handle: k.UserHandle,
	}, nil
}

// authenticator returns the passkey of the document. It returns errValue if the
// credential id or the public key is no base64.
func (d *authenticatorDoc) authenticator() (k storage.Authenticator, err error) {
	credential, errCredential := base64.StdEncoding.DecodeString(d.Credential)
	key, errKey := base64.StdEncoding.DecodeString(d.PublicKey)
	if errCredential != nil || errKey != nil {
		return k, errValue
	}
	k = storage.Authenticator{
		CredentialID: credential, UserID: d.UserID.Hex(), ProviderAccountID: d.AccountID, PublicKey: key, Counter: uint32(d.Counter),
		DeviceType: d.DeviceType, BackedUp: d.BackedUp, Name: d.Name, AAGUID: d.AAGUID,
		Created: utc(d.Created), Used: utc(d.Used), UserHandle: d.Handle,
	}
	if d.Transports != "" {
		k.Transports = strings.Split(d.Transports, ",")
	}
	return k, nil
}

// credentialKey returns the filter for the document of a passkey.
func credentialKey(id []byte) bson.D {
	return bson.D{{Key: "credentialID", Value: base64.StdEncoding.EncodeToString(id)}}
}

// CreateAuthenticator implements [storage.AuthenticatorAdapter]. An unknown user is
// ErrNotFound, and a credential that is stored already ErrConflict. It returns an error
// for text that is not UTF-8.
func (a *Adapter) CreateAuthenticator(ctx context.Context, k storage.Authenticator) error {
	d, err := newAuthenticatorDoc(k)
	if _, is := parseID(k.UserID); err == nil && !is {
		err = storage.ErrNotFound
	}
	if err == nil {
		err = a.users.add(ctx, a.authenticators, d.ID, d.UserID, credentialKey(k.CredentialID), d)
	}
	return fail(ctx, "create authenticator", err)
}

// GetAuthenticator implements [storage.AuthenticatorAdapter].
func (a *Adapter) GetAuthenticator(ctx context.Context, credentialID []byte) (storage.Authenticator, error) {
	k, err := a.findAuthenticator(ctx, credentialID)
	return k, fail(ctx, "get authenticator", err)
}

// findAuthenticator returns a passkey. It returns ErrNotFound if there is none,
// or if its user was deleted.
func (a *Adapter) findAuthenticator(ctx context.Context, credentialID []byte) (k storage.Authenticator, err error) {
	var d authenticatorDoc
	if err := find(ctx, a.authenticators, credentialKey(credentialID), &d); err != nil {
		return k, err
	}
	if err := a.users.checkExists(ctx, d.UserID); err != nil {
		return k, err
	}
	return d.authenticator()
}

// ListAuthenticators implements [storage.AuthenticatorAdapter], in the order of credential
// ids. For a passkey that cannot be decoded it returns a zero one in the list, and an error.
func (a *Adapter) ListAuthenticators(ctx context.Context, userID string) (list []storage.Authenticator, err error) {
	found, err := ownedBy[authenticatorDoc](ctx, a.authenticators, userID)
	for _, d := range found {
		k, unreadable := d.authenticator()
		list, err = append(list, k), errors.Join(err, unreadable)
	}
	slices.SortFunc(list, func(a, b storage.Authenticator) int { return bytes.Compare(a.CredentialID, b.CredentialID) })
	return list, fail(ctx, "list authenticators", err)
}

// UpdateAuthenticatorCounter implements [storage.AuthenticatorAdapter].
func (a *Adapter) UpdateAuthenticatorCounter(ctx context.Context, credentialID []byte, counter uint32) (storage.Authenticator, error) {
	isLower := bson.E{Key: "counter", Value: bson.D{{Key: "$lt", Value: int64(counter)}}}
	k, err := changeAuthenticator(ctx, a, append(credentialKey(credentialID), isLower), bson.D{{Key: "counter", Value: int64(counter)}})
	if errors.Is(err, storage.ErrNotFound) {
		k, err = withoutRise(ctx, a, credentialID, counter)
	}
	return k, fail(ctx, "update authenticator counter", err)
}

// withoutRise returns the passkey whose counter could not be raised to counter. It returns
// ErrNotFound if there is no such passkey. It returns ErrConflict if its counter is not
// lower, unless both are 0: some authenticators never count.
func withoutRise(ctx context.Context, a *Adapter, credentialID []byte, counter uint32) (storage.Authenticator, error) {
	k, err := a.findAuthenticator(ctx, credentialID)
	if err == nil && (counter != 0 || k.Counter != 0) {
		return storage.Authenticator{}, storage.ErrConflict
	}
	return k, err
}

// changeAuthenticator sets fields of the passkey that filter names, and returns the
// changed passkey. It returns ErrNotFound if filter names none.
func changeAuthenticator(ctx context.Context, a *Adapter, filter, fields bson.D) (k storage.Authenticator, err error) {
	var d authenticatorDoc
	if err := a.authenticators.change(ctx, filter, bson.D{{Key: "$set", Value: fields}}, &d); err != nil {
		return k, err
	}
	return d.authenticator()
}

// UpdateAuthenticator implements [storage.AuthenticatorAdapter].
func (a *Adapter) UpdateAuthenticator(ctx context.Context, credentialID []byte, c storage.AuthenticatorChange) (k storage.Authenticator, err error) {
	var fields bson.D
	if c.Name != nil {
		if !storable(*c.Name) {
			return k, fail(ctx, "update authenticator", errText)
		}
		fields = append(fields, bson.E{Key: "name", Value: *c.Name})
	}
	if c.BackedUp != nil {
		fields = append(fields, bson.E{Key: "credentialBackedUp", Value: *c.BackedUp})
	}
	if c.Used != nil {
		fields = append(fields, bson.E{Key: "used", Value: *c.Used})
	}
	if len(fields) == 0 {
		k, err = a.findAuthenticator(ctx, credentialID)
	} else {
		k, err = changeAuthenticator(ctx, a, credentialKey(credentialID), fields)
	}
	return k, fail(ctx, "update authenticator", err)
}

// DeleteAuthenticator implements [storage.AuthenticatorAdapter].
func (a *Adapter) DeleteAuthenticator(ctx context.Context, credentialID []byte) error {
	var gone struct{}
	return fail(ctx, "delete authenticator", a.authenticators.remove(ctx, credentialKey(credentialID), &gone))
}
