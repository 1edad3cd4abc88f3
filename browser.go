package latchkey

import (
	"context"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/limit"
)

// requesterOf returns the client of a request, and whether its browser has signed
// in to target before.
func (s *setup) requesterOf(ctx context.Context, v *visit, target string) limit.Requester {
	if s.limits.Off() {
		return limit.Requester{}
	}
	s.warnOfProxy(ctx, v.request)
	who := limit.Requester{Client: s.trust.clientAddr(v.request)}
	if target != "" {
		who.Browser = v.cookies.KnownFor(s.limits.Hash(target), s.tenant, v.now())
	}
	return who
}

// rememberBrowser makes the browser known for target. An empty target is nothing
// that is counted.
func rememberBrowser(s *setup, c *browser.Cookies, target string) error {
	if s.limits.Off() || target == "" {
		return nil
	}
	return c.RememberFor(s.limits.Hash(target), s.tenant, s.now())
}

// oneClient is what an operator reads whose visitors all have one IP address.
const oneClient = "behind a proxy all visitors count as one client: list the proxy's networks in Site.TrustedProxies, or set Site.ClientAddress"

// warnOfProxy logs once that requests come through a proxy that the
// configuration does not name.
func (s *setup) warnOfProxy(ctx context.Context, r *Request) {
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
