package latchkey

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Revocation makes the end of a JWT session final. Two things can be void: one
// sign-in ("sid:…"), and everything of a user that began before an instant
// ("user:…").

// checkRevoked is errNoToken for a token that was signed out. A store that
// does not answer is a fault, and a fault signs nobody out.
func (v *visit) checkRevoked(ctx context.Context, c Claims) error {
	if v.revocations == nil {
		return nil
	}
	keys := revocationKeys(c)
	if len(keys) == 0 {
		return nil
	}
	voidAt, err := ask(ctx, v.revocationStore(), "RevokedAt", func(ctx context.Context) (map[string]time.Time, error) {
		return v.revocations.RevokedAt(ctx, keys...)
	})
	if errors.Is(err, errors.ErrUnsupported) { // an adapter on tables that were made for less
		return nil
	}
	if err != nil {
		return err
	}
	began, known := authTime(c)
	for key, at := range voidAt {
		// One sign-in is void as a whole; of a user, what began before.
		if !strings.HasPrefix(key, userPrefix) || !known || !began.After(at) {
			return errNoToken
		}
	}
	return nil
}

// revocationKeys are the names under which a token can be void.
func revocationKeys(c Claims) []string {
	var keys []string
	if sid := c.String(claimSessionID); sid != "" {
		keys = append(keys, "sid:"+sid)
	} else if id := c.String("jti"); id != "" {
		keys = append(keys, "jti:"+id)
	}
	if sub := c.String("sub"); sub != "" {
		keys = append(keys, userKey(sub))
	}
	return keys
}

const userPrefix = "user:"

func userKey(id string) string { return userPrefix + cut(id, 190) }

// revoke voids the sign-in that the claims come from.
func (v *visit) revoke(ctx context.Context, c Claims) error {
	if v.revocations == nil {
		return nil
	}
	keys := revocationKeys(c)
	if len(keys) == 0 {
		return nil
	}
	return v.voidKey(ctx, v.store, keys[0])
}

// revokeUser voids every JWT session that the user has now. s is the store of
// the transaction, if this is part of one.
func (v *visit) revokeUser(ctx context.Context, s *store, id string) error {
	if v.revocations == nil {
		return nil
	}
	v.voidedAt = v.now().Truncate(time.Millisecond)
	return v.voidKey(ctx, s, userKey(id))
}

// voidKey writes through the transaction where adapter and revocation store are one.
func (v *visit) voidKey(ctx context.Context, s *store, key string) error {
	revocations := v.revocations
	if own, ok := revocationsOf(s); ok && v.revocationsInAdapter {
		revocations = own
	}
	now := v.now().Truncate(time.Millisecond)
	err := do(ctx, v.revocationStore(), "Revoke", func(ctx context.Context) error {
		return revocations.Revoke(ctx, key, now, now.Add(v.JWT.MaxAge+time.Minute))
	})
	return ignoring(err, errors.ErrUnsupported)
}

func revocationsOf(s *store) (RevocationStore, bool) {
	if s == nil {
		return nil, false
	}
	own, ok := s.a.(RevocationStore)
	return own, ok
}

// revocationStore gives calls of the revocation store the limits of the adapter's.
func (v *visit) revocationStore() *store { return &store{limit: v.Limits.Store} }

// signInTime is auth_time for a sign-in now: in seconds, to the millisecond and
// rounded up, so that it is later than any revocation that came before it, in
// this visit too.
func (v *visit) signInTime() json.Number {
	now := v.now()
	if !now.Truncate(time.Millisecond).Equal(now) {
		now = now.Truncate(time.Millisecond).Add(time.Millisecond)
	}
	if !now.After(v.voidedAt) {
		now = v.voidedAt.Add(time.Millisecond)
	}
	return unixSeconds(now)
}

// unixSeconds is a NumericDate with milliseconds (RFC 7519, section 2).
func unixSeconds(t time.Time) json.Number {
	return json.Number(strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', -1, 64))
}
