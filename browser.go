package latchkey

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/texts"
)

// requesterOf returns the client of a request for limits, or the zero Requester if limits
// are off. It calls isKnown with what the browser is known for, and sets Browser if
// isKnown returns true; with a nil isKnown Browser stays empty. It logs the warnings of
// warnOfProxy.
func (s *setup) requesterOf(ctx context.Context, v *visit, isKnown func(browser.Known) bool) limit.Requester {
	if s.limits.Off() {
		return limit.Requester{}
	}
	who := limit.Requester{Client: s.trust.clientAddr(v.request)}
	s.warnOfProxy(ctx, v.request, who.Client)
	if isKnown == nil {
		return who
	}
	if k := v.cookies.Known(s.tenant, v.now()); k.ID != "" && isKnown(k) {
		who.Browser = k.ID
	}
	return who
}

// askerOf returns the client of a request for a mail whose user is looked up later: its
// knownFor says whether the browser is known for that user. The result may be used after
// the answer.
func askerOf(ctx context.Context, s *setup, v *visit) asker {
	a := asker{language: s.languageOf(ctx, v)}
	a.Requester = s.requesterOf(ctx, v, func(k browser.Known) bool {
		a.knownFor = func(ctx context.Context, userID string) string {
			if isKnownFor(ctx, s, k, userID) {
				return k.ID
			}
			return ""
		}
		return false
	})
	a.Client = strings.Clone(a.Client) // the text may be of a server that uses it again after the answer
	return a
}

// isKnownFor reports whether the user has signed in before in the browser of k, and no
// end of the user's sessions has voided that since. It returns false for an empty userID,
// and logs an error of the store and returns false.
func isKnownFor(ctx context.Context, s *setup, k browser.Known, userID string) bool {
	if userID == "" {
		return false
	}
	if s.passwords != nil {
		row, err := s.passwords.Directory.KnownBrowser(ctx, k.ID, userID)
		if err != nil {
			s.log.Error(ctx, journal.NoSubject{}, err)
		}
		return row != nil && err == nil
	}
	at, ok := k.Since(s.keys.All(keys.KnownUser, userID))
	return ok && s.revocations.IsLive(ctx, userID, at)
}

// knowsBrowsers reports whether the site keeps browsers known for their users.
func knowsBrowsers(s *setup) bool { return !s.limits.Off() || s.passwords != nil || assures(s) }

// rememberBrowser makes the browser known for the user that has signed in, by its cookie and,
// on a site with passwords or second factors, in the store. In the store it gets a new handle,
// and is known from at. form is the key of what the user typed; empty: nothing. With trust,
// this browser is asked for no second factor during Factors.Remember, unless that is negative.
// It does nothing for an empty userID, and on sites that need no known browsers.
func rememberBrowser(ctx context.Context, s *setup, v *visit, userID, form string, at time.Time, trust bool) error {
	if userID == "" || !knowsBrowsers(s) {
		return nil
	}
	former, agent, handle := v.cookies.Known(s.tenant, s.now()).ID, texts.Cut(v.request.Header.Get("User-Agent"), 256), ""
	var err error
	if assures(s) {
		var trusted time.Time
		if trust && s.config.Factors.Remember > 0 {
			trusted = s.now().Add(s.config.Factors.Remember)
		}
		handle, err = s.directory.Factors.RememberSignIn(ctx, &v.events, userID, at, former, agent, trusted)
	} else if s.passwords != nil {
		handle, err = s.passwords.Directory.RememberBrowser(ctx, former, userID, agent, at)
	}
	if err != nil || handle == "" && (s.passwords != nil || assures(s)) {
		return err
	}
	v.hide(handle)
	return v.cookies.Remember(s.keys.Of(keys.KnownUser, userID), form, s.tenant, handle, s.now())
}

// keepBrowser makes the browser of a sign-in known, if the tries of the sign-in are
// limited or second factors are on, and keeps the recovery codes that the sign-in has
// made. It returns the errors of both.
func keepBrowser(ctx context.Context, s *setup, v *visit, in *directory.Assertion, who *directory.SignIn) (err error) {
	if in.Counted || assures(s) {
		err = rememberBrowser(ctx, s, v, who.User.ID, in.Form, who.Begun(), in.Second != nil && in.Second.Remember)
	}
	if in.Second != nil && in.Second.Codes != nil {
		err = errors.Join(err, keepNewCodes(ctx, s, who))
	}
	return err
}

// returnTries gives back the tries of a code unless wrong is true. It logs a try that it
// cannot give back. The caller does not count an outage as a wrong code. It knows
// whether a recovery code was right only after the code was used up.
func returnTries(ctx context.Context, x *exchange, tries []limit.Try, wrong bool) {
	if wrong {
		return
	}
	for _, try := range tries {
		if err := x.setup.limits.Return(ctx, try); err != nil {
			x.setup.log.Error(ctx, x, failure.Wrap(ErrFactor, err))
		}
	}
}

// The warnings for an operator that clients cannot be told apart.
const (
	oneClient = "behind a proxy all visitors count as one client: list the proxy's networks in Site.TrustedProxies, or set Site.ClientAddress"
	noClient  = "requests come from no IP address, as from a Unix socket, so that no client is limited: " +
		"add netip.Prefix{} to Site.TrustedProxies if the peer is a proxy that sets X-Forwarded-For, or set Site.ClientAddress"
)

// warnOfProxy logs, once for each site, that requests come through a proxy that the
// configuration does not name, or that the client of a request is unknown (client is "").
func (s *setup) warnOfProxy(ctx context.Context, r *Request, client string) {
	if client == "" && s.trust.ClientAddress == nil {
		s.trust.proxyWarned.Do(func() { s.log.Warn(ctx, noClient, "peer", r.RemoteAddr) })
		return
	}
	if s.trust.knowsClients() {
		return
	}
	for _, name := range []string{"X-Forwarded-For", "X-Real-Ip", "Forwarded"} {
		if namesClient(r.Header.Get(name)) {
			s.trust.proxyWarned.Do(func() { s.log.Warn(ctx, oneClient, "header", name) })
			return
		}
	}
}

// namesClient reports whether a header of a proxy begins with the address of a client,
// and not with junk.
func namesClient(hops string) bool {
	first, _, _ := strings.Cut(hops, ",")
	_, isAddr := parseAddr(strings.TrimSpace(first))
	return isAddr || strings.HasPrefix(strings.ToLower(first), "for=")
}

// pendingOf returns the sign-in of the browser that waits for a second factor. If there
// is none, p is nil, and handle is "" or one that is void. The site has second factors.
func pendingOf(ctx context.Context, s *setup, v *visit) (handle string, p *directory.Pending, err error) {
	if handle = v.cookies.Half(s.tenant, v.now()); handle == "" {
		return "", nil, nil
	}
	v.hide(handle)
	p, err = s.directory.Factors.Suspended(ctx, handle)
	if errors.Is(err, directory.ErrNotPending) {
		return handle, nil, nil
	}
	return handle, p, err
}

// pageHandle returns the key under which Factors keeps what a page of one session of a
// user waits for: an enrolment, tries of a proof, new recovery codes.
func pageHandle(s *setup, userID, sessionID string) directory.EnrolmentOf {
	return directory.EnrolmentOf{Handle: s.keys.Of(keys.SessionPage, userID, sessionID), UserID: userID, Session: sessionID}
}

// keepNewCodes keeps the recovery codes that a sign-in has made for the session that it
// has opened. who.Second is not nil.
func keepNewCodes(ctx context.Context, s *setup, who *directory.SignIn) error {
	mark, err := s.sessions.markOf(ctx, who)
	if err != nil {
		return err
	}
	return s.directory.Factors.KeepCodes(ctx, pageHandle(s, mark.UserID, mark.SessionID), who.Second.Codes)
}
