package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Limits and used values are measured by the clock of the database, since the
// clocks of the instances differ.

// pace is a rate as the database counts it. Every event fills a key by each milliseconds, and
// time empties the key (the generic cell rate algorithm). each is rounded up, so that never
// more events are admitted than the rate allows.
type pace struct{ events, each int64 }

// maxEvents keeps instants in a range that databases know.
const maxEvents = 1_000_000_000

// paceOf returns r as a number of events, at most maxEvents, and the milliseconds for
// each, rounded up. Events of r must be positive.
func paceOf(r storage.Rate) pace {
	events := min(int64(r.Events), maxEvents)
	per := int64((r.Per + time.Millisecond - 1) / time.Millisecond)
	return pace{events, (per + events - 1) / events}
}

// room returns how far ahead of now a key may be full for another event to fit, in
// milliseconds.
func (p pace) room() int64 { return (p.events - 1) * p.each }

// maxTakes is how often other callers may be faster.
const maxTakes = 3

// Take implements [storage.Limiter], by the clock of the database. It returns 0 if it has
// counted the event, and otherwise how long the caller has to wait. A rate whose Events or Per
// is not positive counts and refuses nothing. If other callers are faster three times, Take
// counts nothing and returns the time of one event. It returns an [errors.ErrUnsupported] if
// the layout has no table for limits. It needs one statement for an event that is counted, or
// two for a new key on MySQL. An event that has to wait needs one more.
func (s *Store) Take(ctx context.Context, key string, r storage.Rate) (time.Duration, error) {
	err := errors.Join(ctx.Err(), s.db.needs("limits"))
	if err != nil || r.Events <= 0 || r.Per <= 0 {
		return 0, fail(ctx, "take", err)
	}
	key = storedKey(key)
	p := paceOf(r)
	for range maxTakes {
		taken, err := p.take(ctx, s.db, key)
		if err != nil || taken {
			return 0, fail(ctx, "take", err)
		}
		var ahead int64
		err = s.db.conn.One(ctx, s.db.q.wait, []any{key}, &ahead)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return 0, fail(ctx, "take", err)
		}
		if full := p.events * p.each; ahead > full { // the clock was set back
			if _, err := s.db.conn.Exec(ctx, s.db.q.settle, full, key, full); err != nil {
				return 0, fail(ctx, "take", err)
			}
			ahead = full
		}
		if left := ahead - p.room(); left > 0 {
			return time.Duration(left) * time.Millisecond, nil
		}
	}
	return time.Duration(p.each) * time.Millisecond, nil
}

// take counts an event under key if it fits, and reports whether it has counted it. key
// is in its stored form.
func (p pace) take(ctx context.Context, db *database, key string) (bool, error) {
	if db.layout.dialect != MySQL {
		return db.affects(ctx, db.q.take[0], key, p.each, p.each, p.room()-p.each)
	}
	if taken, err := db.affects(ctx, db.q.take[0], p.each, key, p.room()); taken || err != nil {
		return taken, err
	}
	return db.affects(ctx, db.q.take[1], key, p.each)
}

// Return implements [storage.ReturningLimiter]: it takes back an event that Take has counted.
// It returns an [errors.ErrUnsupported] if the layout has no table for limits.
func (s *Store) Return(ctx context.Context, key string, r storage.Rate) error {
	err := errors.Join(ctx.Err(), s.db.needs("limits"))
	if err == nil && r.Events > 0 && r.Per > 0 {
		_, err = s.db.conn.Exec(ctx, s.db.q.giveBack, paceOf(r).each, storedKey(key))
	}
	return fail(ctx, "return", err)
}

// Forget implements [storage.Limiter]. It returns an [errors.ErrUnsupported] if the
// layout has no table for limits.
func (s *Store) Forget(ctx context.Context, key string) error {
	err := errors.Join(ctx.Err(), s.db.needs("limits"))
	if err == nil {
		_, err = s.db.conn.Exec(ctx, s.db.q.forget, storedKey(key))
	}
	return fail(ctx, "forget", err)
}

// Use implements [storage.ReplayStore]. It judges expiry by the clock of the database.
// With a zero expires it records nothing and returns true. It needs one statement, and
// another on MySQL for a value that is recorded already. It returns an
// [errors.ErrUnsupported] if the layout has no table for used values.
func (s *Store) Use(ctx context.Context, key string, expires time.Time) (first bool, err error) {
	err = errors.Join(ctx.Err(), s.db.needs("used_values"))
	if err != nil || expires.IsZero() {
		return err == nil, fail(ctx, "use", err)
	}
	key, at := storedKey(key), s.db.layout.formOf("used_values").arg(expires)
	first, err = s.db.affects(ctx, s.db.q.use[0], key, at)
	if err == nil && !first && s.db.layout.dialect == MySQL {
		first, err = s.db.affects(ctx, s.db.q.use[1], at, key)
	}
	return first, fail(ctx, "use", err)
}

// maxKey is the length of the longest key that is stored as it is, in bytes.
const maxKey = 200

// storedKey returns the text that a key is stored as: the key itself, or its SHA-256
// behind the mark hashed if the key has more than maxKey bytes, if a database cannot hold
// it, or if it begins with that mark.
func storedKey(key string) string {
	if len(key) <= maxKey && findable(key) && !strings.HasPrefix(key, hashed) {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return hashed + hex.EncodeToString(sum[:])
}

// clock reads the clock of the database in the form of an instant.
var clock = map[Dialect]string{
	Postgres: `clock_timestamp()`,
	MySQL:    `(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000)`,
	SQLite:   `CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)`,
}

// aboutLimits sets the fields of q with statements for limits and used values. PostgreSQL
// adds milliseconds as an interval. The sum {limits.full_at} + 0 keeps MySQL from using
// the index of the instants: the key finds the row.
func (q *queries) aboutLimits(l grammar) {
	now, ms, sooner := clock[l.dialect], `?`, `{limits.full_at} - `+clock[l.dialect]
	if l.dialect == Postgres {
		ms, sooner = `?::bigint * interval '1 millisecond'`, `CEIL(EXTRACT(EPOCH FROM `+sooner+`) * 1000)::bigint`
	}
	write := func(statement string) string {
		return l.sql(strings.NewReplacer("NOW", now, "MS", ms).Replace(statement))
	}
	const limit, value = ` WHERE {limits.key} = ?`, ` WHERE {used_values.key} = ?`
	q.wait = l.sql(`SELECT ` + sooner + ` FROM {limits}` + limit)
	q.forget = l.sql(`DELETE FROM {limits}` + limit)
	q.settle = write(`UPDATE {limits} SET {limits.full_at} = NOW + MS` + limit + ` AND {limits.full_at} > NOW + MS`)
	q.giveBack = write(`UPDATE {limits} SET {limits.full_at} = {limits.full_at} - MS` + limit + ` AND {limits.full_at} > NOW`)
	take := `INSERT INTO {limits} ({limits.key}, {limits.full_at}) VALUES (?, NOW + MS)`
	use := `INSERT INTO {used_values} ({used_values.key}, {used_values.expires}) VALUES (?, ?)`
	if l.dialect == MySQL {
		q.take = []string{
			write(`UPDATE {limits} SET {limits.full_at} = GREATEST({limits.full_at}, NOW) + ?` + limit + ` AND {limits.full_at} + 0 <= NOW + ?`), write(take),
		}
		q.use = []string{l.sql(use), write(`UPDATE {used_values} SET {used_values.expires} = ?` + value + ` AND {used_values.expires} <= NOW`)}
		q.mark = write(`INSERT INTO {used_values} ({used_values.key}, {used_values.expires}) VALUES (?, NOW)
			ON DUPLICATE KEY UPDATE {used_values.expires} = GREATEST({used_values.expires} + 1, NOW)`)
		return
	}
	later := `GREATEST`
	if l.dialect == SQLite {
		later = `MAX`
	}
	const was = `{limits}.{limits.full_at}`
	q.take = []string{write(take + ` ON CONFLICT ({limits.key}) DO UPDATE SET {limits.full_at} = ` + later + `(` + was + ` + MS, EXCLUDED.{limits.full_at})
		WHERE ` + was + ` <= EXCLUDED.{limits.full_at} + MS`)}
	q.use = []string{write(use + ` ON CONFLICT ({used_values.key}) DO UPDATE SET {used_values.expires} = EXCLUDED.{used_values.expires}
		WHERE {used_values}.{used_values.expires} <= NOW`)}
}
