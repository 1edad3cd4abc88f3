package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// reach checks the name and the certificate of the site. It returns false if the site
// cannot be reached by its name or over TLS.
func (s *siteProbe) reach(ctx context.Context) bool {
	name, port, err := net.SplitHostPort(s.host)
	if err != nil {
		name, port = s.host, map[bool]string{true: "443", false: "80"}[s.secure]
	}
	return s.resolve(ctx, name, port) && s.encrypt(ctx, name, port)
}

// resolve checks the addresses of the site, and returns false if none answers. It warns
// if all addresses of one family (IPv4 or IPv6) are silent: browsers with that family
// wait.
func (s *siteProbe) resolve(ctx context.Context, name, port string) bool {
	const what = "site.dns"
	if net.ParseIP(name) != nil {
		s.ok(what, "the site is named by its address")
		return true
	}
	addresses, err := s.lookup(ctx, name)
	if err != nil || len(addresses) == 0 {
		s.fail(what, "the name does not resolve. Check its DNS records, and how it is spelled")
		return false
	}
	answered, silent := map[string]bool{}, map[string]bool{}
	for _, a := range addresses[:min(len(addresses), 8)] {
		family := "IPv6"
		if a.IP.To4() != nil {
			family = "IPv4"
		}
		if s.connects(ctx, net.JoinHostPort(a.String(), port)) {
			answered[family] = true
		} else {
			silent[family] = true
		}
	}
	switch {
	case len(answered) == 0:
		s.fail(what, "no address of the name answers at port %s. Check the firewall, and that the server runs", port)
		return false
	case silent["IPv6"] && !answered["IPv6"], silent["IPv4"] && !answered["IPv4"]:
		family := "IPv6"
		if !answered["IPv4"] {
			family = "IPv4"
		}
		s.warn(what, "the name has %s addresses that do not answer, so that browsers try them first and wait. Serve them, or remove the records", family)
	default:
		s.ok(what, "the name resolves, and its addresses answer")
	}
	return true
}

// connects reports whether an address takes a connection within a quarter of the round.
func (s *siteProbe) connects(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, s.round/4)
	defer cancel()
	c, err := s.dial(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// dial opens a connection as the transport of the probes does.
func (s *siteProbe) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.network.DialContext != nil {
		return s.network.DialContext(ctx, network, address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// soon is how long before its end a certificate is worth a warning.
const soon = 14 * 24 * time.Hour

// encrypt checks the certificate and the oldest version of TLS that the site speaks. It
// returns false if the handshake fails. For a site of plain http it makes no handshake
// and returns true.
func (s *siteProbe) encrypt(ctx context.Context, name, port string) bool {
	const what = "site.tls"
	if !s.secure {
		if ip := net.ParseIP(name); name == "localhost" || ip != nil && ip.IsLoopback() {
			s.ok(what, "plain http, on this machine")
		} else {
			s.warn(what, "plain http: session cookies can be read on their way. Use https")
		}
		return true
	}
	c, err := s.handshake(ctx, name, port, tls.VersionTLS12, 0)
	if err != nil {
		s.fail(what, "%s. Browsers refuse the site: renew the certificate, or send its whole chain for this name", whyNot(err))
		return false
	}
	left := c.PeerCertificates[0].NotAfter.Sub(s.now())
	_, old := s.handshake(ctx, name, port, tls.VersionTLS10, tls.VersionTLS11)
	switch {
	case left < soon:
		s.warn(what, "the certificate ends in %d hours. Renew it", int(left.Hours()))
	case old == nil:
		s.warn(what, "TLS 1.1 or older is accepted. Allow 1.2 and 1.3 alone")
	default:
		s.ok(what, "the certificate is good for %d days", int(left.Hours()/24))
	}
	return true
}

// handshake makes a TLS handshake with a version from least to most, closes the
// connection, and returns what was agreed on. A most of zero is the newest version.
func (s *siteProbe) handshake(ctx context.Context, name, port string, least, most uint16) (tls.ConnectionState, error) {
	raw, err := s.dial(ctx, "tcp", net.JoinHostPort(name, port))
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer func() { _ = raw.Close() }()
	config := &tls.Config{ServerName: name, MinVersion: least, MaxVersion: most}
	if given := s.network.TLSClientConfig; given != nil {
		config.RootCAs = given.RootCAs
	}
	c := tls.Client(raw, config)
	if err := c.HandshakeContext(ctx); err != nil {
		return tls.ConnectionState{}, err
	}
	return c.ConnectionState(), nil
}

// strict warns if an https site does not tell browsers to keep to https (RFC 6797).
func (s *siteProbe) strict(header http.Header) {
	if s.secure && header.Get("Strict-Transport-Security") == "" {
		s.warn("site.tls", "no Strict-Transport-Security: browsers may be led to plain http. Send max-age=31536000")
	}
}
