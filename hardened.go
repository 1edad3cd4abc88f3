package latchkey

import "time"

// Everything that Config.Hardened changes, in one place. Lives that the caller
// has set stay; switches are turned on.

const (
	hardenedLinkMaxAge  = 10 * time.Minute
	hardenedAbsoluteAge = 30 * 24 * time.Hour
	shortestSecret      = 32 // characters; fewer log a warning otherwise
)

// harden sets the stricter defaults of fields: sessions end 30 days after their
// sign-in, cookies get the __Host- prefix, posts of sibling hosts are refused,
// and a sign-out that the store refuses is an error.
func (c *Config) harden() {
	if !c.Hardened {
		return
	}
	setDefault(&c.Session.AbsoluteMaxAge, hardenedAbsoluteAge)
	c.Cookies.HostPrefix, c.Strict.RefuseSameSite, c.Strict.StrictSignOut = true, true, true
}

// hardenEmail: links are used up by a button that scanners do not press, and
// live for ten minutes.
func (c *Config) hardenEmail(e *Email) {
	if !c.Hardened {
		return
	}
	e.ConfirmLink = true
	setDefault(&e.MaxAge, hardenedLinkMaxAge)
}

// audiences are the other audiences an ID token may have; nil is any, and none
// when Hardened.
func (c *Config) audiences(chosen []string) []string {
	if c.Hardened && chosen == nil {
		return []string{}
	}
	return chosen
}

// credentialList is what strangers learn of passkeys: nothing when Hardened.
func (c *Config) credentialList() CredentialList {
	if c.Hardened {
		return ListNone
	}
	return ListKnown
}

// refusesShortSecrets: a secret that may be guessed is a fault, not a warning.
func (c *Config) refusesShortSecrets() bool { return c.Hardened }
