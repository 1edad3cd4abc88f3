package latchkey

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// origin is scheme and host of the site, as browsers write it.
type origin struct {
	text   string // https://app.example, no slash at the end; empty: none
	secure bool
}

func newOrigin(scheme, host string) origin {
	host = strings.ToLower(host)
	if (scheme == "https" && strings.HasSuffix(host, ":443")) || (scheme == "http" && strings.HasSuffix(host, ":80")) {
		host = host[:strings.LastIndexByte(host, ':')]
	}
	return origin{scheme + "://" + host, scheme == "https"}
}

// host is the origin's host with its port.
func (o origin) host() string {
	_, host, _ := strings.Cut(o.text, "://")
	return host
}

// originOf finds out under which address the visitor sees the site. A request
// is only believed where the operator said so.
func (s *setup) originOf(r *Request) (origin, error) {
	if s.site.text != "" {
		return s.site, nil
	}
	if !s.TrustHost && len(s.AllowedHosts) == 0 {
		return origin{}, ErrUntrustedHost
	}
	host := s.forwarded(r, "X-Forwarded-Host")
	if host == "" {
		host = r.Host
	}
	if host == "" && r.URL != nil {
		host = r.URL.Host
	}
	if !validHost(host) || !s.allows(host) {
		return origin{}, ErrUntrustedHost.because(errBadHost)
	}
	scheme := "http"
	if r.TLS {
		scheme = "https"
	}
	if told := strings.TrimSuffix(strings.ToLower(s.forwarded(r, "X-Forwarded-Proto")), ":"); told != "" {
		scheme = told
	}
	if scheme != "http" && scheme != "https" {
		return origin{}, ErrUntrustedHost.because(errBadHost)
	}
	return newOrigin(scheme, host), nil
}

// errBadHost: the request names a host that is malformed or not ours.
var errBadHost = errors.New("the request names a host that is malformed or not allowed")

// forwarded is all of a header. A list is kept whole and so refused as a host or
// scheme: its first entry is what the visitor sent, not what the proxy saw.
// Without TrustHost nobody vouches for the header, and it says nothing.
func (s *setup) forwarded(r *Request, name string) string {
	if !s.TrustHost {
		return ""
	}
	return strings.Trim(strings.Join(r.Header[name], ","), " \t")
}

// validHost accepts exactly one plain host name or address with an optional port.
func validHost(host string) bool {
	if host == "" || len(host) > 255 {
		return false
	}
	name := host
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		name = host[:i]
		if port := host[i+1:]; port == "" || len(port) > 5 || strings.Trim(port, "0123456789") != "" {
			return false
		}
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return err == nil && addr.Is6() && addr.Zone() == "" && strings.HasSuffix(name, "]")
	}
	return validHostName(name)
}

// validHostName accepts what DNS and browsers accept, and nothing with a
// meaning in URLs, headers or markup.
func validHostName(name string) bool {
	if name == "" || name[0] == '.' || name[0] == '-' || strings.Contains(name, "..") {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return true
}

func (s *setup) allows(host string) bool {
	if len(s.AllowedHosts) == 0 {
		return true
	}
	host = strings.ToLower(host)
	for _, pattern := range s.AllowedHosts {
		if matchHost(strings.ToLower(pattern), host) {
			return true
		}
	}
	return false
}

// matchHost compares host with an exact name, with "*.example" for every name
// below example, or with "*". A pattern without a port means any port.
func matchHost(pattern, host string) bool {
	if pattern == "*" || pattern == host {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil && !strings.Contains(pattern, ":") {
		host = name
	}
	if suffix, ok := strings.CutPrefix(pattern, "*"); ok && strings.HasPrefix(suffix, ".") {
		return len(host) > len(suffix) && strings.HasSuffix(host, suffix)
	}
	return pattern == host
}

// isLoopback tells the hosts on which plain http is no risk.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// clientAddress is where the visitor's connection comes from: the right-most
// hop of X-Forwarded-For that is no trusted proxy.
func (s *setup) clientAddress(r *Request) string {
	if own := s.ClientAddress; own != nil {
		address, _ := containResult(func() (string, error) { return own(r), nil })
		return address
	}
	addr, ok := parseAddress(r.RemoteAddr)
	if !ok {
		return ""
	}
	if len(s.TrustedProxies) == 0 {
		return addr.String()
	}
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for i := len(hops) - 1; i >= 0 && s.trusts(addr); i-- {
		hop, ok := parseAddress(strings.TrimSpace(hops[i]))
		if !ok {
			break
		}
		addr = hop
	}
	return addr.String()
}

func parseAddress(text string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap(), true
	}
	addr, err := netip.ParseAddr(text)
	return addr.Unmap(), err == nil
}

func (s *setup) trusts(addr netip.Addr) bool {
	for _, network := range s.TrustedProxies {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// isHTTPURL accepts absolute http(s) addresses without user info.
func isHTTPURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && !hasControl(s)
}

// isPath accepts a path on the site itself, as a browser reads it.
func isPath(s string) bool {
	return strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//") && !strings.ContainsRune(s, '\\') && !hasControl(s)
}

// hasControl finds what browsers drop or servers must not send.
func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] == 0x7f {
			return true
		}
	}
	return false
}

// showURL is an address fit for an error message: without what may stand before
// its host, which could be a password.
func showURL(s string) string {
	i := strings.LastIndexByte(s, '@')
	if i < 0 {
		return s
	}
	scheme, _, _ := strings.Cut(s[:i], "//")
	return scheme + "//…@" + s[i+1:]
}
