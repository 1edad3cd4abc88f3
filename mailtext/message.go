package mailtext

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
)

// Content holds the words of a mail.
type Content struct {
	Subject string // one line
	Text    string // for programs that show no HTML; not empty
	HTML    string // a complete document; empty: there is only Text
}

// Compose returns the mail for m, in the colours of m.Theme and in m.Language, or English if
// that is malformed. It returns an error for an unknown m.Kind. It also does so for an m.URL
// that is no http(s) URL with a host, or that names a user, and for such an m.OtherURL unless
// that is empty. If a kind has no button, an empty m.Code is an error, too.
//
// The mail loads nothing from elsewhere: a picture would tell its host when which user
// reads mail, and most programs hide it anyway.
func Compose(m latchkey.Message) (Content, error) {
	s, known := shapes[m.Kind]
	if !known {
		return Content{}, fmt.Errorf("there are no words for a message of the kind %q", m.Kind)
	}
	host, err := linkHost(m.URL)
	if err == nil && m.OtherURL != "" {
		_, err = linkHost(m.OtherURL)
	}
	if err == nil && s.action == "" && m.Code == "" {
		err = fmt.Errorf("a message of the kind %q has no code", m.Kind)
	}
	if err != nil {
		return Content{}, err
	}
	w := wordingOf(m)
	html, err := w.html(s, m, host)
	if err != nil {
		return Content{}, err
	}
	return Content{Subject: oneLine(w.with(s.subject, host)), Text: w.plain(s, m, host), HTML: html}, nil
}

// Check returns an error for words that cannot be sent as they are: without a
// Subject or a Text, or with text that is not UTF-8. It also refuses a control
// character in the Subject, where a line break would begin another header.
func (c Content) Check() error {
	switch {
	case c.Subject == "":
		return errors.New("the message has no Subject")
	case strings.ContainsFunc(c.Subject, unicode.IsControl):
		return errors.New("the message's Subject holds a line break or another control character")
	case c.Text == "":
		return errors.New("the message has no Text: not every mail program shows HTML")
	case !utf8.ValidString(c.Subject), !utf8.ValidString(c.Text), !utf8.ValidString(c.HTML):
		return errors.New("the message is not UTF-8")
	}
	return nil
}

var errLink = errors.New("the link is no http(s) URL")

// linkHost returns the host that a link leads to, with its port. It refuses a link that
// is not http or https, has no host, names a user, or has a host that cannot be
// printed. Its error does not repeat the link, which is a secret.
func linkHost(link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
		return "", errLink
	}
	if strings.ContainsFunc(u.Host, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return "", errLink
	}
	return u.Host, nil
}

// Recipient returns the mailbox that to names in the form in which sign-in stores it:
// lower-cased, NFKC, with its domain in ASCII, which every mail server understands (RFC
// 5891). It returns an error unless to is exactly one mailbox such as ada@example.com,
// without a display name. Anything more could make two recipients of one.
func Recipient(to string) (string, error) {
	email, err := mailbox.Canonical(to)
	if err != nil || mailbox.Check(strings.ToLower(to)) != nil || mailbox.Check(email) != nil {
		return "", errors.New("the recipient is not exactly one plain mailbox")
	}
	return email, nil
}

// Sender parses a sender such as no-reply@app.example or "App <no-reply@app.example>",
// and returns it with its domain in ASCII. It returns an error for anything else, and
// for a character that cannot be printed.
func Sender(from string) (*mail.Address, error) {
	a, err := mail.ParseAddress(from)
	if err != nil || !printable(from) {
		return nil, errSender
	}
	domain, err := mailbox.Canonical("@" + Domain(a.Address))
	if err != nil {
		return nil, errSender
	}
	a.Address = strings.TrimSuffix(a.Address, "@"+Domain(a.Address)) + domain
	return a, nil
}

var errSender = errors.New(`want one sender such as no-reply@app.example or "App <no-reply@app.example>"`)

// Domain returns the part of an e-mail address behind its last @, or all of it without @.
func Domain(email string) string { return email[strings.LastIndexByte(email, '@')+1:] }

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// oneLine returns s on one line: it replaces each run of white space by a space. A
// translation may have several lines.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
