package latchkey

import (
	"context"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/texts"
)

// requesterOf returns the client of a request. isKnown reports whether its browser
// is known for what the client asks for; nil: no browser can be.
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

// askerOf returns the client of a request as the sender of mails knows it. It may be
// used after the answer.
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

// isKnownFor reports whether a user has signed in in a browser before, and no call
// has ended the user's sessions since. An empty id is no user.
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

// rememberBrowser makes the browser known for the user that has signed in. form is the
// key of what the user typed; empty: nothing. Where the store keeps known browsers the
// browser gets a new handle, and is known from at.
func rememberBrowser(ctx context.Context, s *setup, v *visit, userID, form string, at time.Time) error {
	if userID == "" || s.limits.Off() && s.passwords == nil {
		return nil
	}
	handle := ""
	if s.passwords != nil {
		var err error
		agent := texts.Cut(v.request.Header.Get("User-Agent"), 256)
		handle, err = s.passwords.Directory.RememberBrowser(ctx, v.cookies.Known(s.tenant, s.now()).ID, userID, agent, at)
		if err != nil || handle == "" {
			return err
		}
	}
	return v.cookies.Remember(s.keys.Of(keys.KnownUser, userID), form, s.tenant, handle, s.now())
}

// What an operator reads whose visitors cannot be told apart.
const (
	oneClient = "behind a proxy all visitors count as one client: list the proxy's networks in Site.TrustedProxies, or set Site.ClientAddress"
	noClient  = "requests come from no IP address, as from a Unix socket, so that no client is limited: " +
		"add netip.Prefix{} to Site.TrustedProxies if the peer is a proxy that sets X-Forwarded-For, or set Site.ClientAddress"
)

// warnOfProxy logs once that requests come through a proxy that the configuration
// does not name, or that no client can be found.
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

// namesClient tells what a proxy writes about the client from junk.
func namesClient(hops string) bool {
	first, _, _ := strings.Cut(hops, ",")
	_, isAddr := parseAddr(strings.TrimSpace(first))
	return isAddr || strings.HasPrefix(strings.ToLower(first), "for=")
}
