package latchkey

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/texts"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// hostTrust knows what may be believed of a request about where it came to and
// where it comes from.
type hostTrust struct {
	Site
	origin weburl.Origin // fixed by Site.URL; empty: each request says

	last atomic.Pointer[knownOrigin] // nearly every request says the same

	proxyWarned  sync.Once // see warnOfProxy
	schemeWarned sync.Once // see warnOfScheme
	pageWarned   sync.Once // see circles, of guards
}

// knownOrigin is what became of a scheme and a host that are allowed.
type knownOrigin struct {
	scheme, host string
	origin       weburl.Origin
}

// errBadHost: the request names a host that is malformed or not ours.
var errBadHost = errors.New("the request names a host that is malformed or not allowed")

// originOf returns the origin under which the browser sees the site. A request is only
// believed where the operator said so. It returns ErrUntrustedHost
// for any other, which is an errBadHost if the request names a host that is not allowed.
func (t *hostTrust) originOf(r *Request) (weburl.Origin, error) {
	if t.origin.Text != "" {
		return t.origin, nil
	}
	if !t.TrustHost && len(t.AllowedHosts) == 0 {
		return weburl.Origin{}, ErrUntrustedHost
	}
	scheme, host := t.named(r, "http")
	if last := t.last.Load(); last != nil && last.host == host && last.scheme == scheme {
		return last.origin, nil
	}
	if !weburl.ValidHost(host) || (scheme != "http" && scheme != "https") {
		return weburl.Origin{}, failure.Wrap(ErrUntrustedHost, failure.Of(fault.HostUnknown, fmt.Errorf("%w: %q", errBadHost, texts.Cut(host, 64))))
	}
	origin := weburl.NewOrigin(scheme, host)
	if !t.allows(origin) {
		return weburl.Origin{}, failure.Wrap(ErrUntrustedHost, failure.Of(fault.HostUnknown, fmt.Errorf("%w: %q%s", errBadHost, texts.Cut(host, 64), t.missingPort(origin))))
	}
	t.last.Store(&knownOrigin{scheme, strings.Clone(host), origin}) // the host is a part of the request's head
	return origin, nil
}

// named returns the scheme and the host that r names, as far as they are believed. plain
// is the scheme of a request without TLS of which no proxy says another.
func (t *hostTrust) named(r *Request, plain string) (scheme, host string) {
	host = cmp.Or(t.forwarded(r, "X-Forwarded-Host"), r.Host)
	if host == "" && r.URL != nil {
		host = r.URL.Host
	}
	if scheme = plain; r.TLS {
		scheme = "https"
	}
	return cmp.Or(strings.TrimSuffix(strings.ToLower(t.forwarded(r, "X-Forwarded-Proto")), ":"), scheme), host
}

// cameTo reports whether r itself names o, the origin of the site. Where Site.URL says
// the origin, requests for other hosts of the same program have it, too. A request
// without TLS may have come through a proxy that ended it.
func (t *hostTrust) cameTo(r *Request, o weburl.Origin) bool {
	usual, _, _ := strings.Cut(o.Text, "://")
	scheme, host := t.named(r, usual)
	return weburl.ValidHost(host) && weburl.NewOrigin(scheme, host).Text == o.Text
}

// isConfigured reports whether the configuration names o as an origin of the site.
// TrustHost and "*" do not: there the client or a proxy names it.
func (t *hostTrust) isConfigured(o weburl.Origin) bool {
	if t.origin.Text != "" {
		return t.origin.Text == o.Text
	}
	return len(t.AllowedHosts) > 0 && !slices.Contains(t.AllowedHosts, "*") && t.allows(o)
}

// plainHTTP is what an operator reads whose site has https URLs in browsers and
// http URLs in links, cookies and the redirect_uri of providers.
const plainHTTP = "browsers see the site over https, and requests arrive as http: set Site.URL (AUTH_URL), or have the proxy send X-Forwarded-Proto and set Site.TrustHost; until then cookies are not Secure and links are http"

// warnOfScheme logs once that a proxy ends TLS without saying so. Browsers send
// Sec-Fetch-Site to https sites and to loopback alone (Fetch Metadata, section 2),
// and Origin and Referer name the scheme.
func (t *hostTrust) warnOfScheme(log *journal.Logger, h http.Header, o weburl.Origin) {
	if o.Secure || o.Text == "" || t.origin.Text != "" || browser.FetchSite(h) == "" && h["Origin"] == nil && h["Referer"] == nil || weburl.IsLoopback(o.Host()) {
		return
	}
	isFetch, origin, referer, seen := browser.FetchSite(h) != "", h.Get("Origin"), h.Get("Referer"), "https://"+o.Host()
	if !isFetch && origin != seen && referer != seen && !strings.HasPrefix(referer, seen+"/") {
		return
	}
	t.schemeWarned.Do(func() { log.WarnAtStart(plainHTTP, "header", "X-Forwarded-Proto", "host", texts.Cut(o.Host(), 64)) })
}

// forwarded returns all of a header. A list is kept whole and so refused as a
// host or scheme: its first entry is what the client sent, not what the proxy
// saw. Without TrustHost it returns "": nothing vouches for the header.
func (t *hostTrust) forwarded(r *Request, name string) string {
	if !t.TrustHost {
		return ""
	}
	return strings.Trim(strings.Join(r.Header[name], ","), " \t")
}

// allows reports whether the origin is in AllowedHosts, or that is empty. A port has to be
// named there unless it is the scheme's own, because another program on the host can use any
// other port.
func (t *hostTrust) allows(o weburl.Origin) bool {
	if len(t.AllowedHosts) == 0 {
		return true
	}
	scheme, _, _ := strings.Cut(o.Text, "://")
	for _, pattern := range t.AllowedHosts {
		name, onAnyPort := strings.CutSuffix(pattern, anyPort)
		if onAnyPort && strings.EqualFold(strings.Trim(name, "[]"), o.HostName()) {
			return true
		}
		if pattern == "*" || o.Matches(scheme+"://"+pattern) {
			return true
		}
	}
	return false
}

// hostNames returns the names under which browsers may see the site, without
// ports, or nil if any name is possible.
func (t *hostTrust) hostNames() (names []string) {
	if t.origin.Text != "" {
		return []string{t.origin.HostName()}
	}
	for _, pattern := range t.AllowedHosts {
		if pattern == "*" {
			return nil
		}
		names = append(names, weburl.NewOrigin("https", strings.TrimSuffix(pattern, anyPort)).HostName())
	}
	return names
}

// missingPort returns the cure, as a clause for the text of an error, if only its port
// keeps a host off the list, and else "".
func (t *hostTrust) missingPort(o weburl.Origin) string {
	i := strings.LastIndexByte(o.Text, ':')
	if strings.HasSuffix(o.Text, "]") || !t.allows(weburl.Origin{Text: o.Text[:i]}) {
		return ""
	}
	_, name, _ := strings.Cut(o.Text[:i], "://")
	return fmt.Sprintf("; Site.AllowedHosts has it without a port, which has to be named: %q", name+anyPort)
}

// clientAddr returns what ClientAddress says. Without it, it returns the IP address of the
// connection or, behind trusted proxies, the right-most hop of X-Forwarded-For that is none of
// these, else the left-most. "": unknown. IPv4 in IPv6 is IPv4, without port and zone.
func (t *hostTrust) clientAddr(r *Request) string {
	if own := t.ClientAddress; own != nil {
		client, _ := guarded.ContainResult(func() (string, error) { return strings.TrimSpace(own(r)), nil })
		if addr, ok := parseAddr(client); ok {
			return addr.String()
		}
		return client // a name of the application's own
	}
	addr, ok := parseAddr(r.RemoteAddr)
	if ok && !t.isTrustedHop(addr) || !ok && !t.trustsUnixPeer() {
		return addrText(addr)
	}
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, ok := parseAddr(strings.TrimSpace(hops[i]))
		if !ok {
			break
		}
		if addr = hop; !t.isTrustedHop(addr) {
			break
		}
	}
	return addrText(addr)
}

// addrText returns the text of an address, and "" for none.
func addrText(addr netip.Addr) string {
	if !addr.IsValid() {
		return ""
	}
	return addr.String()
}

// trustsUnixPeer reports whether a peer without an IP address is a proxy: the zero
// prefix stands for it. Only programs on this machine can be such a peer, as the
// one at the other end of a Unix socket.
func (t *hostTrust) trustsUnixPeer() bool { return slices.Contains(t.TrustedProxies, netip.Prefix{}) }

// knowsClients reports whether the configuration says how clients behind a
// proxy are found.
func (t *hostTrust) knowsClients() bool { return t.ClientAddress != nil || len(t.TrustedProxies) > 0 }

// parseAddr reads an IP address with or without a port.
func parseAddr(text string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return addr.Unmap().WithZone(""), err == nil
}

// isTrustedHop reports whether addr is that of a trusted proxy.
func (t *hostTrust) isTrustedHop(addr netip.Addr) bool {
	for _, network := range t.TrustedProxies {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}
