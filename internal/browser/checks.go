package browser

import (
	"net/http"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/cookie"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
)

// CheckValue is what the cookie of one check holds of one sign-in under way.
type CheckValue struct {
	ID       string `json:"id,omitempty"`
	Value    string `json:"value"`
	Provider string `json:"provider"`
	Expires  int64  `json:"until,omitempty"`
	FlowOrigin
}

// isOf reports whether the value was made for the flow.
func (p *CheckValue) isOf(f *Flow) bool { return p.ID == f.ID && p.Provider == f.Provider }

// Flows returns the sign-ins under way at a provider, newest first.
func (c *Cookies) Flows(provider string, now time.Time) []*Flow {
	var all []*Flow
	for _, check := range flowChecks {
		for _, p := range c.CheckValues(check, now) {
			if p.Provider != provider || p.Value == "" {
				continue
			}
			i := slices.IndexFunc(all, p.isOf)
			if i < 0 {
				i, all = len(all), append(all, &Flow{ID: p.ID, Provider: provider, Expires: p.Expires, FlowOrigin: p.FlowOrigin})
			}
			if value := all[i].Value(check); *value == "" {
				*value = p.Value
			}
		}
	}
	return all
}

// MissingFlow returns the reason why the browser has no flow that a callback belongs to.
// Either no cookie of a flow came, or none of them opens, or the flows in them are
// others or have expired.
func (c *Cookies) MissingFlow(now time.Time) fault.Detail {
	missing := fault.StateNoCookies
	for _, check := range flowChecks {
		if _, sent := c.Raw(c.Specs.of(check)); !sent {
			continue
		}
		if len(c.CheckValues(check, now)) > 0 {
			return fault.StateMissing
		}
		missing = fault.CookieUnreadable
	}
	return missing
}

// CheckValues returns the values in the cookie of a check, newest first. The caller
// may change the list.
func (c *Cookies) CheckValues(check Check, now time.Time) []CheckValue {
	spec := c.Specs.of(check)
	value, ok := c.latest(spec)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(c.opened, func(o openedChecks) bool { return o.check == check && o.value == value })
	if i < 0 {
		i = len(c.opened)
		c.opened = append(c.opened, openedChecks{check, value, openChecks(spec.Codec, check, value, now)})
	}
	return slices.DeleteFunc(slices.Clone(c.opened[i].held), func(p CheckValue) bool { return p.Expires <= now.Unix() })
}

// latest returns what the browser will have in a check's cookie: what it sent, unless
// this answer changes that. It returns false if the browser will have none.
func (c *Cookies) latest(spec *Spec) (string, bool) {
	for _, k := range c.Out {
		if k.Name == spec.Name() {
			return k.Value, k.MaxAge >= 0
		}
	}
	return c.Value(spec)
}

// Begin puts a flow into the cookies of its checks, beside the flows begun shortly
// before. With alone it takes their place. It returns an error if a cookie cannot be
// sealed.
func (c *Cookies) Begin(f *Flow, alone bool, now time.Time) error {
	origin := f.FlowOrigin
	for _, check := range flowChecks {
		value := *f.Value(check)
		if value == "" {
			continue
		}
		held := []CheckValue{{ID: f.ID, Value: value, Provider: f.Provider, Expires: f.Expires, FlowOrigin: origin}}
		if !alone {
			held = append(held, c.CheckValues(check, now)...)
		}
		if err := c.write(check, held, now); err != nil {
			return err
		}
		origin = FlowOrigin{CrossSite: origin.CrossSite} // once is enough
	}
	return nil
}

// BeginChallenge puts a challenge into its cookie, beside those begun shortly before.
// With alone it takes their place. It returns an error if the cookie cannot be sealed.
func (c *Cookies) BeginChallenge(p CheckValue, alone bool, now time.Time) error {
	held := []CheckValue{p}
	if !alone {
		held = append(held, c.CheckValues(Challenge, now)...)
	}
	return c.write(Challenge, held, now)
}

// write seals values, newest first, into the cookie of a check. Browsers drop a cookie
// that is too long, so write leaves out what is worth least (see shortenChecks). If a
// provider will post its answer, the cookie has SameSite=None.
func (c *Cookies) write(check Check, held []CheckValue, now time.Time) error {
	held = held[:min(len(held), maxFlows)]
	spec := c.Specs.of(check)
	sealed, err := sealChecks(spec.Codec, check, held, now)
	for err == nil && len(sealed) > cookie.ChunkSize {
		shorter := shortenChecks(held)
		if shorter == nil {
			break
		}
		held = shorter
		sealed, err = sealChecks(spec.Codec, check, held, now)
	}
	if err != nil {
		return err
	}
	k := spec.New(sealed, now.Add(CheckMaxAge))
	k.MaxAge = int(CheckMaxAge / time.Second)
	if slices.ContainsFunc(held, func(p CheckValue) bool { return p.CrossSite }) {
		k.SameSite, k.Secure = http.SameSiteNoneMode, true // the provider's post has to bring it along
	}
	c.replace(k)
	return nil
}

// End removes a flow from the cookies. The others stay.
func (c *Cookies) End(f *Flow, now time.Time) error {
	for _, check := range flowChecks {
		if *f.Value(check) == "" {
			continue
		}
		if err := c.drop(check, now, func(p CheckValue) bool { return p.isOf(f) }); err != nil {
			return err
		}
	}
	return nil
}

// EndChallenge removes a challenge from its cookie. The others stay.
func (c *Cookies) EndChallenge(spent *CheckValue, now time.Time) error {
	return c.drop(Challenge, now, func(p CheckValue) bool { return p.Value == spent.Value })
}

// drop removes the values for which goes returns true from the cookie of a check. It
// clears the cookie if none is left.
func (c *Cookies) drop(check Check, now time.Time, goes func(CheckValue) bool) error {
	rest := slices.DeleteFunc(c.CheckValues(check, now), goes)
	if len(rest) > 0 {
		return c.write(check, rest, now)
	}
	spec := c.Specs.of(check)
	c.replace(spec.Clear(spec.Name()))
	return nil
}

// CarryOver lets flows that were begun in the session from continue in the session to,
// which takes its place in this browser.
func (c *Cookies) CarryOver(from, to sessionref.Ref, now time.Time) error {
	for _, check := range allChecks {
		held, changed := c.CheckValues(check, now), false
		for i := range held {
			if held[i].Same(from) {
				held[i].Ref, changed = to, true
			}
		}
		if !changed {
			continue
		}
		if err := c.write(check, held, now); err != nil {
			return err
		}
	}
	return nil
}

// HasFlowOf reports whether a flow was begun in a session.
func (c *Cookies) HasFlowOf(r sessionref.Ref, now time.Time) bool {
	return slices.ContainsFunc(allChecks[:], func(check Check) bool {
		return slices.ContainsFunc(c.CheckValues(check, now), func(p CheckValue) bool { return p.Same(r) })
	})
}

// ClearChecks ends every sign-in under way: the user has signed out, and what they
// began must not be finished in their name. The cookies of another tenant, which
// open nothing here, stay.
func (c *Cookies) ClearChecks(now time.Time) {
	for _, check := range allChecks {
		if len(c.CheckValues(check, now)) > 0 {
			spec := c.Specs.of(check)
			c.replace(spec.Clear(spec.Name()))
		}
	}
}
