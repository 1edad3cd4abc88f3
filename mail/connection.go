package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// longestTalk bounds what a server may say during one delivery, in bytes. A
// real one says some hundreds, and a few thousand of certificates.
const longestTalk = 256 << 10

var errTooMuch = errors.New("the server says too much")

// connection is a connection that is closed when its context ends. After longestTalk
// bytes its Read returns errTooMuch.
type connection struct {
	net.Conn
	left   int64
	forget func() bool // stops watching the context
}

// connect opens a connection that lives no longer than ctx, and that the caller closes.
// With ImplicitTLS it is encrypted already.
func (s Server) connect(ctx context.Context) (net.Conn, error) {
	raw, err := s.DialContext(ctx, "tcp", net.JoinHostPort(s.Host, fmt.Sprint(s.Port)))
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: raw, left: longestTalk}
	c.forget = context.AfterFunc(ctx, func() { raw.Close() })
	if s.Security != ImplicitTLS {
		return c, nil
	}
	encrypted := tls.Client(c, s.TLSConfig)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return encrypted, nil
}

func (c *connection) Read(b []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooMuch
	}
	n, err := c.Conn.Read(b[:min(int64(len(b)), c.left)])
	c.left -= int64(n)
	return n, err
}

func (c *connection) Close() error {
	c.forget()
	return c.Conn.Close()
}

// Deadlines are ignored: the context is the only one. The SMTP library would set a later
// one with every step.

func (*connection) SetDeadline(time.Time) error      { return nil }
func (*connection) SetReadDeadline(time.Time) error  { return nil }
func (*connection) SetWriteDeadline(time.Time) error { return nil }

// cause returns why a conversation broke off, or "" if that is not known. Of what the server
// has sent it repeats only names of the certificate, quoted.
func cause(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errTooMuch):
		return errTooMuch.Error()
	case isKind[*tls.CertificateVerificationError](err):
		return distrust(err)
	case isKind[tls.RecordHeaderError](err):
		return "it does not begin with TLS: use STARTTLS, or the port for ImplicitTLS"
	case isKind[*net.DNSError](err):
		return "the name cannot be resolved"
	case isKind[*net.OpError](err):
		return "network failure"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server hung up"
	}
	return missing(err.Error())
}

// distrust returns why the certificate of a server is not accepted. Names of the
// certificate are quoted, and at most mostNames of them.
func distrust(err error) string {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return fmt.Sprintf("its certificate is for %s and not for %s: set Server.Host, which is the host in EMAIL_SERVER, to a name of the certificate", namesOf(name.Certificate), brief(name.Host))
	case isKind[x509.UnknownAuthorityError](err):
		return "its certificate is of an authority that this machine does not trust: install the certificate of the authority, or set Server.TLSConfig"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired or is not valid yet: renew it, or set the clock of this machine"
	}
	return "its certificate is not valid for a mail server"
}

// mostNames bounds the names of a certificate in the text of an error.
const mostNames = 3

// namesOf returns the first mostNames names and IP addresses of a certificate, quoted.
func namesOf(c *x509.Certificate) string {
	var names []string
	for _, name := range c.DNSNames {
		names = append(names, brief(name))
	}
	for _, ip := range c.IPAddresses {
		names = append(names, brief(ip.String()))
	}
	switch {
	case len(names) == 0:
		return "no name"
	case len(names) > mostNames:
		return strings.Join(names[:mostNames], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// brief returns the first 64 bytes of text, quoted and in ASCII.
func brief(text string) string { return strconv.QuoteToASCII(text[:min(len(text), 64)]) }

// missing returns the cause of an error that the SMTP library has no value for, by its
// text, or "" if it does not know the text.
func missing(text string) string {
	switch {
	case strings.Contains(text, "does not support STARTTLS"):
		return "it offers no STARTTLS, and nothing is sent without: use ImplicitTLS, or Unencrypted for a mail catcher on this machine"
	case strings.Contains(text, "does not support SMTP AUTH"):
		return "it takes no user name and password, or not over this connection"
	}
	return ""
}

// status describes an SMTP reply: the step that it answers, unless that is empty, what
// the code means, and the code. For code 0, no reply, it returns step alone.
func status(code int, step string) string {
	var text string
	switch {
	case code == 0:
		return step
	case code >= 400 && code <= 499:
		text = "refused for now"
	case code == 530:
		text = "it wants a user name and password, or encryption"
	case code == 534, code == 535, code == 538:
		text = "it does not accept the user name and password"
	case code >= 500 && code <= 599:
		text = "refused"
	default:
		text = "unexpected answer"
	}
	if step != "" {
		text = step + ": " + text
	}
	return fmt.Sprintf("%s (status %d)", text, code)
}

func isKind[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}
