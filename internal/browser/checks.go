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

// Flows returns the sign-ins under way at a provider, newest first. It leaves out those
// that have expired. A flow may lack the value of a check whose cookie is missing:
// Flow.Mismatch finds that.
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

// MissingFlow returns why the browser has no flow that a callback belongs to. The caller
// has found that it has none. MissingFlow returns StateNoCookies if the browser sent no
// cookie of a flow, and CookieUnreadable if none of those that it sent opens, or all
// flows in them have expired. It returns StateMissing if there are other flows.
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

// CheckValues returns the values in the cookie of a check that have not expired, newest
// first. It returns nil if the cookie is missing or does not open. A cookie that the
// response sets counts, and not the one that the browser sent. The caller must not change
// the list.
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
	held := c.opened[i].held
	isOver := func(p CheckValue) bool { return p.Expires <= now.Unix() }
	if slices.ContainsFunc(held, isOver) {
		held = slices.DeleteFunc(slices.Clone(held), isOver)
	}
	return held
}

// latest returns the value that a check's cookie will have after the response: the one
// that Out sets, or else the one that the browser sent. It returns false if the browser
// will have no such cookie.
func (c *Cookies) latest(spec *Spec) (string, bool) {
	for _, k := range c.Out {
		if k.Name == spec.Name() {
			return k.Value, k.MaxAge >= 0
		}
	}
	return c.Value(spec)
}

// Begin puts a flow into the cookies of its checks, beside the flows that were begun
// before, or with alone in their place. Of more than maxFlows the oldest go. A cookie that
// gets too long loses callback URLs first, and then the oldest flows. A flow without checks
// has no cookie. Begin returns an error if a cookie cannot be sealed.
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

// BeginChallenge puts a challenge into the cookie of challenges, as Begin puts a flow
// into the cookies of its checks: beside those before, or with alone in their place. It
// returns an error if the cookie cannot be sealed.
func (c *Cookies) BeginChallenge(p CheckValue, alone bool, now time.Time) error {
	held := []CheckValue{p}
	if !alone {
		held = append(held, c.CheckValues(Challenge, now)...)
	}
	return c.write(Challenge, held, now)
}

// write seals values, newest first, into the cookie of a check, and puts the cookie into
// the response in place of an earlier one. It keeps at most maxFlows values. Browsers
// drop a cookie that is too long, so write leaves out what is worth least (see
// shortenChecks). If a provider will post its answer, the cookie has SameSite=None. held
// must not be empty. write returns an error if the cookie cannot be sealed.
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

// End removes a flow from the cookies of the checks that it has a value for. Other flows
// stay. It returns an error if a cookie with the others cannot be sealed.
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

// EndChallenge removes the challenge with the Value of spent from the cookie of
// challenges. The others stay. It returns an error if the cookie with the others cannot
// be sealed.
func (c *Cookies) EndChallenge(spent *CheckValue, now time.Time) error {
	return c.drop(Challenge, now, func(p CheckValue) bool { return p.Value == spent.Value })
}

// drop removes the values for which goes returns true, and those that have expired, from
// the cookie of a check. It clears the cookie if none is left, and otherwise seals it
// anew. It returns an error if the cookie cannot be sealed.
func (c *Cookies) drop(check Check, now time.Time, goes func(CheckValue) bool) error {
	var rest []CheckValue
	for _, p := range c.CheckValues(check, now) {
		if !goes(p) {
			rest = append(rest, p)
		}
	}
	if len(rest) > 0 {
		return c.write(check, rest, now)
	}
	spec := c.Specs.of(check)
	c.replace(spec.Clear(spec.Name()))
	return nil
}

// CarryOver rewrites the cookies of flows and challenges that were begun in one session
// of this browser, so that they can be completed in another. from names the session that
// ends, and to the session that takes its place. CarryOver returns an error if a cookie
// cannot be sealed.
func (c *Cookies) CarryOver(from, to sessionref.Ref, now time.Time) error {
	for _, check := range allChecks {
		held, changed := slices.Clone(c.CheckValues(check, now)), false
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

// HasFlowOf reports whether the browser has a flow or challenge under way that was begun
// in the session r.
func (c *Cookies) HasFlowOf(r sessionref.Ref, now time.Time) bool {
	return slices.ContainsFunc(allChecks[:], func(check Check) bool {
		return slices.ContainsFunc(c.CheckValues(check, now), func(p CheckValue) bool { return p.Same(r) })
	})
}

// ClearChecks makes the browser forget all flows and challenges under way. The user has
// signed out, and what the user began must not be finished in the user's name. The
// cookies of another tenant, which do not open here, stay.
func (c *Cookies) ClearChecks(now time.Time) {
	for _, check := range allChecks {
		if len(c.CheckValues(check, now)) > 0 {
			spec := c.Specs.of(check)
			c.replace(spec.Clear(spec.Name()))
		}
	}
}
