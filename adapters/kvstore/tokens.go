package kvstore

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// SwapTokens implements [storage.TokenAdapter]. It compares again if another call has
// changed the account meanwhile. The account of a deleted user is ErrNotFound.
func (s *Store) SwapTokens(ctx context.Context, provider, providerAccountID string, old, next storage.Tokens) error {
	for try := 0; ; try++ {
		seen, v, user, err := findWithUser[accountValue](ctx, s.users, keyOfAccount(provider, providerAccountID))
		if err == nil && v.Born != user.Born {
			err = storage.ErrNotFound
		}
		if err == nil && (v.Access != old.AccessToken || v.Refresh != old.RefreshToken) {
			err = storage.ErrConflict
		}
		if err == nil {
			err = v.setTokens(next)
		}
		if err != nil {
			return err
		}
		_, err = s.records.rewrite(ctx, seen, v, never)
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// setTokens replaces the tokens of an account. For tokens that cannot be stored it
// returns errText or errJSON, and changes nothing.
func (v *accountValue) setTokens(t storage.Tokens) error {
	with, err := accountAsValue(&storage.Account{Tokens: t}, v.Born)
	if err != nil {
		return err
	}
	v.Access, v.Refresh, v.IDToken, v.TokenType, v.Scope = with.Access, with.Refresh, with.IDToken, with.TokenType, with.Scope
	v.SessionState, v.Expires, v.Details, v.TokenExtra = with.SessionState, with.Expires, with.Details, with.TokenExtra
	return nil
}

// leaseValue is a lease that was not released.
type leaseValue struct {
	Holder string `json:"holder"`
	Until  stamp  `json:"until"`
}

// isWhole implements value. A lease has a holder and an end.
func (v leaseValue) isWhole() bool { return v.Holder != "" && !v.Until.IsZero() }

// Lease implements [storage.LeaseStore]. It returns errText if holder is empty or not
// UTF-8. Without a [LeaseConn] it uses the clock of [Options], so the clocks of several
// instances should agree. An instance whose clock is ahead may give the lease to a second
// holder too early. Abandoned is set if another holder's lease expired less than a day ago.
func (s *Store) Lease(ctx context.Context, key, holder string, life time.Duration) (storage.Lease, error) {
	if holder == "" || !isText(holder) {
		return storage.Lease{}, errText
	}
	if s.leases != nil {
		return s.leases.TakeLease(ctx, keyOfLease(key), holder, life)
	}
	for try := 0; ; try++ {
		seen, err := s.records.look(ctx, keyOfLease(key))
		if err != nil {
			return storage.Lease{}, err
		}
		given, now := storage.Lease{Held: true}, s.records.now()
		if seen.isAlive() {
			last, err := decode[leaseValue](&seen)
			if err != nil {
				return storage.Lease{}, err
			}
			other := last.Holder != holder
			if other && now.Before(last.Until.Time) {
				return storage.Lease{Wait: last.Until.Time.Sub(now)}, nil
			}
			given.Abandoned = other && now.Before(last.Until.Time.Add(grace))
		}
		until := now.Add(life)
		_, err = s.records.write(ctx, seen, leaseValue{holder, stampOf(until)}, s.records.until(until))
		if !errors.Is(err, storage.ErrConflict) {
			return given, err
		}
		if err := pause(ctx, try); err != nil {
			return storage.Lease{}, err
		}
	}
}

// Release implements [storage.LeaseStore]. It returns nil if the lease is another
// holder's, or if there is none.
func (s *Store) Release(ctx context.Context, key, holder string) error {
	if s.leases != nil {
		return s.leases.EndLease(ctx, keyOfLease(key), holder)
	}
	seen, err := s.records.look(ctx, keyOfLease(key))
	if err != nil || !seen.isAlive() {
		return err
	}
	last, err := decode[leaseValue](&seen)
	if err != nil || last.Holder != holder {
		return err
	}
	return s.records.remove(ctx, seen)
}
