package latchkey

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// Everything that Config.Hardened changes, in one place. What the caller has set
// stays.

const (
	hardenedLinkMaxAge  = 10 * time.Minute
	hardenedAbsoluteAge = 30 * 24 * time.Hour
	shortestSecret      = 32 // characters; fewer log a warning otherwise
)

// harden sets the defaults of fields that Hardened changes. On a hardened site sessions
// end 30 days after their sign-in, cookies get the __Host- prefix, posts of sibling hosts
// are refused, and a sign-out that the store refuses is an error. On any site it replaces
// the nil rules among those fields, so that none of them is nil afterwards.
func (c *Config) harden() {
	c.decide(&c.Cookies.HostPrefix)
	c.decide(&c.Security.RefuseSameSite)
	c.decide(&c.Security.StrictSignOut)
	if c.Hardened {
		fill.Default(&c.Session.AbsoluteMaxAge, hardenedAbsoluteAge)
	}
}

// hardenEmail sets the defaults of e that Hardened changes. On a hardened site links are
// used up by a button, which scanners do not press, and live for ten minutes. On any site
// e.ConfirmLink is not nil afterwards.
func (c *Config) hardenEmail(e *Email) {
	c.decide(&e.ConfirmLink)
	if c.Hardened {
		fill.Default(&e.MaxAge, hardenedLinkMaxAge)
	}
}

// decide replaces a rule that is nil by the value of Hardened, and any other rule by a
// copy, which the caller of New cannot change.
func (c *Config) decide(rule **bool) {
	on := c.Hardened
	if *rule != nil {
		on = **rule
	}
	*rule = &on
}

// audiences returns the audiences that an ID token may name beside the client: those
// chosen by the provider's configuration. If chosen is nil, any audience is allowed, and
// the result is nil; on a hardened site none is, and the result is empty.
func (c *Config) audiences(chosen []string) []string {
	if c.Hardened && chosen == nil {
		return []string{}
	}
	return chosen
}

// credentialList returns the default of what unauthenticated clients learn of passkeys:
// nothing when Hardened, else the passkeys of a known user.
func (c *Config) credentialList() passkey.CredentialList {
	if c.Hardened {
		return passkey.ListNone
	}
	return passkey.ListKnown
}

// wantsTypedLogouts reports whether a logout token must have the typ of logout tokens.
func (c *Config) wantsTypedLogouts() bool { return c.Hardened }

// refusesWeakSecrets reports whether a secret that may be guessed is a fault
// and not a warning.
func (c *Config) refusesWeakSecrets() bool { return c.Hardened }

// weaknessOf returns why a secret may be guessed: it has under 32 bytes, or is made of words.
// Words count only if site is known and its host may be on the internet. Else it returns "".
func weaknessOf(text string, site weburl.Origin) string {
	switch {
	case len(text) < shortestSecret:
		return "has fewer than 32 characters"
	case secret.IsWorded(text) && weburl.IsPublic(site.HostName()):
		return "is made of words, as those of guides are"
	}
	return ""
}

// sharedLimiter returns the limiter that all instances share, or nil if there is none:
// Limits.Limiter, or else, on a hardened site, the Adapter if it can be one. It asks the
// Adapter whether its tables have room for that. With an Adapter each attempt is a write,
// so only a hardened site uses it unasked.
func (c *Config) sharedLimiter() storage.Limiter {
	if own, is := c.Adapter.(storage.Limiter); c.Limits.Limiter == nil && c.Hardened && is && hasPlace(func(ctx context.Context) error {
		_, err := own.Take(ctx, "", Rate{})
		return err
	}) {
		return own
	}
	return c.Limits.Limiter
}

// sharedReplay returns the store of used values that all instances share, or nil if there
// is none: Limits.Replay, or else, on a hardened site, the Adapter if it can be one. It
// asks the Adapter whether its tables have room for that.
func (c *Config) sharedReplay() storage.ReplayStore {
	if own, is := c.Adapter.(storage.ReplayStore); c.Limits.Replay == nil && c.Hardened && is && hasPlace(func(ctx context.Context) error {
		_, err := own.Use(ctx, "", time.Time{})
		return err
	}) {
		return own
	}
	return c.Limits.Replay
}

// hasPlace calls f, which asks a store for something. It returns false if f returns
// ErrUnsupported: then the tables of the store lack what f asks for. It returns true for
// any other error.
func hasPlace(f func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(context.Background(), defaultStoreTime)
	defer cancel()
	return !errors.Is(guarded.Contain(func() error { return f(ctx) }), errors.ErrUnsupported)
}
