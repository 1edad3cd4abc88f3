package browser

import (
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

// purposeHalf marks the cookie of a sign-in that waits for its second factor.
const purposeHalf = "pending"

// purposeLost marks the cookie of a request to remove lost second factors.
const purposeLost = "recovery"

// PutHalf has the browser keep the handle of a sign-in that waits for its second factor,
// for the time life. The cookie opens no session. PutHalf returns an error if the cookie
// cannot be sealed.
func (c *Cookies) PutHalf(handle, tenant string, now time.Time, life time.Duration) error {
	return putHandle(c, &c.Specs.Half, purposeHalf, handle, tenant, now, life)
}

// PutLost has the browser keep the handle of a request to remove lost second factors, for
// the time life. It returns an error if the cookie cannot be sealed.
func PutLost(c *Cookies, handle, tenant string, now time.Time, life time.Duration) error {
	return putHandle(c, &c.Specs.Lost, purposeLost, handle, tenant, now, life)
}

// putHandle has the browser keep a handle for the time life, sealed for its purpose and
// tenant. It returns an error if the cookie cannot be sealed.
func putHandle(c *Cookies, spec *Spec, purpose, handle, tenant string, now time.Time, life time.Duration) error {
	claims := jwt.Claims{"value": handle, "purpose": purpose}
	if tenant != "" {
		claims["tenant"] = tenant
	}
	sealed, err := spec.Codec.SealClaims(claims, now, life)
	if err == nil {
		c.Set(spec.New(sealed, now.Add(life)))
	}
	return err
}

// Half returns the handle of the sign-in that waits for its second factor. It returns ""
// if the browser keeps none of this site and tenant, or if the time that PutHalf was
// given is over. The hour is for a cookie that has no expiry in it.
func (c *Cookies) Half(tenant string, now time.Time) string {
	return handleIn(c, &c.Specs.Half, purposeHalf, tenant, now, time.Hour)
}

// Lost returns the handle of a request to remove lost second factors. It returns "" if
// the browser keeps none of this site and tenant, or if the time that PutLost was given
// is over. life is of use only for a cookie that has no expiry in it.
func Lost(c *Cookies, tenant string, now time.Time, life time.Duration) string {
	return handleIn(c, &c.Specs.Lost, purposeLost, tenant, now, life)
}

// handleIn returns the handle in the cookie. It returns "" if the cookie is missing, does
// not open, has expired, or is of another purpose or tenant. life bounds only a cookie
// that has no expiry in it.
func handleIn(c *Cookies, spec *Spec, purpose, tenant string, now time.Time, life time.Duration) string {
	value, ok := c.Value(spec)
	if !ok {
		return ""
	}
	claims, err := spec.Codec.OpenClaims(value, now, life)
	if err != nil || claims.String("purpose") != purpose || claims.String("tenant") != tenant {
		return ""
	}
	return claims.String("value")
}

// EndHalf makes the browser forget the handle of PutHalf, if the browser has sent it.
func (c *Cookies) EndHalf() { end(c, &c.Specs.Half) }

// EndLost makes the browser forget the handle of PutLost, if the browser has sent it.
func EndLost(c *Cookies) { end(c, &c.Specs.Lost) }

// end makes the browser forget a cookie, if the browser has sent it.
func end(c *Cookies, spec *Spec) {
	if _, ok := c.Value(spec); ok {
		c.Forget(spec)
	}
}
