package kvstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Magic links, revocations and used values: what matters until it expires.

// linkValue is the stored form of a magic link.
type linkValue struct {
	Expires stamp  `json:"expires"`
	Purpose string `json:"purpose,omitempty"`
}

// isWhole implements value. Each link is whole.
func (v linkValue) isWhole() bool { return true }

// CreateVerificationToken implements [storage.VerificationTokenAdapter].
func (s *Store) CreateVerificationToken(ctx context.Context, t storage.VerificationToken) error {
	if !isText(t.Purpose) {
		return errText
	}
	_, err := s.records.create(ctx, keyOfLink(t.Identifier, t.Token), linkValue{stampOf(t.Expires), t.Purpose}, s.records.until(t.Expires))
	return err
}

// UseVerificationToken implements [storage.VerificationTokenAdapter].
func (s *Store) UseVerificationToken(ctx context.Context, identifier, token string) (storage.VerificationToken, error) {
	r, err := s.records.take(ctx, keyOfLink(identifier, token))
	if err != nil {
		return storage.VerificationToken{}, err
	}
	v, err := decode[linkValue](&r)
	return storage.VerificationToken{Identifier: identifier, Token: token, Expires: v.Expires.Time, Purpose: v.Purpose}, err
}

// revocationValue is the stored form of a revocation.
type revocationValue struct {
	At      stamp `json:"at"`
	Expires stamp `json:"expires"`
}

// isWhole implements value. A revocation has an instant.
func (v revocationValue) isWhole() bool { return !v.At.IsZero() }

// Revoke implements [storage.RevocationStore]. The latest at and the latest expires count.
func (s *Store) Revoke(ctx context.Context, key string, at, expires time.Time) error {
	to := revocationValue{stampOf(at), stampOf(expires)}
	seen := Record{Key: keyOfRevocation(key)}
	for try := 0; ; try++ {
		_, err := s.records.write(ctx, seen, to, s.records.until(to.Expires.Time))
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
		if seen, err = s.records.look(ctx, seen.Key); err != nil {
			return err
		}
		if seen.isAlive() {
			was, err := decode[revocationValue](&seen)
			if err != nil {
				return err
			}
			to = revocationValue{laterOf(was.At, to.At), laterOf(was.Expires, to.Expires)}
			if to == was {
				return nil
			}
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// laterOf returns the later of two times, and a if they are equal.
func laterOf(a, b stamp) stamp {
	if b.Time.After(a.Time) {
		return b
	}
	return a
}

// RevokedAt implements [storage.RevocationStore]. It leaves out keys without a revocation.
func (s *Store) RevokedAt(ctx context.Context, keys ...string) (map[string]time.Time, error) {
	names := make(map[Key]string, len(keys))
	ask := make([]Key, 0, len(keys))
	for _, key := range keys {
		k := keyOfRevocation(key)
		if _, twice := names[k]; !twice {
			names[k] = key
			ask = append(ask, k)
		}
	}
	at := make(map[string]time.Time, len(ask))
	if len(ask) == 0 {
		return at, ctx.Err()
	}
	found, err := s.records.conn.Get(ctx, ask...)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(r Record) bool { return !r.isAlive() })
	for _, r := range found {
		v, err := decode[revocationValue](&r)
		if err != nil {
			return nil, err
		}
		at[names[r.Key]] = v.At.Time
	}
	return at, nil
}

// usedValue is the stored form of a value that must not be used twice.
type usedValue struct {
	Expires stamp `json:"expires"`
}

// isWhole implements value. Each used value is whole.
func (v usedValue) isWhole() bool { return true }

// Use implements [storage.ReplayStore]. It judges by the clock of [Options] whether a
// value has expired, even if the store still has the value. The store may forget the
// value an hour after its expiry.
func (s *Store) Use(ctx context.Context, key string, expires time.Time) (first bool, err error) {
	seen, until := Record{Key: keyOfUsed(key)}, s.records.notBefore(expires).Add(graceOfUsed)
	for try := 0; ; try++ {
		_, err := s.records.write(ctx, seen, usedValue{stampOf(expires)}, until)
		if !errors.Is(err, storage.ErrConflict) {
			return err == nil, err
		}
		if seen, err = s.records.look(ctx, seen.Key); err != nil {
			return false, err
		}
		if seen.isAlive() {
			v, err := decode[usedValue](&seen)
			if err != nil || v.Expires.Time.After(s.records.now()) {
				return false, err
			}
		}
		if err := pause(ctx, try); err != nil {
			return false, err
		}
	}
}
