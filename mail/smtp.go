package mail

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/textproto"

	gomail "github.com/wneessen/go-mail"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/mailtext"
)

// SMTP returns a function for the field Send of [latchkey.Email] and [latchkey.Mail].
// The function delivers each message to s, on a connection of its own and with one try.
// SMTP itself connects to nothing. An error from SMTP names the field at fault.
//
// The function may be called concurrently. It returns nil once the server has accepted
// the mail. When its context ends or Server.Timeout has passed, it stops, and its error
// wraps that of the context or [context.DeadlineExceeded]. An error says which step
// failed and with which SMTP status, never the e-mail address, the link, the password
// or the server's words; only an error of Server.Template is passed on as it is. It
// wraps [latchkey.ErrMailboxGone] if the server says that the mailbox does not exist.
func SMTP(s Server) (func(ctx context.Context, message latchkey.Message) error, error) {
	s, err := s.complete()
	if err != nil {
		return nil, err
	}
	return s.send, nil
}

// send delivers a message within s.Timeout, as SMTP documents it. s is complete.
func (s Server) send(ctx context.Context, message latchkey.Message) error {
	m, err := s.message(message)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	c, err := s.connect(ctx)
	if err != nil {
		return s.failure(ctx, "connecting", err)
	}
	defer c.Close()
	return s.converse(ctx, c, m)
}

// converse sends m over an open connection. It returns nil once the server has accepted
// the mail, whatever it answers to QUIT.
func (s Server) converse(ctx context.Context, c net.Conn, m *gomail.Msg) error {
	client, err := s.client(c)
	if err != nil {
		return err
	}
	conversation, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return s.failure(ctx, "greeting", err)
	}
	if ok, _ := conversation.Extension("SMTPUTF8"); !ok && !isASCII(m) {
		return fmt.Errorf("mail: %s takes no mailboxes beyond ASCII (SMTPUTF8)", s.Host)
	}
	err = client.SendWithSMTPClient(conversation, m)
	if !m.IsDelivered() {
		return s.failure(ctx, "sending", err)
	}
	_ = conversation.Text.PrintfLine("QUIT") // the mail is on its way, whatever the answer
	return nil
}

// client returns an SMTP client for one mail, which uses c instead of dialling. s is the
// result of complete. With ImplicitTLS, c speaks TLS already; with STARTTLS the client
// starts it. What the SMTP library dials itself cannot be cancelled once the connection
// stands. An error says that the settings do not fit together.
func (s Server) client(c net.Conn) (*gomail.Client, error) {
	options := []gomail.Option{
		gomail.WithPort(s.Port), gomail.WithTimeout(s.Timeout), gomail.WithHELO(s.LocalName), gomail.WithTLSConfig(s.TLSConfig),
		gomail.WithoutNoop(), gomail.WithoutRset(), gomail.WithTLSPolicy(gomail.NoTLS),
		gomail.WithDialContextFunc(func(context.Context, string, string) (net.Conn, error) { return c, nil }),
	}
	if s.Security == STARTTLS {
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.Username != "" {
		options = append(options, gomail.WithUsername(s.Username), gomail.WithPassword(s.Password), gomail.WithOpportunisticSMTPAuth(s.mechanisms()...))
	}
	client, err := gomail.NewClient(s.Host, options...)
	if err != nil {
		return nil, errors.New("mail: the settings of Server do not fit together")
	}
	return client, nil
}

// mechanisms returns the ways to authenticate, the best first. Without encryption the
// SMTP library needs the types that allow it to send the password in the clear.
func (s Server) mechanisms() []gomail.SMTPAuthType {
	if s.encrypts() {
		return []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin}
	}
	return []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc}
}

// message returns the mail with its headers, or an error if the sender, the recipient
// or the words cannot be sent.
func (s Server) message(message latchkey.Message) (*gomail.Msg, error) {
	from, err := s.sender(message)
	if err != nil {
		return nil, err
	}
	to, err := mailtext.Recipient(message.To)
	if err != nil {
		return nil, errors.New("mail: " + err.Error())
	}
	text, err := s.Template(message)
	if err != nil {
		return nil, fmt.Errorf("mail: the template failed: %w", err)
	}
	if err := text.Check(); err != nil {
		return nil, errors.New("mail: " + err.Error())
	}
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	m.FromMailAddress(from)
	if err := m.To(to); err != nil {
		return nil, errors.New("mail: the recipient is not one plain mailbox")
	}
	m.Subject(text.Subject)
	m.SetDateWithValue(s.Time())
	m.SetMessageIDWithValue(rand.Text() + "@" + mailtext.Domain(from.Address)) // the library would name this machine
	m.SetGenHeader("Auto-Submitted", "auto-generated")                         // RFC 3834: no holiday notices in return
	m.SetGenHeader("X-Auto-Response-Suppress", "All")                          // the same for Exchange
	m.SetBodyString(gomail.TypeTextPlain, text.Text)
	if text.HTML != "" {
		m.AddAlternativeString(gomail.TypeTextHTML, text.HTML)
	}
	return m, nil
}

// isASCII reports whether the envelope does without SMTPUTF8 (RFC 6531).
func isASCII(m *gomail.Msg) bool {
	for _, a := range append(m.GetFrom(), m.GetTo()...) {
		if !plain(a.Address) {
			return false
		}
	}
	return true
}

// failure returns an error with the server, the step and the cause of err. It holds none
// of the server's words, which may repeat what the server was sent, and does not wrap
// err. If ctx has ended, it wraps the error of ctx, and else latchkey.ErrMailboxGone if
// the server said that there is no such mailbox.
func (s Server) failure(ctx context.Context, step string, err error) error {
	where := fmt.Sprintf("mail: %s: %s", net.JoinHostPort(s.Host, fmt.Sprint(s.Port)), step)
	if ended := ctx.Err(); ended != nil {
		return fmt.Errorf("%s: %w", where, ended)
	}
	text := where + " failed"
	if why := reason(err); why != "" {
		text = where + ": " + why
	}
	if isGone(err) {
		return fmt.Errorf("%s: %w", text, latchkey.ErrMailboxGone)
	}
	return errors.New(text)
}

// isGone reports whether the server has refused the recipient because the mailbox or its
// domain does not exist, has moved or is disabled. It looks at the enhanced status code
// (RFC 3463, 3.2 and 3.3). The bare status 550 has other reasons, too.
func isGone(err error) bool {
	refused, ok := errors.AsType[*gomail.SendError](err)
	if !ok || refused.Reason != gomail.ErrSMTPRcptTo || refused.ErrorCode() < 500 {
		return false
	}
	switch refused.EnhancedStatusCode() {
	case "5.1.1", "5.1.2", "5.1.6", "5.1.10", "5.2.1":
		return true
	}
	return false
}

// reason returns what an error says about its cause, or "" if nothing of it is
// safe to repeat.
func reason(err error) string {
	if refused, ok := errors.AsType[*gomail.SendError](err); ok {
		why := status(refused.ErrorCode(), refused.Reason.String())
		if refused.Reason == gomail.ErrSMTPMailFrom && refused.ErrorCode() >= 500 {
			why += ": check From, which has to be an address that the server may send from"
		}
		return why
	}
	if answer, ok := errors.AsType[*textproto.Error](err); ok {
		return status(answer.Code, "")
	}
	return cause(err)
}
