package latchkey

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/jwt"
)

// A browser that has signed in before is known by a cookie, so that its tries
// are counted apart from those of strangers: whoever guesses at an account locks
// out others like them, and not its owner. The cookie opens nothing. (OWASP
// calls it a device cookie.)

const (
	purposeBrowser = "browser"
	browserMaxAge  = 90 * 24 * time.Hour // after the last sign-in
	mostKnown      = 4                   // accounts that one browser is known for
)

// knownBrowser is what the cookie says.
type knownBrowser struct {
	id       string
	accounts []string // hashes of what was counted, newest first
	since    time.Time
}

// readBrowser is the zero knownBrowser for a cookie that is missing or not ours.
func readBrowser(x *exchange) (known knownBrowser) {
	k := &x.cookies.specs.browser
	value, there := x.cookies.value(k)
	if !there {
		return known
	}
	claims, err := k.codec.OpenClaims(value, x.setup.now(), browserMaxAge)
	if err != nil || claims.String("purpose") != purposeBrowser || claims.String("tenant") != x.setup.tenant {
		return known
	}
	raw, _ := json.Marshal(claims["known"]) // what came from JSON goes back
	if json.Unmarshal(raw, &known.accounts) != nil {
		return knownBrowser{}
	}
	known.id = claims.String("value")
	known.since, _ = claims.Time("iat")
	return known
}

// requesterOf returns the client of a request, and whether its browser has signed
// in to target before.
func requesterOf(ctx context.Context, x *exchange, target string) limit.Requester {
	if x.setup.limits.Off() {
		return limit.Requester{}
	}
	warnOfProxy(ctx, x)
	who := limit.Requester{Client: x.setup.trust.clientAddr(x.request)}
	if known := readBrowser(x); target != "" && slices.Contains(known.accounts, x.setup.limits.Hash(target)) {
		who.Browser = known.id
	}
	return who
}

// rememberBrowser lets the browser be known for target from now on. A cookie
// that says so already is left alone for half its life.
func rememberBrowser(x *exchange, target string) error {
	l, now := x.setup.limits, x.setup.now()
	if l.Off() || target == "" {
		return nil
	}
	known, hash := readBrowser(x), l.Hash(target)
	if len(known.accounts) > 0 && known.accounts[0] == hash && now.Before(known.since.Add(browserMaxAge/2)) {
		return nil
	}
	fill.Default(&known.id, secret.RandomHex(16))
	accounts := append([]string{hash}, slices.DeleteFunc(known.accounts, func(a string) bool { return a == hash })...)
	claims := jwt.Claims{"value": known.id, "purpose": purposeBrowser, "known": accounts[:min(len(accounts), mostKnown)]}
	if x.setup.tenant != "" {
		claims["tenant"] = x.setup.tenant
	}
	k := &x.cookies.specs.browser
	sealed, err := k.codec.SealClaims(claims, now, browserMaxAge)
	if err != nil {
		return err
	}
	x.cookies.set(k.make(sealed, now.Add(browserMaxAge)))
	return nil
}

// oneClient is what an operator reads whose visitors all have one IP address.
const oneClient = "behind a proxy all visitors count as one client: list the proxy's networks in Site.TrustedProxies, or set Site.ClientAddress"

// warnOfProxy tells, once, that requests come through a proxy that nobody has
// named.
func warnOfProxy(ctx context.Context, x *exchange) {
	if x.setup.trust.knowsClients() {
		return
	}
	for _, name := range []string{"X-Forwarded-For", "X-Real-Ip", "Forwarded"} {
		if namesClient(x.request.Header.Get(name)) {
			x.setup.trust.proxyWarned.Do(func() { x.setup.log.Warn(ctx, oneClient, "header", name) })
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
