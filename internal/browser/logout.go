package browser

import (
	"crypto/subtle"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

const (
	logoutMaxAge  = 15 * time.Minute
	purposeLogout = "logout"
)

// Logout is a logout at a provider that is under way in a browser.
type Logout struct {
	Tenant      string
	Provider    string
	State       string // as it was sent
	CallbackURL string // where the browser goes in the end
}

// PutLogout has the browser keep a logout until the browser comes back from the provider,
// for 15 minutes at most. It returns an error if the cookie cannot be sealed.
func (c *Cookies) PutLogout(l Logout, now time.Time) error {
	claims := jwt.Claims{"purpose": purposeLogout, "tenant": l.Tenant, "provider": l.Provider, "state": l.State, "callbackUrl": l.CallbackURL}
	sealed, err := c.Specs.Logout.Codec.SealClaims(claims, now, logoutMaxAge)
	if err == nil {
		c.Set(c.Specs.Logout.New(sealed, now.Add(logoutMaxAge)))
	}
	return err
}

// EndLogout returns where the browser goes after a logout, and makes the browser forget
// the logout. It returns false, and changes nothing, unless the browser keeps a logout of
// this tenant and provider with this state that has not expired. An empty state never
// fits.
func (c *Cookies) EndLogout(tenant, provider, state string, now time.Time) (callbackURL string, ok bool) {
	value, ok := c.Value(&c.Specs.Logout)
	if !ok || state == "" {
		return "", false
	}
	claims, err := c.Specs.Logout.Codec.OpenClaims(value, now, logoutMaxAge)
	if err != nil || claims.String("purpose") != purposeLogout || claims.String("tenant") != tenant || claims.String("provider") != provider ||
		subtle.ConstantTimeCompare([]byte(claims.String("state")), []byte(state)) != 1 {
		return "", false
	}
	c.Forget(&c.Specs.Logout)
	return claims.String("callbackUrl"), true
}

// mostHint is how long a sealed hint may be, so that browsers keep its cookie.
const mostHint = 3800

// PutHint has the browser keep a hint for a logout at a provider, until the instant
// until. The caller has sealed the hint. If sealed is empty or too long for a cookie,
// PutHint makes the browser forget the hint that it has.
func (c *Cookies) PutHint(sealed string, until time.Time) {
	if sealed != "" && len(sealed) <= mostHint {
		c.Set(c.Specs.Hint.New(sealed, until))
		return
	}
	c.EndHint()
}

// Hint returns the hint that the browser sent, still sealed, or "".
func (c *Cookies) Hint() string {
	value, _ := c.Value(&c.Specs.Hint)
	return value
}

// EndHint makes the browser forget the hint, if the browser has sent it.
func (c *Cookies) EndHint() {
	if _, ok := c.Value(&c.Specs.Hint); ok {
		c.Forget(&c.Specs.Hint)
	}
}
