package sqlstore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Tokens of accounts, and leases for work that one process does.

// SwapTokens implements [storage.TokenAdapter]. It returns ErrConflict if the stored
// access or refresh token is not that of old, and ErrNotFound for an unknown account. It
// returns an [errors.ErrUnsupported] if the layout lacks the column for access tokens or
// the one for refresh tokens.
func (s *Store) SwapTokens(ctx context.Context, provider, providerAccountID string, old, next storage.Tokens) error {
	row, err := accountValues(storage.Account{Provider: provider, ProviderAccountID: providerAccountID, Tokens: next})
	if s.db.q.swapTokens == "" {
		err = errAbsent
	}
	if err = errors.Join(ctx.Err(), err); err == nil && !findable(provider, providerAccountID) {
		err = storage.ErrNotFound
	}
	if err == nil {
		err = s.db.swapTokens(ctx, row, provider, providerAccountID, old)
	}
	return fail(ctx, "swap tokens", err)
}

// swapTokens writes the tokens in row, which accountValues has made, if the account still
// has the refresh and the access token of old. It returns ErrConflict if the account has
// others, and ErrNotFound if there is no such account. The caller has made sure that
// db.q.swapTokens is not empty.
func (db *database) swapTokens(ctx context.Context, row []any, provider, id string, old storage.Tokens) error {
	args := db.layout.touches("accounts")
	for i, c := range tokenColumns {
		if db.layout.has("accounts." + c) {
			args = append(args, row[firstToken+i])
		}
	}
	args = append(args, provider, id, old.RefreshToken, old.AccessToken)
	if !findable(old.RefreshToken, old.AccessToken) {
		return storage.ErrConflict
	}
	swapped, err := db.affects(ctx, db.q.swapTokens, args...)
	if err != nil || swapped {
		return err
	}
	var account accountRow
	if err := db.find(ctx, db.q.account, []string{provider, id}, db.into("accounts", account.dest())...); err != nil {
		return err
	}
	if now := account.account.Tokens; db.layout.dialect == MySQL && now.RefreshToken == old.RefreshToken && now.AccessToken == old.AccessToken {
		return nil // MySQL counts no row that was as it should be already
	}
	return storage.ErrConflict
}

// tokenColumns are the columns of an account that hold tokens and what was said of them.
// They follow each other in a row, from the place firstToken.
var tokenColumns = []string{
	"refresh_token", "access_token", "expires_at", "id_token", "scope", "session_state", "token_type", "authorization_details", "token_extra",
}

const firstToken = 5

// aboutSwaps sets q.swapTokens, the statement that replaces tokens. It leaves it empty if
// the layout lacks a column for access or refresh tokens. The statement compares texts
// byte by byte: columns of MySQL have a collation.
func (q *queries) aboutSwaps(l grammar) {
	if !l.has("accounts.refresh_token") || !l.has("accounts.access_token") {
		return
	}
	var set []string
	for _, c := range tokenColumns {
		if l.has("accounts." + c) {
			set = append(set, "{accounts."+c+"} = ?")
		}
	}
	same := func(column string) string {
		if l.dialect == MySQL {
			return ` AND CAST(COALESCE({accounts.` + column + `}, '') AS BINARY) = CAST(? AS BINARY)`
		}
		return ` AND COALESCE({accounts.` + column + `}, '') = ?`
	}
	q.swapTokens = l.sql(l.update("accounts") + strings.Join(set, ", ") +
		` WHERE {accounts.provider} = ? AND {accounts.providerAccountId} = ?` + same("refresh_token") + same("access_token"))
}

// SharesTokens implements [storage.TokenSharer]. It returns true for layouts with
// PlainTokens, because other programs read their rows.
func (s *Store) SharesTokens() bool { return s.sessions.plain }

// abandonedFor is how long a lease that has expired without Release is remembered.
const abandonedFor = 24 * time.Hour

// Lease implements [storage.LeaseStore], by the clock of the database. It tries nine
// times if other callers change the lease meanwhile, and then returns a Lease that is not
// held, with a short Wait and no error. It returns an [errors.ErrUnsupported] if the
// layout has no table for leases.
func (s *Store) Lease(ctx context.Context, key, holder string, life time.Duration) (storage.Lease, error) {
	err := errors.Join(ctx.Err(), s.db.needs("leases"))
	if err != nil {
		return storage.Lease{}, fail(ctx, "lease", err)
	}
	key, holder = storedKey(key), storedKey(holder)
	for range maxTakes * maxTakes {
		given, done, err := s.db.lease(ctx, key, holder, int64((life+time.Millisecond-1)/time.Millisecond))
		if err != nil || done {
			return given, fail(ctx, "lease", err)
		}
	}
	return storage.Lease{Wait: time.Millisecond}, nil // others are faster each time
}

// lease tries once to take the lease of key for holder, for life milliseconds. done is
// true if holder has the lease, or if another holder has it for now. done is false if
// another caller has changed the lease meanwhile, so that the caller tries again.
func (db *database) lease(ctx context.Context, key, holder string, life int64) (given storage.Lease, done bool, err error) {
	var last string
	var left int64
	err = db.conn.One(ctx, db.q.lease, []any{key}, &last, &left)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		given.Held, err = db.affects(ctx, db.q.addLease, key, holder, life)
	case err != nil:
	case last == holder:
		given.Held, err = db.affects(ctx, db.q.extendLease, life, key, holder)
	case left > 0:
		return storage.Lease{Wait: time.Duration(left) * time.Millisecond}, true, nil
	default:
		given.Held, err = db.affects(ctx, db.q.takeLease, holder, life, key, last)
		given.Abandoned = given.Held && time.Duration(-left)*time.Millisecond < abandonedFor
	}
	return given, given.Held, err
}

// Release implements [storage.LeaseStore]. It does nothing if holder does not have the
// lease. It returns an [errors.ErrUnsupported] if the layout has no table for leases.
func (s *Store) Release(ctx context.Context, key, holder string) error {
	err := errors.Join(ctx.Err(), s.db.needs("leases"))
	if err == nil {
		_, err = s.db.conn.Exec(ctx, s.db.q.endLease, storedKey(key), storedKey(holder))
	}
	return fail(ctx, "release", err)
}

// aboutLeases sets the fields of q with statements for leases. The statement that takes
// over a lease that has expired compares the former holder, so that of several callers
// one succeeds.
func (q *queries) aboutLeases(l grammar) {
	now, ms, left := clock[l.dialect], `?`, `{leases.until} - `+clock[l.dialect]
	if l.dialect == Postgres {
		ms, left = `?::bigint * interval '1 millisecond'`, `CEIL(EXTRACT(EPOCH FROM `+left+`) * 1000)::bigint`
	}
	write := func(statement string) string {
		return l.sql(strings.NewReplacer("NOW", now, "MS", ms).Replace(statement))
	}
	const key, own = ` WHERE {leases.key} = ?`, ` AND {leases.holder} = ?`
	q.lease = l.sql(`SELECT {leases.holder}, ` + left + ` FROM {leases}` + key)
	add := `INSERT INTO {leases} ({leases.key}, {leases.holder}, {leases.until}) VALUES (?, ?, NOW + MS)`
	if l.dialect != MySQL {
		add += ` ON CONFLICT ({leases.key}) DO NOTHING`
	}
	q.addLease = write(add)
	q.extendLease = write(`UPDATE {leases} SET {leases.until} = NOW + MS` + key + own)
	q.takeLease = write(`UPDATE {leases} SET {leases.holder} = ?, {leases.until} = NOW + MS` + key + own + ` AND {leases.until} <= NOW`)
	q.endLease = l.sql(`DELETE FROM {leases}` + key + own)
}
