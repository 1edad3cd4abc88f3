package main

import (
	"context"
	"net/http"
	"time"
)

// Skews of clocks that are worth a word.
const (
	muchSkew = 5 * time.Second
	badSkew  = time.Minute
)

// ownStamp returns what the program behind an answer says of its clock. It reads the
// Expires of a cookie less its Max-Age, which no proxy writes. It returns the zero stamp
// if no cookie has both.
func ownStamp(a *siteAnswer) stamp {
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.MaxAge > 0 && !c.Expires.IsZero() {
			own := a.stamp
			own.stated = c.Expires.Add(-time.Duration(c.MaxAge) * time.Second)
			return own
		}
	}
	return stamp{}
}

// clock reports how far the clock of the site is off from that of this machine: by the
// cookies of a sign-in (s.own), and by Date, which a proxy may have written.
func (s *siteProbe) clock(_ context.Context, r *report) {
	const what = "site.clock"
	if s.own.stated.IsZero() {
		if s.judgeClock(r, what, "the clock of the site, or of its proxy,", s.stamp) {
			r.ok(what, "the Date of the site is within %v of the clock here; a proxy may have written it: ask the program itself with --instances", muchSkew)
		}
		return
	}
	if s.judgeClock(r, what, "the clock of the site", s.own) && s.judgeClock(r, what, "the clock of the proxy in front of the site", s.stamp) {
		r.ok(what, "within %v of the clock here, by the cookies of a sign-in", muchSkew)
	}
}

// judgeClock returns true, and reports nothing, if a clock is right. Otherwise it reports
// that the clock is off or not known, and returns false. what is the name of the finding,
// and whose begins its text.
func (s *siteProbe) judgeClock(r *report, what, whose string, of stamp) bool {
	ahead, known := of.skew()
	off := ahead.Abs() - of.trip/2 - time.Second // a Date has whole seconds
	switch {
	case !known:
		r.warn(what, "%s cannot be read: no Date", whose)
		return false
	case off >= badSkew:
		r.fail(what, "%s is %v off. Set it by NTP, or that of this machine", whose, ahead.Round(time.Second))
		return false
	case off >= muchSkew:
		r.warn(what, "%s is %v off. Set it by NTP, or that of this machine", whose, ahead.Round(time.Second))
		return false
	}
	return true
}
