package sqlstore

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// CreateVerificationToken implements [latchkey.VerificationTokenAdapter].
func (s *Store) CreateVerificationToken(ctx context.Context, t latchkey.VerificationToken) error {
	row := []any{s.newID(""), t.Identifier, t.Token, s.arg(t.Expires), null(t.Purpose)}
	err := s.claim(ctx, func(s *Store) error { return s.add(ctx, s.q.insertToken, row...) },
		claimed("verification_token", t.Identifier, t.Token), s.q.token, t.Identifier, t.Token)
	return fail(ctx, "create verification token", err)
}

// UseVerificationToken implements [latchkey.VerificationTokenAdapter].
func (s *Store) UseVerificationToken(ctx context.Context, identifier, token string) (t latchkey.VerificationToken, err error) {
	var id string
	var expires instant
	err = ctx.Err()
	if err == nil && !findable(identifier, token) {
		err = latchkey.ErrNotFound
	}
	if err == nil {
		err = s.tx(ctx, func(tx *Store) error { // what cannot be read is not removed
			return tx.take(ctx, "verification_token", tx.q.token, tx.q.deleteToken, []any{identifier, token},
				tx.into("verification_token", []any{&id, &t.Identifier, &t.Token, &expires, &t.Purpose})...)
		})
	}
	if err != nil {
		return latchkey.VerificationToken{}, fail(ctx, "use verification token", err)
	}
	t.Expires = expires.Time
	return t, nil
}

// authenticatorRow is where a row of authenticators is read to. Bytes are
// standard base64, as Auth.js has them.
type authenticatorRow struct {
	k                          latchkey.Authenticator
	credential, key, transport string
	counter                    int64
	handle                     string
	created, used              instant
}

func (r *authenticatorRow) dest() []any {
	k := &r.k
	return []any{
		&r.credential, &k.UserID, &k.ProviderAccountID, &r.key, &r.counter, &k.DeviceType, &k.BackedUp, &r.transport,
		&k.Name, &k.AAGUID, &r.created, &r.used, &r.handle,
	}
}

func (r *authenticatorRow) read() (k latchkey.Authenticator, err error) {
	k = r.k
	k.Counter, k.Created, k.Used = uint32(r.counter), r.created.Time, r.used.Time
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

// passkeys reports a layout without them.
func (s *Store) passkeys() error {
	if !s.has("authenticators") {
		return errAbsent
	}
	return nil
}

// CreateAuthenticator implements [latchkey.AuthenticatorAdapter]. An unknown
// user is ErrNotFound.
func (s *Store) CreateAuthenticator(ctx context.Context, k latchkey.Authenticator) error {
	credential := base64.StdEncoding.EncodeToString(k.CredentialID)
	row := []any{
		credential, k.UserID, k.ProviderAccountID, base64.StdEncoding.EncodeToString(k.PublicKey),
		int64(k.Counter), k.DeviceType, k.BackedUp, null(strings.Join(k.Transports, ",")),
		null(k.Name), null(k.AAGUID), s.arg(k.Created), s.arg(k.Used),
		null(base64.StdEncoding.EncodeToString(k.UserHandle)),
	}
	err := s.passkeys()
	if err == nil && !s.findableID(k.UserID) {
		err = latchkey.ErrNotFound
	}
	if err == nil {
		err = s.claim(ctx, func(s *Store) error { return s.add(ctx, s.q.insertAuthenticator, row...) },
			claimed("authenticators.credentialID", credential), s.q.authenticator, credential)
	}
	return fail(ctx, "create authenticator", err)
}

// GetAuthenticator implements [latchkey.AuthenticatorAdapter].
func (s *Store) GetAuthenticator(ctx context.Context, credentialID []byte) (latchkey.Authenticator, error) {
	k, err := s.findAuthenticator(ctx, credentialID)
	return k, fail(ctx, "get authenticator", err)
}

func (s *Store) findAuthenticator(ctx context.Context, credentialID []byte) (k latchkey.Authenticator, err error) {
	if err := s.passkeys(); err != nil {
		return k, err
	}
	var row authenticatorRow
	if err := s.find(ctx, s.q.authenticator, []string{base64.StdEncoding.EncodeToString(credentialID)}, s.into("authenticators", row.dest())...); err != nil {
		return k, err
	}
	return row.read()
}

// ListAuthenticators implements [latchkey.AuthenticatorAdapter].
func (s *Store) ListAuthenticators(ctx context.Context, userID string) (list []latchkey.Authenticator, err error) {
	if err = s.passkeys(); err == nil {
		err = s.each(ctx, s.q.authenticatorsOf, userID, func(scan func(...any) error) error {
			var row authenticatorRow
			if err := scan(s.into("authenticators", row.dest())...); err != nil {
				return err
			}
			k, err := row.read()
			list = append(list, k)
			return err
		})
	}
	return list, fail(ctx, "list authenticators", err)
}

// UpdateAuthenticatorCounter implements [latchkey.AuthenticatorAdapter].
func (s *Store) UpdateAuthenticatorCounter(ctx context.Context, credentialID []byte, counter uint32) (latchkey.Authenticator, error) {
	k, err := s.raiseCounter(ctx, credentialID, counter)
	if err != nil {
		return latchkey.Authenticator{}, fail(ctx, "update authenticator counter", err)
	}
	k.Counter = counter // somebody else may have raised it further meanwhile
	return k, nil
}

func (s *Store) raiseCounter(ctx context.Context, credentialID []byte, counter uint32) (k latchkey.Authenticator, err error) {
	if err := s.passkeys(); err != nil {
		return k, err
	}
	if err := s.fitsColumn(ctx, "authenticators", "counter", int64(counter)); err != nil {
		return k, err
	}
	n, err := s.conn.Exec(ctx, s.q.raiseCounter, append(s.touches("authenticators"), int64(counter), base64.StdEncoding.EncodeToString(credentialID), int64(counter))...)
	if err != nil {
		return k, err
	}
	k, err = s.findAuthenticator(ctx, credentialID)
	if neverCounts := counter == 0 && k.Counter == 0; err == nil && n == 0 && !neverCounts {
		return k, latchkey.ErrConflict
	}
	return k, err
}

// UpdateAuthenticator implements [latchkey.AuthenticatorAdapter].
func (s *Store) UpdateAuthenticator(ctx context.Context, credentialID []byte, c latchkey.AuthenticatorChange) (latchkey.Authenticator, error) {
	k, err := s.changeAuthenticator(ctx, credentialID, c)
	if err != nil {
		return latchkey.Authenticator{}, fail(ctx, "update authenticator", err)
	}
	return k, nil
}

func (s *Store) changeAuthenticator(ctx context.Context, credentialID []byte, c latchkey.AuthenticatorChange) (k latchkey.Authenticator, err error) {
	if err := s.passkeys(); err != nil {
		return k, err
	}
	var set []string
	var args []any
	change := func(column string, to any) {
		if s.has("authenticators." + column) {
			set, args = append(set, `{authenticators.`+column+`} = ?`), append(args, to)
		}
	}
	if c.Name != nil {
		if err := s.fitsColumn(ctx, "authenticators", "name", *c.Name); err != nil {
			return k, err
		}
		change("name", null(*c.Name))
	}
	if c.BackedUp != nil {
		change("credentialBackedUp", *c.BackedUp)
	}
	if c.Used != nil {
		change("used", s.arg(*c.Used))
	}
	if len(set) > 0 {
		statement := s.sql(s.update("authenticators") + strings.Join(set, ", ") + ` WHERE {authenticators.credentialID} = ?`)
		if _, err := s.conn.Exec(ctx, statement, append(append(s.touches("authenticators"), args...), base64.StdEncoding.EncodeToString(credentialID))...); err != nil {
			return k, err
		}
	}
	return s.findAuthenticator(ctx, credentialID)
}

// DeleteAuthenticator implements [latchkey.AuthenticatorAdapter].
func (s *Store) DeleteAuthenticator(ctx context.Context, credentialID []byte) error {
	err := s.passkeys()
	if err == nil {
		var n int64
		n, err = s.conn.Exec(ctx, s.q.deleteAuthenticator, base64.StdEncoding.EncodeToString(credentialID))
		if err == nil && n == 0 {
			err = latchkey.ErrNotFound
		}
	}
	return fail(ctx, "delete authenticator", err)
}

// Revoke implements [latchkey.RevocationStore].
func (s *Store) Revoke(ctx context.Context, key string, at, expires time.Time) error {
	err := s.revocations()
	if err == nil && !findable(key) {
		err = errText
	}
	if err == nil {
		ours := s.formOf("revocations")
		_, err = s.conn.Exec(ctx, s.q.revoke, key, ours.arg(at), ours.arg(expires))
	}
	return fail(ctx, "revoke", err)
}

// RevokedAt implements [latchkey.RevocationStore].
func (s *Store) RevokedAt(ctx context.Context, keys ...string) (map[string]time.Time, error) {
	found := make(map[string]time.Time)
	err := ctx.Err()
	if err == nil {
		err = s.revocations()
	}
	if err != nil {
		return nil, fail(ctx, "revoked at", err)
	}
	for some := range slices.Chunk(slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return !findable(k) }), mostKeys) {
		if err := s.readRevocations(ctx, some, found); err != nil {
			return nil, fail(ctx, "revoked at", err)
		}
	}
	return found, nil
}

// mostKeys is how many keys one statement asks for.
const mostKeys = 64

// readRevocations asks for one, two, four … keys, repeating the last, so that
// there are few different statements to prepare.
func (s *Store) readRevocations(ctx context.Context, keys []string, found map[string]time.Time) error {
	n := 1
	for n < len(keys) {
		n *= 2
	}
	args := make([]any, n)
	for i := range args {
		args[i] = keys[min(i, len(keys)-1)]
	}
	return s.conn.Each(ctx, s.grammar.selectRevocations(n), args, func(scan func(...any) error) error {
		var key string
		var at instant
		err := scan(&key, &at)
		found[key] = at.Time
		return err
	})
}

func (s *Store) revocations() error {
	if !s.has("revocations") {
		return errAbsent
	}
	return nil
}
