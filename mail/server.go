package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"strings"
	"time"
	"unicode"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/mailtext"
)

// Security is how the connection to a mail server is protected.
type Security string

// The protections.
const (
	STARTTLS    Security = "starttls" // RFC 3207; a server that does not offer it gets no mail
	ImplicitTLS Security = "tls"      // encrypted from the first byte, RFC 8314
	// Unencrypted is for mail catchers on this machine. Other hosts are
	// refused.
	Unencrypted Security = "none"
	// UnencryptedAnywhere also sends passwords and sign-in links over networks
	// where a listener can use them first.
	UnencryptedAnywhere Security = "none-even-over-the-network"
)

// Server is a mail server that accepts mail from the site, and how to speak to
// it.
type Server struct {
	Host     string   // name or IP address, without a port
	Port     int      // 0: 587, with ImplicitTLS 465, without encryption 25
	Username string   // empty: no authentication
	Password string   // goes with Username
	Security Security // empty: STARTTLS

	// From is the sender where Email.From is empty, such as no-reply@app.example or "App
	// <no-reply@app.example>". SMTP refuses a Server without it in any case.
	From string
	// Template words the mail. nil: mailtext.Compose.
	Template func(latchkey.Message) (mailtext.Content, error)

	LocalName string           // what the site calls itself in EHLO; empty: the domain of From
	Timeout   time.Duration    // of one delivery, connecting included; 0: 10 s
	TLSConfig *tls.Config      // copied; nil: the system's roots, TLS 1.2 or newer
	Time      func() time.Time // for the Date of a mail; nil: time.Now

	// DialContext opens the connection, without TLS. nil: net.Dialer.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
}

// complete returns s with its defaults, or an error that names the first field at
// fault. No error repeats a value that may be a password in the wrong place.
func (s Server) complete() (Server, error) {
	s.Security = cmp.Or(s.Security, STARTTLS)
	ports := map[Security]int{STARTTLS: 587, ImplicitTLS: 465, Unencrypted: 25, UnencryptedAnywhere: 25}
	port, known := ports[s.Security]
	if !known {
		return s, fault("Security", "is unknown: want one of the constants of package mail, or empty for STARTTLS")
	}
	s.Port = cmp.Or(s.Port, port)
	s.Timeout = cmp.Or(s.Timeout, 10*time.Second)
	from, err := mailtext.Sender(s.From)
	if err != nil {
		return s, fault("From", err.Error())
	}
	s.LocalName = cmp.Or(s.LocalName, mailtext.Domain(from.Address))
	if s.Template == nil {
		s.Template = mailtext.Compose
	}
	if s.Time == nil {
		s.Time = time.Now
	}
	if s.DialContext == nil {
		s.DialContext = new(net.Dialer).DialContext
	}
	s.TLSConfig = s.clientTLS()
	return s, s.check()
}

// check returns an error that names the first field at fault, after complete has filled
// in the defaults.
func (s Server) check() error {
	switch {
	case s.Host == "":
		return fault("Host", "is empty: set it to the mail server's name, such as smtp.example")
	case !plain(s.Host) || strings.ContainsAny(s.Host, "/@[]") || (strings.Contains(s.Host, ":") && !isIP(s.Host)):
		return fault("Host", "is no host name: leave out scheme, user and port, or use ParseURL")
	case s.Port < 1 || s.Port > 65535:
		return fault("Port", "is not between 1 and 65535")
	case s.Timeout < 0:
		return fault("Timeout", "is negative")
	case s.Username == "" && s.Password != "":
		return fault("Username", "is empty though there is a Password: set both or none")
	case s.Username != "" && s.Password == "":
		return fault("Password", "is empty though there is a Username: set both or none")
	case !plain(s.LocalName):
		return fault("LocalName", "is no host name")
	case s.Security == Unencrypted && !isLoopback(s.Host):
		return fault("Security", "is Unencrypted and Host is another machine: use STARTTLS or ImplicitTLS, or accept with UnencryptedAnywhere that others can read the links")
	}
	return nil
}

// fault returns an error that names a field of Server.
func fault(field, what string) error { return fmt.Errorf("mail: Server.%s %s", field, what) }

// clientTLS returns a copy of s.TLSConfig, or the default. Unless it names another
// server, the certificate has to be valid for Host.
func (s Server) clientTLS() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.TLSConfig != nil {
		c = s.TLSConfig.Clone()
	}
	c.ServerName = cmp.Or(c.ServerName, s.Host)
	return c
}

// sender returns the sender of a mail: message.From, or Server.From if that is empty.
func (s Server) sender(message latchkey.Message) (*mail.Address, error) {
	from, err := mailtext.Sender(cmp.Or(message.From, s.From))
	if err != nil {
		return nil, errors.New("mail: Email.From: " + err.Error())
	}
	return from, nil
}

func (s Server) encrypts() bool { return s.Security == STARTTLS || s.Security == ImplicitTLS }

// plain reports whether s can stand in an SMTP command without beginning another: it is
// not empty, and consists of printable ASCII characters without spaces.
func plain(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' || r == 0x7f })
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// isLoopback reports whether a host is this machine: localhost, a name below .localhost
// or a loopback address.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || (err == nil && ip.Unmap().IsLoopback())
}
