package browser

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/jwt"
)

// A browser that has signed in before is known by a cookie, so that its attempts
// are counted apart from those of others: an attacker who guesses at an account
// locks out other attackers, and not the owner. The cookie opens nothing. OWASP
// calls it a device cookie.

const (
	purposeKnown = "browser"
	knownMaxAge  = 90 * 24 * time.Hour // after the last sign-in
	mostTargets  = 4                   // targets that one browser is known for
)

// known is the content of the cookie.
type known struct {
	id      string
	targets []string // hashes, newest first
	since   time.Time
}

// readKnown returns the zero known for a cookie that is missing or of another
// site.
func (c *Cookies) readKnown(tenant string, now time.Time) (k known) {
	spec := &c.Specs.Known
	value, there := c.Value(spec)
	if !there {
		return k
	}
	claims, err := spec.Codec.OpenClaims(value, now, knownMaxAge)
	if err != nil || claims.String("purpose") != purposeKnown || claims.String("tenant") != tenant {
		return k
	}
	raw, _ := json.Marshal(claims["known"]) // what came from JSON can be written as JSON
	if json.Unmarshal(raw, &k.targets) != nil {
		return known{}
	}
	k.id = claims.String("value")
	k.since, _ = claims.Time("iat")
	return k
}

// KnownFor returns the id of a browser that has signed in to target before, and ""
// for any other. target is a hash.
func (c *Cookies) KnownFor(target, tenant string, now time.Time) string {
	if k := c.readKnown(tenant, now); slices.Contains(k.targets, target) {
		return k.id
	}
	return ""
}

// RememberFor makes the browser known for target, a hash. A cookie that says so
// already is left alone for half its life.
func (c *Cookies) RememberFor(target, tenant string, now time.Time) error {
	k := c.readKnown(tenant, now)
	if len(k.targets) > 0 && k.targets[0] == target && now.Before(k.since.Add(knownMaxAge/2)) {
		return nil
	}
	if k.id == "" {
		k.id = secret.RandomHex(16)
	}
	targets := append([]string{target}, slices.DeleteFunc(k.targets, func(t string) bool { return t == target })...)
	claims := jwt.Claims{"value": k.id, "purpose": purposeKnown, "known": targets[:min(len(targets), mostTargets)]}
	if tenant != "" {
		claims["tenant"] = tenant
	}
	spec := &c.Specs.Known
	sealed, err := spec.Codec.SealClaims(claims, now, knownMaxAge)
	if err != nil {
		return err
	}
	c.Set(spec.New(sealed, now.Add(knownMaxAge)))
	return nil
}
