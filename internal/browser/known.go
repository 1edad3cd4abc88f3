package browser

import (
	"cmp"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/jwt"
)

// A browser that has signed in before is known by a cookie, so that its attempts
// are counted apart from those of others: an attacker who guesses at an account
// locks out other attackers, and not the owner. The cookie opens nothing, and
// counts only for the users that have signed in in this browser. OWASP calls it a
// device cookie.

const (
	// KnownMaxAge is how long a browser stays known after its last sign-in.
	KnownMaxAge = 90 * 24 * time.Hour

	purposeKnown = "browser"
	mostUsers    = 4 // sign-ins that one browser is known for
)

// Known is what a browser is known for. The zero Known is a browser that is not.
type Known struct {
	ID      string // random; empty: the browser is not known
	signIns []knownSignIn
	since   time.Time
}

// openedKnown is the Known that a cookie says to a tenant.
type openedKnown struct {
	tenant string
	known  Known
}

// knownSignIn is a user that has signed in in a browser.
type knownSignIn struct {
	User string `json:"user"`           // key of the user's id
	Form string `json:"form,omitempty"` // key of what was typed; empty: nothing was
	At   int64  `json:"at"`             // of the sign-in, in Unix seconds
}

// Known returns what the browser was known for at a tenant when it sent the request. It
// returns the zero Known if the cookie is missing, has expired, or is of another site or
// tenant. It opens the cookie once in a request for each tenant that is asked for in turn.
func (c *Cookies) Known(tenant string, now time.Time) Known {
	if c.known == nil || c.known.tenant != tenant {
		value, _ := c.Value(&c.Specs.Known)
		c.known = &openedKnown{tenant, openKnown(&c.Specs.Known, value, tenant, now)}
	}
	return c.known.known
}

// openKnown returns what the value of a cookie says to a tenant, or the zero Known. An
// empty value says nothing.
func openKnown(spec *Spec, value, tenant string, now time.Time) (k Known) {
	if value == "" {
		return k
	}
	claims, err := spec.Codec.OpenClaims(value, now, KnownMaxAge)
	if err != nil || claims.String("purpose") != purposeKnown || claims.String("tenant") != tenant {
		return k
	}
	list, _ := claims["known"].([]any)
	for _, member := range list {
		s, _ := member.(map[string]any)
		at, _ := jwt.Claims(s).Time("at")
		k.signIns = append(k.signIns, knownSignIn{jwt.Claims(s).String("user"), jwt.Claims(s).String("form"), at.Unix()})
	}
	k.ID = claims.String("value")
	k.since, _ = claims.Time("iat")
	return k
}

// HasForm reports whether a user has signed in in this browser by typing a certain name.
// forms are the keys of that name, one for each secret.
func (k Known) HasForm(forms []string) bool {
	return slices.ContainsFunc(k.signIns, func(s knownSignIn) bool { return s.Form != "" && slices.Contains(forms, s.Form) })
}

// Since returns when a user has last signed in in this browser, and false if the browser
// is not known for the user. users are the keys of the user's id, one for each secret.
func (k Known) Since(users []string) (at time.Time, ok bool) {
	for _, s := range k.signIns {
		if slices.Contains(users, s.User) {
			return time.Unix(s.At, 0), true
		}
	}
	return at, false
}

// Remember makes the browser known for a user who has signed in. user is the key of the
// user's id, and form the key of the name that was typed, or empty. tenant is empty if
// the site has none. Beside this sign-in the cookie keeps the latest three others. A
// handle that is not empty becomes the browser's ID. Without one the ID stays, or is
// random in a new cookie. Remember writes no cookie if handle is empty and the cookie
// names the same sign-in as its latest and has half its life left. It returns an error if
// the cookie cannot be sealed.
func (c *Cookies) Remember(user, form, tenant, handle string, now time.Time) error {
	k := c.Known(tenant, now)
	isSame := func(s knownSignIn) bool { return s.User == user && s.Form == form }
	if handle == "" && len(k.signIns) > 0 && isSame(k.signIns[0]) && now.Before(k.since.Add(KnownMaxAge/2)) {
		return nil
	}
	if k.ID = cmp.Or(handle, k.ID); k.ID == "" {
		k.ID = secret.RandomHex(16)
	}
	signIns := append([]knownSignIn{{user, form, now.Unix()}}, slices.DeleteFunc(slices.Clone(k.signIns), isSame)...)
	claims := jwt.Claims{"value": k.ID, "purpose": purposeKnown, "known": signIns[:min(len(signIns), mostUsers)]}
	if tenant != "" {
		claims["tenant"] = tenant
	}
	spec := &c.Specs.Known
	sealed, err := spec.Codec.SealClaims(claims, now, KnownMaxAge)
	if err != nil {
		return err
	}
	c.Set(spec.New(sealed, now.Add(KnownMaxAge)))
	return nil
}
