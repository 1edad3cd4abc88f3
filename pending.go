package latchkey

import (
	"net/http"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cookie"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
)

// Checks tie a callback to the sign-in that began it. Each value is sealed into
// a cookie of its own, as Auth.js does it: {"value", "provider"}. Beside the
// newest sign-in a cookie carries those begun shortly before, so that two tabs
// do not destroy each other; readers that know nothing of that see the newest.

const (
	mostFlows   = 4                // sign-ins under way in one browser
	checkMaxAge = 15 * time.Minute // of state, PKCE, nonce and challenge cookies

	// checkChallenge is for what a passkey has to answer. It is no part of a flow.
	checkChallenge Check = "challenge"
)

// flowChecks are the checks, in the order in which a flow is written: the first
// that it has also keeps how it was begun.
var flowChecks = [...]Check{CheckPKCE, CheckState, CheckNonce}

// pendingChecks are all that a browser keeps.
var pendingChecks = [...]Check{CheckPKCE, CheckState, CheckNonce, checkChallenge}

// flow is one sign-in under way: the values its callback has to bring, and what
// it was begun with.
type flow struct {
	id                     string // joins what three cookies hold of it; empty: made by Auth.js
	provider               string
	verifier, state, nonce string
	expires                int64
	begun
}

// begun is what a flow remembers of its beginning.
type begun struct {
	CallbackURL string `json:"callbackUrl,omitempty"` // where this browser goes in the end; empty: the callback cookie says
	MaxAge      *int64 `json:"maxAge,omitempty"`      // the max_age that was sent, in seconds; nil: none
	CrossSite   bool   `json:"posted,omitempty"`      // the provider will post from its own site
	Fresh       bool   `json:"fresh,omitempty"`       // whoever began it had just signed in, and may change how they sign in
	sessionref.Ref
}

func (f *flow) value(c Check) *string {
	switch c {
	case CheckPKCE:
		return &f.verifier
	case CheckState:
		return &f.state
	}
	return &f.nonce
}

// pendingCheck is what one cookie holds of one sign-in under way.
type pendingCheck struct {
	ID       string `json:"id,omitempty"`
	Value    string `json:"value"`
	Provider string `json:"provider"`
	Expires  int64  `json:"until,omitempty"`
	begun
}

// isOf tells the values that were made for a flow.
func (h *pendingCheck) isOf(f *flow) bool { return h.ID == f.id && h.Provider == f.provider }

// flows are the sign-ins under way at a provider, newest first: what belongs
// together is joined.
func (c *browserCookies) flows(provider string, now time.Time) []*flow {
	var all []*flow
	for _, check := range flowChecks {
		for _, h := range c.pending(check, now) {
			if h.Provider != provider || h.Value == "" {
				continue
			}
			i := slices.IndexFunc(all, h.isOf)
			if i < 0 {
				i, all = len(all), append(all, &flow{id: h.ID, provider: provider, expires: h.Expires, begun: h.begun})
			}
			if value := all[i].value(check); *value == "" {
				*value = h.Value
			}
		}
	}
	return all
}

// pending are the values in the cookie of a check, newest first. The caller may
// change the list.
func (c *browserCookies) pending(check Check, now time.Time) []pendingCheck {
	spec := c.specs.ofCheck(check)
	value, ok := c.latest(spec)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(c.opened, func(o openedChecks) bool { return o.check == check && o.value == value })
	if i < 0 {
		i = len(c.opened)
		c.opened = append(c.opened, openedChecks{check, value, openChecks(spec.codec, check, value, now)})
	}
	return slices.DeleteFunc(slices.Clone(c.opened[i].held), func(h pendingCheck) bool { return h.Expires <= now.Unix() })
}

// latest is what the browser will have in a check's cookie: what it sent, unless
// this answer changes that.
func (c *browserCookies) latest(spec *cookieSpec) (string, bool) {
	for _, k := range c.out {
		if k.Name == spec.name() {
			return k.Value, k.MaxAge >= 0
		}
	}
	return c.value(spec)
}

// replace sets a check's cookie, and takes back what was set before.
func (c *browserCookies) replace(k *http.Cookie) {
	c.out = slices.DeleteFunc(c.out, func(old *http.Cookie) bool { return old.Name == k.Name })
	c.set(k)
}

// begin hands a flow to the browser, beside those begun shortly before; alone:
// instead of them.
func (c *browserCookies) begin(f *flow, alone bool, now time.Time) error {
	how := f.begun
	for _, check := range flowChecks {
		value := *f.value(check)
		if value == "" {
			continue
		}
		held := []pendingCheck{{ID: f.id, Value: value, Provider: f.provider, Expires: f.expires, begun: how}}
		if !alone {
			held = append(held, c.pending(check, now)...)
		}
		if err := c.writeChecks(check, held[:min(len(held), mostFlows)], now); err != nil {
			return err
		}
		how = begun{CrossSite: how.CrossSite} // once is enough
	}
	return nil
}

// writeChecks seals values, newest first, into the cookie of a check. Browsers
// drop a cookie that is too long, so what is worth least is left out.
func (c *browserCookies) writeChecks(check Check, held []pendingCheck, now time.Time) error {
	spec := c.specs.ofCheck(check)
	sealed, err := sealChecks(spec.codec, check, held, now)
	for err == nil && len(sealed) > cookie.ChunkSize {
		shorter := shortenChecks(held)
		if shorter == nil {
			break
		}
		held = shorter
		sealed, err = sealChecks(spec.codec, check, held, now)
	}
	if err != nil {
		return err
	}
	k := spec.make(sealed, now.Add(checkMaxAge))
	k.MaxAge = int(checkMaxAge / time.Second)
	if slices.ContainsFunc(held, func(h pendingCheck) bool { return h.CrossSite }) {
		k.SameSite, k.Secure = http.SameSiteNoneMode, true // it has to come along with the provider's post
	}
	c.replace(k)
	return nil
}

// forget takes a flow out of the cookies; the others stay.
func (c *browserCookies) forget(f *flow, now time.Time) error {
	for _, check := range flowChecks {
		if *f.value(check) == "" {
			continue
		}
		if err := c.forgetCheck(check, now, func(h pendingCheck) bool { return h.isOf(f) }); err != nil {
			return err
		}
	}
	return nil
}

// forgetChallenge takes a challenge out of its cookie; the others stay.
func (c *browserCookies) forgetChallenge(spent *pendingCheck, now time.Time) error {
	return c.forgetCheck(checkChallenge, now, func(h pendingCheck) bool { return h.Value == spent.Value })
}

func (c *browserCookies) forgetCheck(check Check, now time.Time, goes func(pendingCheck) bool) error {
	rest := slices.DeleteFunc(c.pending(check, now), goes)
	if len(rest) > 0 {
		return c.writeChecks(check, rest, now)
	}
	spec := c.specs.ofCheck(check)
	c.replace(spec.clear(spec.name()))
	return nil
}

// carryOver has flows that were begun in one session go on in the one that takes
// its place in this browser.
func (c *browserCookies) carryOver(from, to sessionref.Ref, now time.Time) error {
	for _, check := range pendingChecks {
		held, changed := c.pending(check, now), false
		for i := range held {
			if held[i].Same(from) {
				held[i].Ref, changed = to, true
			}
		}
		if !changed {
			continue
		}
		if err := c.writeChecks(check, held, now); err != nil {
			return err
		}
	}
	return nil
}

// hasFlowOf tells whether a flow was begun in a session.
func (c *browserCookies) hasFlowOf(m sessionref.Ref, now time.Time) bool {
	return slices.ContainsFunc(pendingChecks[:], func(check Check) bool {
		return slices.ContainsFunc(c.pending(check, now), func(h pendingCheck) bool { return h.Same(m) })
	})
}

// clearChecks forgets every sign-in under way: somebody has signed out, and
// what they began must not be finished in their name.
func (c *browserCookies) clearChecks() {
	for _, check := range pendingChecks {
		spec := c.specs.ofCheck(check)
		if _, there := c.jar.Get(spec.name()); there {
			c.replace(spec.clear(spec.name()))
		}
	}
}
