package latchkey

import (
	"context"
	"errors"
	"strconv"
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
	for _, at := range voidAt {
		if !known || !began.After(at) {
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

func userKey(id string) string { return "user:" + cut(id, 190) }

// revoke voids the sign-in that the claims come from.
func (v *visit) revoke(ctx context.Context, c Claims) error {
	if v.revocations == nil {
		return nil
	}
	keys := revocationKeys(c)
	if len(keys) == 0 {
		return nil
	}
	return v.voidKey(ctx, keys[0])
}

// revokeUser voids every JWT session that the user has now.
func (v *visit) revokeUser(ctx context.Context, id string) error {
	if v.revocations == nil {
		return nil
	}
	return v.voidKey(ctx, userKey(id))
}

func (v *visit) voidKey(ctx context.Context, key string) error {
	now := v.now()
	err := do(ctx, v.revocationStore(), "Revoke", func(ctx context.Context) error {
		return v.revocations.Revoke(ctx, key, now, now.Add(v.JWT.MaxAge+time.Minute))
	})
	return ignoring(err, errors.ErrUnsupported)
}

// revocationStore gives calls of the revocation store the limits of the adapter's.
func (v *visit) revocationStore() *store { return &store{limit: v.Limits.Store} }

func formatUnix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }
