package sqlstore

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/latchkeyhq/latchkey/storage"
)

// CreateAuthenticator implements [storage.AuthenticatorAdapter]. It returns ErrConflict
// if the credential id is taken. It returns ErrNotFound for an unknown user if the schema
// has a foreign key, as ours does.
func (s *Store) CreateAuthenticator(ctx context.Context, k storage.Authenticator) error {
	row := s.passkeys.values(k)
	err := s.db.needs("authenticators")
	if err == nil && !s.db.findableID(k.UserID) {
		err = storage.ErrNotFound
	}
	if err == nil {
		err = s.db.claim(ctx, func(db *database) error { return db.add(ctx, db.q.insertAuthenticator, row...) },
			claimed("authenticators.credentialID", encode(k.CredentialID)), s.db.q.authenticator, encode(k.CredentialID))
	}
	return fail(ctx, "create authenticator", err)
}

// GetAuthenticator implements [storage.AuthenticatorAdapter]. It returns ErrNotFound for
// an unknown passkey.
func (s *Store) GetAuthenticator(ctx context.Context, credentialID []byte) (storage.Authenticator, error) {
	k, err := s.passkeys.find(ctx, credentialID)
	return k, fail(ctx, "get authenticator", err)
}

// ListAuthenticators implements [storage.AuthenticatorAdapter]. It returns the passkeys
// in the order of their credential ids, and none for an unknown user.
func (s *Store) ListAuthenticators(ctx context.Context, userID string) (list []storage.Authenticator, err error) {
	if err = s.db.needs("authenticators"); err == nil {
		err = s.db.each(ctx, s.db.q.authenticatorsOf, userID, func(scan func(...any) error) error {
			var row authenticatorRow
			if err := scan(s.db.into("authenticators", row.dest())...); err != nil {
				return err
			}
			k, err := row.read()
			list = append(list, k)
			return err
		})
	}
	return list, fail(ctx, "list authenticators", err)
}

// UpdateAuthenticatorCounter implements [storage.AuthenticatorAdapter]. It returns
// ErrNotFound for an unknown passkey. It returns ErrConflict if the stored counter is not
// lower, unless both are zero.
func (s *Store) UpdateAuthenticatorCounter(ctx context.Context, credentialID []byte, counter uint32) (storage.Authenticator, error) {
	k, err := s.passkeys.raiseCounter(ctx, credentialID, counter)
	if err != nil {
		return storage.Authenticator{}, fail(ctx, "update authenticator counter", err)
	}
	k.Counter = counter // another caller may have raised it further meanwhile
	return k, nil
}

// UpdateAuthenticator implements [storage.AuthenticatorAdapter]. It returns ErrNotFound
// for an unknown passkey. Fields without a column are ignored.
func (s *Store) UpdateAuthenticator(ctx context.Context, credentialID []byte, c storage.AuthenticatorChange) (storage.Authenticator, error) {
	k, err := s.passkeys.change(ctx, credentialID, c)
	if err != nil {
		return storage.Authenticator{}, fail(ctx, "update authenticator", err)
	}
	return k, nil
}

// DeleteAuthenticator implements [storage.AuthenticatorAdapter]. It returns ErrNotFound
// for an unknown passkey.
func (s *Store) DeleteAuthenticator(ctx context.Context, credentialID []byte) error {
	err := s.db.needs("authenticators")
	if err == nil {
		var n int64
		n, err = s.db.conn.Exec(ctx, s.db.q.deleteAuthenticator, encode(credentialID))
		if err == nil && n == 0 {
			err = storage.ErrNotFound
		}
	}
	return fail(ctx, "delete authenticator", err)
}

// passkeys stores authenticators. Its methods return errors of the driver as they are,
// and an [errors.ErrUnsupported] if the layout has no table for passkeys.
type passkeys struct{ db *database }

// authenticatorRow is what a row of authenticators is read into. Bytes are kept as
// standard base64, as Auth.js keeps them.
type authenticatorRow struct {
	k                          storage.Authenticator
	credential, key, transport string
	counter                    int64
	handle                     string
	created, used              instant
}

// dest returns a destination in r for each column of authenticators, in the order of
// package model. The caller passes the list to database.into.
func (r *authenticatorRow) dest() []any {
	k := &r.k
	return []any{
		&r.credential, &k.UserID, &k.ProviderAccountID, &r.key, &r.counter, &k.DeviceType, &k.BackedUp, &r.transport,
		&k.Name, &k.AAGUID, &r.created, &r.used, &r.handle,
	}
}

// read returns the passkey of the row. It returns errText if the credential id, the
// public key or the user handle is no base64.
func (r *authenticatorRow) read() (k storage.Authenticator, err error) {
	k = r.k
	k.Counter, k.Created, k.Used = uint32(r.counter), r.created.t, r.used.t
	if r.transport != "" {
		k.Transports = strings.Split(r.transport, ",")
	}
	if k.CredentialID, err = base64.StdEncoding.DecodeString(r.credential); err != nil {
		return k, errText
	}
	if k.PublicKey, err = base64.StdEncoding.DecodeString(r.key); err != nil {
		return k, errText
	}
	if r.handle == "" {
		return k, nil
	}
	if k.UserHandle, err = base64.StdEncoding.DecodeString(r.handle); err != nil {
		return k, errText
	}
	return k, nil
}

// values returns a value of k for each column of authenticators, in the order of package
// model.
func (s passkeys) values(k storage.Authenticator) []any {
	at := s.db.layout.arg
	return []any{
		encode(k.CredentialID), k.UserID, k.ProviderAccountID, encode(k.PublicKey), int64(k.Counter), k.DeviceType, k.BackedUp,
		null(strings.Join(k.Transports, ",")), null(k.Name), null(k.AAGUID), at(k.Created), at(k.Used), null(encode(k.UserHandle)),
	}
}

// find returns the passkey with the credential id, or ErrNotFound.
func (s passkeys) find(ctx context.Context, credentialID []byte) (k storage.Authenticator, err error) {
	if err := s.db.needs("authenticators"); err != nil {
		return k, err
	}
	var row authenticatorRow
	if err := s.db.find(ctx, s.db.q.authenticator, []string{encode(credentialID)}, s.db.into("authenticators", row.dest())...); err != nil {
		return k, err
	}
	return row.read()
}

// raiseCounter sets the counter of a passkey and returns the passkey. It returns
// ErrNotFound for an unknown passkey. If the stored counter is not lower, it changes
// nothing and returns ErrConflict. If counter and the stored one are both zero, that is
// no error: such a passkey never counts.
func (s passkeys) raiseCounter(ctx context.Context, credentialID []byte, counter uint32) (k storage.Authenticator, err error) {
	if err := s.db.needs("authenticators"); err != nil {
		return k, err
	}
	if err := s.db.fitsColumn(ctx, "authenticators", "counter", int64(counter)); err != nil {
		return k, err
	}
	args := append(s.db.layout.touches("authenticators"), int64(counter), encode(credentialID), int64(counter))
	n, err := s.db.conn.Exec(ctx, s.db.q.raiseCounter, args...)
	if err != nil {
		return k, err
	}
	k, err = s.find(ctx, credentialID)
	if neverCounts := counter == 0 && k.Counter == 0; err == nil && n == 0 && !neverCounts {
		return k, storage.ErrConflict
	}
	return k, err
}

// change writes the fields that c names and the layout has columns for, and returns the
// whole passkey, also if there is nothing to write. It returns ErrNotFound for an unknown
// passkey.
func (s passkeys) change(ctx context.Context, credentialID []byte, c storage.AuthenticatorChange) (k storage.Authenticator, err error) {
	if err := s.db.needs("authenticators"); err != nil {
		return k, err
	}
	l := s.db.layout
	var set []string
	var args []any
	change := func(column string, to any) {
		if l.has("authenticators." + column) {
			set, args = append(set, `{authenticators.`+column+`} = ?`), append(args, to)
		}
	}
	if c.Name != nil {
		if err := s.db.fitsColumn(ctx, "authenticators", "name", *c.Name); err != nil {
			return k, err
		}
		change("name", null(*c.Name))
	}
	if c.BackedUp != nil {
		change("credentialBackedUp", *c.BackedUp)
	}
	if c.Used != nil {
		change("used", l.arg(*c.Used))
	}
	if len(set) > 0 {
		statement := l.sql(l.update("authenticators") + strings.Join(set, ", ") + ` WHERE {authenticators.credentialID} = ?`)
		args = append(append(l.touches("authenticators"), args...), encode(credentialID))
		if _, err := s.db.conn.Exec(ctx, statement, args...); err != nil {
			return k, err
		}
	}
	return s.find(ctx, credentialID)
}

// encode returns b in standard base64, as Auth.js stores it.
func encode(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
