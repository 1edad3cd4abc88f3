package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
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

// connect opens a connection that lives no longer than ctx. With ImplicitTLS it
// is encrypted already.
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

// cause returns why a conversation broke off, without any words of the server, or "" if
// that is not known.
func cause(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errTooMuch):
		return errTooMuch.Error()
	case isKind[*tls.CertificateVerificationError](err):
		return "its certificate is not trusted or not valid for Server.Host"
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
