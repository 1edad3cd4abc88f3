package browser

import (
	"net/http"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

const (
	flashMaxAge  = 10 * time.Minute
	purposeFlash = "notice"
)

// Flash is a message of one request for the page that follows it. It travels in a
// sealed cookie, so that no link can make a page show it.
type Flash struct {
	About    string
	Provider string            // id of the provider whose form it was
	User     string            // id of the user it is about
	Session  string            // the session it is about, as sessionref.Ref names it; empty: a session without a name
	Typed    map[string]string // by field
	Until    time.Time         // when the user may try again
	Proved   time.Time         // when the session was opened, if nothing else records it
}

// Cookie returns the cookie with f sealed, for ten minutes. It returns nil if f cannot be
// sealed: the page then says less.
func (f *Flash) Cookie(specs *Specs, now time.Time) *http.Cookie {
	claims := jwt.Claims{"purpose": purposeFlash, "about": f.About, "provider": f.Provider, "user": f.User, "session": f.Session, "typed": f.Typed}
	for name, at := range map[string]time.Time{"until": f.Until, "proved": f.Proved} {
		if !at.IsZero() {
			claims[name] = at.Unix()
		}
	}
	sealed, err := specs.Flash.Codec.SealClaims(claims, now, flashMaxAge)
	if err != nil {
		return nil
	}
	return specs.Flash.New(sealed, now.Add(flashMaxAge))
}

// SetFlash leaves a message for the next page. If f cannot be sealed, it leaves none.
func (c *Cookies) SetFlash(f Flash, now time.Time) {
	if k := f.Cookie(c.Specs, now); k != nil {
		c.Set(k)
	}
}

// Flash returns the message that an earlier request has left. It returns the zero Flash
// if there is none, it does not open, or it is older than ten minutes. The message stays
// in the browser: a page that has shown it calls Forget.
func (c *Cookies) Flash(now time.Time) (f Flash) {
	value, ok := c.Value(&c.Specs.Flash)
	if !ok {
		return f
	}
	claims, err := c.Specs.Flash.Codec.OpenClaims(value, now, flashMaxAge)
	if err != nil || claims.String("purpose") != purposeFlash {
		return f
	}
	f = Flash{About: claims.String("about"), Provider: claims.String("provider"), User: claims.String("user"), Session: claims.String("session"), Typed: map[string]string{}}
	typed, _ := claims["typed"].(map[string]any)
	for name, value := range typed {
		f.Typed[name], _ = value.(string)
	}
	f.Until, _ = claims.Time("until")
	f.Proved, _ = claims.Time("proved")
	return f
}
