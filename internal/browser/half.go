package browser

import (
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

// purposeHalf marks the cookie of a sign-in that waits for its second factor.
const purposeHalf = "pending"

// PutHalf has the browser keep the handle of a sign-in that waits for its second
// factor. The cookie opens no session.
func (c *Cookies) PutHalf(handle, tenant string, now time.Time, life time.Duration) error {
	claims := jwt.Claims{"value": handle, "purpose": purposeHalf}
	if tenant != "" {
		claims["tenant"] = tenant
	}
	sealed, err := c.Specs.Half.Codec.SealClaims(claims, now, life)
	if err == nil {
		c.Set(c.Specs.Half.New(sealed, now.Add(life)))
	}
	return err
}

// Half returns the handle of a sign-in that waits for its second factor. It is empty
// if the browser has none of this site and tenant.
func (c *Cookies) Half(tenant string, now time.Time) string {
	value, ok := c.Value(&c.Specs.Half)
	if !ok {
		return ""
	}
	claims, err := c.Specs.Half.Codec.OpenClaims(value, now, time.Hour)
	if err != nil || claims.String("purpose") != purposeHalf || claims.String("tenant") != tenant {
		return ""
	}
	return claims.String("value")
}

// EndHalf makes the browser forget the sign-in that waits, if it has one.
func (c *Cookies) EndHalf() {
	if _, ok := c.Value(&c.Specs.Half); ok {
		c.Forget(&c.Specs.Half)
	}
}
