package latchkey

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

// Checks tie a callback to the sign-in that began it. Each value is sealed into
// a cookie of its own, as Auth.js does it: {"value", "provider"}. Beside the
// newest sign-in a cookie carries those begun shortly before, so that two tabs
// do not destroy each other; readers that know nothing of that see the newest.
// The cookie of the state holds the newest alone, as in Auth.js.

const (
	mostFlows   = 4                // sign-ins under way in one browser
	checkMaxAge = 15 * time.Minute // of state, PKCE and nonce cookies
)

// pendingCheck is what one cookie holds of one sign-in under way.
type pendingCheck struct {
	ID          string `json:"id,omitempty"`
	Value       string `json:"value"`
	Provider    string `json:"provider"`
	Expires     int64  `json:"until,omitempty"`
	CallbackURL string `json:"callbackUrl,omitempty"`
	UserID      string `json:"user,omitempty"` // who was signed in; only where the callback cannot tell
}

// pending are the values in the cookie of a check, newest first.
func (c *browserCookies) pending(check Check, now time.Time) []pendingCheck {
	spec := c.specs.ofCheck(check)
	value, ok := c.value(spec)
	if !ok {
		return nil
	}
	claims, err := spec.codec.OpenClaims(value, now, checkMaxAge)
	if err != nil {
		return nil
	}
	if purpose, tagged := claims["purpose"]; tagged && purpose != string(check) {
		return nil
	}
	newest := pendingCheck{
		ID: claims.String("id"), Value: claims.String("value"), Provider: claims.String("provider"),
		CallbackURL: claims.String("callbackUrl"), UserID: claims.String("user"),
	}
	if until, ok := claims.Time("exp"); ok {
		newest.Expires = until.Unix() // it may be an earlier one by the time it is written again
	}
	return append([]pendingCheck{newest}, earlierChecks(claims["earlier"], now.Unix())...)
}

func earlierChecks(list any, now int64) []pendingCheck {
	if list == nil {
		return nil
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return nil
	}
	var checks []pendingCheck
	if json.Unmarshal(raw, &checks) != nil || len(checks) > mostFlows {
		return nil
	}
	return slices.DeleteFunc(checks, func(p pendingCheck) bool { return p.Expires <= now })
}

// writeChecks seals values, newest first, into the cookie of a check.
// crossSite: the provider posts from its own site, and the cookie has to come
// along.
func (c *browserCookies) writeChecks(check Check, values []pendingCheck, crossSite bool, now time.Time) error {
	spec, newest := c.specs.ofCheck(check), values[0]
	claims := jwt.Claims{"value": newest.Value, "provider": newest.Provider, "purpose": string(check), "id": newest.ID}
	if newest.CallbackURL != "" {
		claims["callbackUrl"] = newest.CallbackURL
	}
	if newest.UserID != "" {
		claims["user"] = newest.UserID
	}
	if len(values) > 1 {
		claims["earlier"] = values[1:]
	}
	sealed, err := spec.codec.SealClaims(claims, now, checkMaxAge)
	if err != nil {
		return err
	}
	cookie := spec.make(sealed, now.Add(checkMaxAge))
	cookie.MaxAge = int(checkMaxAge / time.Second)
	if crossSite {
		cookie.SameSite, cookie.Secure = http.SameSiteNoneMode, true
	}
	c.set(cookie)
	return nil
}

// removeFlow forgets one sign-in; the others stay.
func (c *browserCookies) removeFlow(check Check, id string, crossSite bool, now time.Time) error {
	rest := slices.DeleteFunc(c.pending(check, now), func(p pendingCheck) bool { return p.ID == id })
	if len(rest) == 0 {
		spec := c.specs.ofCheck(check)
		c.set(spec.clear(spec.name()))
		return nil
	}
	return c.writeChecks(check, rest, crossSite, now)
}

// clearChecks forgets every sign-in under way: somebody has signed out, and
// what they began must not be finished in their name.
func (c *browserCookies) clearChecks() {
	for _, check := range []Check{CheckPKCE, CheckState, CheckNonce} {
		spec := c.specs.ofCheck(check)
		if _, there := c.jar.Get(spec.name()); there {
			c.set(spec.clear(spec.name()))
		}
	}
}
