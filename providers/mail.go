package providers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/mailtext"
)

// MailAPI is an account at a service that sends mail by an API. Key and From
// are needed, the latter not by [Loops].
//
// A function that takes one returns a [latchkey.Email], whose Send makes one call per mail and
// follows no redirects. The call switches link tracking off where the service lets it; see
// [Resend]. An empty Key is read by latchkey.New from its environment, or at once from Getenv.
// An error of the function, or of New, names the field at fault. An error of Send gives the
// status, and never the key, the link, the mailbox or what the service wrote. The caller may
// change the Email until latchkey.New has it.
type MailAPI struct {
	hidden

	ID   string // of the provider; empty: that of the function in lower case, such as "resend"
	Key  string // of the API; empty: AUTH_<ID>_KEY
	From string // no-reply@app.example or "App <no-reply@app.example>", of a domain the service has verified
	// Template words the mail. nil: mailtext.Compose.
	Template func(latchkey.Message) (mailtext.Content, error)

	Endpoint   string              // scheme and host of the API, https or loopback; empty: the service's
	Timeout    time.Duration       // of one call; 0: 10 s
	HTTPClient *http.Client        // not changed; nil: one with the standard transport
	Getenv     func(string) string // of an environment of its own; nil: the one of latchkey.New
}

// letter is a mail on its way to a service.
type letter struct {
	latchkey.Message
	mailtext.Content
	sender *mail.Address
}

// call is the request that sends a mail at a service.
type call struct {
	path        string
	contentType string // empty: application/json
	body        []byte
	authorize   func(*http.Request)
}

// mailer is a MailAPI with what is particular to one service.
type mailer struct {
	MailAPI
	name     string
	hosted   bool   // the service has the template that words the mails
	template string // id of that template; empty: AUTH_<ID>_TRANSACTIONAL_ID
	call     func(m *mailer, l letter) (call, error)
}

// email completes and checks m, and returns its provider. id and endpoint are for a
// MailAPI without an ID or an Endpoint. The provider has a NewSend if latchkey.New has
// to read the key or the template's id from the environment, else a Send. The error
// names the field at fault.
func (m *mailer) email(id, endpoint string) (*latchkey.Email, error) {
	m.ID = cmp.Or(m.ID, id)
	m.Endpoint = cmp.Or(m.Endpoint, endpoint)
	m.Timeout = cmp.Or(m.Timeout, 10*time.Second)
	if m.Template == nil {
		m.Template = mailtext.Compose
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	m.HTTPClient = unredirected(m.HTTPClient)
	e := &latchkey.Email{ID: m.ID, Name: m.name, From: m.From}
	switch {
	case m.Getenv != nil:
	case m.Key == "" || m.hosted && m.template == "":
		e.NewSend = m.newSend
		return e, nil
	default:
		m.Getenv = func(string) string { return "" } // nothing is asked of it
	}
	var err error
	if e.Send, err = m.newSend(m.Getenv); err != nil {
		return nil, err
	}
	return e, nil
}

// newSend completes a copy of m from the environment and returns its send. The error is
// that of checkSecrets.
func (m *mailer) newSend(getenv func(string) string) (func(context.Context, latchkey.Message) error, error) {
	ready := *m
	ready.Key = cmp.Or(m.Key, getenv(m.variable("KEY")))
	if m.hosted {
		ready.template = cmp.Or(m.template, getenv(m.variable(templateVariable)))
	}
	return ready.send, ready.checkSecrets()
}

// variable returns the name of an environment variable of m, such as AUTH_RESEND_KEY.
func (m *mailer) variable(what string) string {
	return "AUTH_" + strings.ToUpper(strings.ReplaceAll(m.ID, "-", "_")) + "_" + what
}

// checkSecrets checks the fields that may come from the environment. Its error names
// field and variable.
func (m *mailer) checkSecrets() error {
	switch {
	case m.Key == "":
		return m.fault("Key is empty: set it or %s to the service's API key", m.variable("KEY"))
	case strings.ContainsFunc(m.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return m.fault("Key (or %s) holds spaces or other characters no API key has", m.variable("KEY"))
	case m.hosted && m.template == "":
		return fmt.Errorf("providers: %s: transactionalID is empty: pass it or set %s to the id of the template", m.name, m.variable(templateVariable))
	}
	return nil
}

// check checks the fields that do not come from the environment. Its error names one.
func (m *mailer) check() error {
	switch {
	case !isSafeEndpoint(m.Endpoint):
		return m.fault("Endpoint: want https://host, or http for a loopback host")
	case m.Timeout < 0:
		return m.fault("Timeout is negative")
	case m.hosted && m.From == "":
		return nil
	}
	if _, err := mailtext.Sender(m.From); err != nil {
		return m.fault("From: %w", err)
	}
	return nil
}

// fault returns an error about a field of MailAPI. format begins with the field.
func (m *mailer) fault(format string, args ...any) error {
	return fmt.Errorf("providers: %s: MailAPI."+format, append([]any{m.name}, args...)...)
}

// isSafeEndpoint reports whether an endpoint is https, or http of a loopback host, and has a
// host but no user, query or fragment. Keys and links never go in clear to other hosts.
func isSafeEndpoint(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	loopback := u.Hostname() == "localhost" || (err == nil && ip.IsLoopback())
	return u.Scheme == "https" || (u.Scheme == "http" && loopback)
}

// unredirected returns a copy of c that follows no redirects, so that keys and links go
// nowhere but to the endpoint. c may be nil.
func unredirected(c *http.Client) *http.Client {
	var own http.Client
	if c != nil {
		own = *c
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// send words a mail and hands it to the service, within m.Timeout.
func (m *mailer) send(ctx context.Context, l latchkey.Message) error {
	ready, err := m.letter(l)
	if err != nil {
		return err
	}
	c, err := m.call(m, ready)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(m.Endpoint, "/")+c.path, bytes.NewReader(c.body))
	if err != nil {
		return errors.New("providers: " + m.name + ": the URL of the API is malformed")
	}
	req.Header.Set("Content-Type", cmp.Or(c.contentType, "application/json"))
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "latchkey")
	c.authorize(req)
	return m.post(req)
}

// letter checks the recipient of a message. Unless the service words mails itself, it also
// checks the sender and words the mail. Such a service gets only MessageSignIn, else an error.
func (m *mailer) letter(l latchkey.Message) (letter, error) {
	to, err := mailtext.Recipient(l.To)
	if err != nil {
		return letter{}, fmt.Errorf("providers: %s: %w", m.name, err)
	}
	l.To = to
	if m.hosted {
		if l.Kind != latchkey.MessageSignIn {
			return letter{}, fmt.Errorf("providers: %s has a template for sign-in links alone: set Config.Mail.Send for messages of the kind %q", m.name, l.Kind)
		}
		return letter{Message: l}, nil
	}
	l.From = cmp.Or(l.From, m.From)
	sender, err := mailtext.Sender(l.From)
	if err != nil {
		return letter{}, fmt.Errorf("providers: %s: Email.From: %w", m.name, err)
	}
	text, err := m.Template(l)
	if err == nil {
		err = text.Check()
	}
	if err != nil {
		return letter{}, fmt.Errorf("providers: %s: the template failed: %w", m.name, err)
	}
	return letter{l, text, sender}, nil
}

// post makes the call, and returns an error unless its status is a success. The answer
// may repeat the mail, so post reads a little of it to keep the connection, and uses only
// the status.
func (m *mailer) post(req *http.Request) error {
	resp, err := m.HTTPClient.Do(req)
	if err != nil {
		return callError(req, err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return nil
	}
	return fmt.Errorf("providers: %s: %s (status %d)", m.name, m.meaning(resp.StatusCode), resp.StatusCode)
}

// meaning returns what an operator should check after a status.
func (m *mailer) meaning(status int) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return "the key was refused: compare " + m.variable("KEY") + " and its permissions"
	case status == http.StatusNotFound:
		return "there is no such domain, template or API: compare the sending domain and the region"
	case status == http.StatusTooManyRequests:
		return "too many mails for this account"
	case status >= 300 && status <= 399:
		return "the API has moved: compare MailAPI.Endpoint"
	case status >= 400 && status <= 499:
		return "the mail was refused: is the domain of From verified there?"
	}
	return "the service failed"
}

// bearer authorizes with Authorization: Bearer (RFC 6750).
func (m *mailer) bearer(req *http.Request) { req.Header.Set("Authorization", "Bearer "+m.Key) }
