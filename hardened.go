package latchkey

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
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

// harden sets the defaults of fields that Hardened changes. On a hardened site
// sessions end 30 days after their sign-in, cookies get the __Host- prefix, posts
// of sibling hosts are refused, and a sign-out that the store refuses is an error.
func (c *Config) harden() {
	c.decide(&c.Cookies.HostPrefix)
	c.decide(&c.Security.RefuseSameSite)
	c.decide(&c.Security.StrictSignOut)
	if c.Hardened {
		fill.Default(&c.Session.AbsoluteMaxAge, hardenedAbsoluteAge)
	}
}

// hardenEmail sets the defaults of e that Hardened changes. On a hardened site
// links are used up by a button, which scanners do not press, and live for ten
// minutes.
func (c *Config) hardenEmail(e *Email) {
	c.decide(&e.ConfirmLink)
	if c.Hardened {
		fill.Default(&e.MaxAge, hardenedLinkMaxAge)
	}
}

// decide sets a rule that is nil to Hardened, and copies any other, so that the caller of
// New cannot change it any more.
func (c *Config) decide(rule **bool) {
	on := c.Hardened
	if *rule != nil {
		on = **rule
	}
	*rule = &on
}

// audiences returns the other audiences that an ID token may have. nil means
// any; when Hardened there are none.
func (c *Config) audiences(chosen []string) []string {
	if c.Hardened && chosen == nil {
		return []string{}
	}
	return chosen
}

// credentialList returns what unauthenticated clients learn of passkeys:
// nothing when Hardened.
func (c *Config) credentialList() passkey.CredentialList {
	if c.Hardened {
		return passkey.ListNone
	}
	return passkey.ListKnown
}

// wantsTypedLogouts reports whether a logout token has to say that it is one by its typ.
func (c *Config) wantsTypedLogouts() bool { return c.Hardened }

// refusesWeakSecrets reports whether a secret that may be guessed is a fault
// and not a warning.
func (c *Config) refusesWeakSecrets() bool { return c.Hardened }

// sharedLimiter returns the limiter for all instances, or nil. With an adapter
// each attempt is a write, so only a hardened site uses it unasked.
func (c *Config) sharedLimiter() storage.Limiter {
	if own, is := c.Adapter.(storage.Limiter); c.Limits.Limiter == nil && c.Hardened && is && hasPlace(func(ctx context.Context) error {
		_, err := own.Take(ctx, "", Rate{})
		return err
	}) {
		return own
	}
	return c.Limits.Limiter
}

// sharedReplay returns the store of used values for all instances, or nil.
func (c *Config) sharedReplay() storage.ReplayStore {
	if own, is := c.Adapter.(storage.ReplayStore); c.Limits.Replay == nil && c.Hardened && is && hasPlace(func(ctx context.Context) error {
		_, err := own.Use(ctx, "", time.Time{})
		return err
	}) {
		return own
	}
	return c.Limits.Replay
}

// hasPlace returns false if the adapter's tables lack what f asks for.
func hasPlace(f func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(context.Background(), defaultStoreTime)
	defer cancel()
	return !errors.Is(guarded.Contain(func() error { return f(ctx) }), errors.ErrUnsupported)
}
