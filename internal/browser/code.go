package browser

import (
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

const purposeCode = "email-code"

// MailCode is what a browser keeps after it has asked for a mail with a code. It travels
// in the cookie of a link that one browser alone may use. The zero MailCode is none.
type MailCode struct {
	Handle string // of the code's challenge
	For    string // what takes the code, such as the id of an Email provider
	Link   string // the hash of the link that this browser alone may use; empty: every browser may
}

// SetMailCode has the browser keep m for the time life, in place of an earlier MailCode.
// It returns an error if the cookie cannot be sealed.
func (c *Cookies) SetMailCode(m MailCode, now time.Time, life time.Duration) error {
	k := &c.Specs.Link
	sealed, err := k.Codec.SealClaims(jwt.Claims{"value": m.Handle, "for": m.For, "link": m.Link, "purpose": purposeCode}, now, life)
	if err != nil {
		return err
	}
	c.Set(k.New(sealed, now.Add(life)))
	return nil
}

// MailCode returns the MailCode that the browser keeps. It returns the zero MailCode if
// the browser keeps none, or if SetMailCode was called longer ago than the life that it
// was given. Here life counts only for a cookie that has no expiry in it, from when the
// cookie was made. SetMailCode makes no such cookie.
func (c *Cookies) MailCode(now time.Time, life time.Duration) MailCode {
	value, there := c.Value(&c.Specs.Link)
	if !there {
		return MailCode{}
	}
	claims, err := c.Specs.Link.Codec.OpenClaims(value, now, life)
	if err != nil || claims.String("purpose") != purposeCode {
		return MailCode{}
	}
	return MailCode{Handle: claims.String("value"), For: claims.String("for"), Link: claims.String("link")}
}
