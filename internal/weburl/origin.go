// Package weburl has the rules for URLs that come from outside: which host and
// origin they name, whether a browser may be sent there, and how they are
// written so that browsers and servers read them alike.
package weburl

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Origin is a scheme and a host, as browsers write them (RFC 6454).
type Origin struct {
	Text    string // https://app.example, no slash at the end; empty: none
	Escaped string // the same as queries and cookies have it
	Secure  bool
}

// NewOrigin returns the origin of scheme, which must be in lower case, and host, which may
// have a port. It writes the host in lower case and leaves out the default port of the
// scheme. It checks neither scheme nor host: see [ValidHost].
func NewOrigin(scheme, host string) Origin {
	host = strings.ToLower(host)
	if (scheme == "https" && strings.HasSuffix(host, ":443")) || (scheme == "http" && strings.HasSuffix(host, ":80")) {
		host = host[:strings.LastIndexByte(host, ':')]
	}
	text := scheme + "://" + host
	return Origin{Text: text, Escaped: url.QueryEscape(text), Secure: scheme == "https"}
}

// Host returns the host, with its port if that is not the default one.
func (o Origin) Host() string {
	_, host, _ := strings.Cut(o.Text, "://")
	return host
}

// HostName returns the host without its port, and an IPv6 address without brackets.
func (o Origin) HostName() string {
	if u, err := url.Parse(o.Text); err == nil {
		return u.Hostname()
	}
	return o.Host()
}

// Matches reports whether the origin fits a pattern: an origin, such as
// https://app.example, or one such as https://*.app.example, whose "*." stands for every
// name below the host, but not for the host itself. A pattern without a port means the
// default port of its scheme. A malformed pattern matches nothing.
func (o Origin) Matches(pattern string) bool {
	scheme, host, hasScheme := strings.Cut(strings.ToLower(pattern), "://")
	host, isWildcard := strings.CutPrefix(host, "*.")
	if !hasScheme || !ValidHost(host) {
		return false
	}
	named := NewOrigin(scheme, host)
	if !isWildcard {
		return o.Text == named.Text
	}
	own, sameScheme := strings.CutPrefix(o.Text, scheme+"://")
	end := "." + named.Host()
	return sameScheme && strings.HasSuffix(own, end) && own != end
}

// ValidHost reports whether host is exactly one plain host name, IPv4 address, or IPv6
// address in brackets, with an optional port, and no longer than 255 bytes.
func ValidHost(host string) bool {
	if host == "" || len(host) > 255 {
		return false
	}
	name := host
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') { // else it belongs to an IPv6 address
		name = host[:i]
		if !validPort(host[i+1:]) {
			return false
		}
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return err == nil && addr.Is6() && addr.Zone() == "" && strings.HasSuffix(name, "]")
	}
	return validHostName(name)
}

// validPort reports whether port is a number from 1 to 65535.
func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0 && len(port) <= 5
}

// validHostName reports whether name has only letters, digits, dots, dashes and
// underscores: nothing with a meaning in URLs, headers or markup. It must not be empty,
// begin with a dot or a dash, or have two dots in a row.
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

// reserved are the ends of names that nobody can register (RFC 2606, RFC 6761).
var reserved = []string{"localhost", "test", "example", "invalid", "example.com", "example.net", "example.org"}

// IsPublic reports whether a host name, in lower case and without port, can be one of the
// internet: it has a dot, is no IP address and belongs to no reserved domain.
func IsPublic(name string) bool {
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err != nil && strings.Contains(name, ".") && !slices.ContainsFunc(reserved, func(end string) bool {
		return name == end || strings.HasSuffix(name, "."+end)
	})
}

// IsLoopback reports whether host, with or without a port, is localhost, a name below
// it, or a loopback address. Plain http is no risk there.
func IsLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
