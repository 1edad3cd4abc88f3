package latchkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/health"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/later"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/redact"
	"github.com/latchkeyhq/latchkey/internal/watch"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// Mail says how mails are delivered. Only what a site has switched on sends any.
type Mail struct {
	// Send delivers every mail but sign-in links, within [Limits].MailTimeout. nil:
	// Email.Send of the first [Email] provider. Without either, New refuses a
	// configuration that needs mails. An error that is ErrMailboxGone says that the mailbox
	// does not exist. It may be called concurrently.
	Send func(ctx context.Context, m Message) error
	From string // handed to Send; empty: Email.From of the first [Email] provider that has one
}

// Message is a mail to be delivered to one mailbox. Package mailtext words every Kind. A Send
// that words mails itself looks at Kind, and refuses kinds that it does not know: releases add
// some.
type Message struct {
	hidden

	Kind     MessageKind
	To       string // exactly one mailbox, its domain in ASCII
	From     string
	URL      string    // what the mail's button opens; of MessageFactorCode, whose mail has no button: the home page, whose host the mail names
	OtherURL string    // of MessageAccountExists: where a forgotten password is replaced; else empty
	Token    string    // the secret inside URL; empty: there is none
	Code     string    // digits to type where the mail was asked for; empty: there is none
	Left     int       // of MessageRecoveryUsed: the recovery codes that are left
	Expires  time.Time // when the link ends, or a Code without a link; in notices as the comment of Kind says; zero: nothing ends
	Provider string    // id; empty: the mail is not one of a provider
	Theme    Theme
	Language string // of the browser that asked for the mail, one of Texts.Languages; the first of them if no browser asked; empty: English
	Texts    Texts
	Request  *Request // that asked for the mail; nil: there was none, or the mail leaves after its answer
}

// MessageKind says what a [Message] is for. The constants are all its values. A release
// may add some: a Send that words mails itself refuses kinds that it does not know.
type MessageKind string

// The kinds of [Message]. Those from MessagePasswordChanged on are notices: they
// tell the owner of an account what has happened.
const (
	MessageSignIn        MessageKind = "sign_in"        // its URL, or its code, signs the user in
	MessageVerify        MessageKind = "verify"         // its URL, or its code, proves the address of a new user
	MessageAccountExists MessageKind = "account_exists" // a sign-up named this address, which has a user already
	MessagePasswordReset MessageKind = "password_reset" // its URL asks for a new password
	MessageNewPassword   MessageKind = "new_password"   // its URL asks for a new password, because the old one may be known to others
	MessageNewEmail      MessageKind = "new_email"      // its URL, or its code, proves the new address of a user
	MessageFactorCode    MessageKind = "factor_code"    // its code is a second factor
	MessageRecoveryReady MessageKind = "recovery_ready" // its URL removes the second factors, in the browser that asked
	MessageInvitation    MessageKind = "invitation"     // its URL accepts an invitation
	MessageRecoverEmail  MessageKind = "recover_email"  // its URL makes the address that of a user who has lost the mailbox, from Expires on

	MessagePasswordChanged MessageKind = "password_changed" // the password was set, changed or removed
	MessageEmailChange     MessageKind = "email_change"     // to the address that is about to be replaced; its URL undoes that
	MessageEmailChanged    MessageKind = "email_changed"    // to the former address of a user who has lost the mailbox; its URL undoes the change
	MessageEmailLost       MessageKind = "email_lost"       // to the address of that user, which is replaced at Expires; its URL stops that
	MessageFactorAdded     MessageKind = "factor_added"     // a second factor was added
	MessageFactorRemoved   MessageKind = "factor_removed"   // a second factor was removed
	MessageFactorsReset    MessageKind = "factors_reset"    // an administrator has removed all second factors
	MessageRecoveryUsed    MessageKind = "recovery_used"    // a recovery code was used
	MessageRecoveryMade    MessageKind = "recovery_made"    // new recovery codes were made
	MessageWrongCodes      MessageKind = "wrong_codes"      // several wrong codes were typed after a right first factor
	MessageRecoveryStarted MessageKind = "recovery_started" // the second factors are removed at Expires; its URL stops that
	MessageRecoverySoon    MessageKind = "recovery_soon"    // as MessageRecoveryStarted, when half of the delay is over
	MessageActedAs         MessageKind = "acted_as"         // an administrator acts as the user, until Expires
)

// ErrMailboxGone is for a Send whose mail server says for good that there is no such
// mailbox, as status 5.1.1 of RFC 3463 does. The address of a user who has lost the mailbox
// can then be replaced although nobody reads the mails to it. Do not return it for mails
// that were refused for another reason, such as a full mailbox.
var ErrMailboxGone = mailbox.ErrGone

// isNotice reports whether a mail tells what has happened. Notices have limits of
// their own.
func (k MessageKind) isNotice() bool {
	switch k {
	case MessagePasswordChanged, MessageEmailChange, MessageEmailChanged, MessageEmailLost, MessageFactorAdded, MessageFactorRemoved, MessageFactorsReset,
		MessageRecoveryUsed, MessageRecoveryMade, MessageWrongCodes, MessageRecoveryStarted, MessageRecoverySoon, MessageActedAs:
		return true
	}
	return false
}

// mails sends every mail but sign-in links, and runs what follows an answer.
type mails struct {
	mail       Mail // completed by that of an Email provider
	limits     *limit.Limits
	log        *journal.Logger
	timeout    time.Duration // of one call of Send
	theme      Theme
	texts      Texts
	secrets    []string // the operator's own
	pool       *later.Pool
	health     *health.Part
	background func(f func(context.Context)) // nil: the pool
}

// outgoing is a mail, and the user whose mailbox it goes to. An empty UserID is no
// user. The zero outgoing is no mail.
type outgoing struct {
	Message
	UserID string
}

// asker is the client that a mail leaves for. The zero asker is none.
type asker struct {
	limit.Requester
	language string
	// knownFor returns the id of the browser if a user has signed in in it, else "".
	// nil: no browser.
	knownFor  func(ctx context.Context, userID string) string
	isCounted bool // the mail was counted for the client
}

var errTooManyMails = &failure.Mistake{Err: errors.New("too many mails to this mailbox, or asked for by this client")}

// need adds a fault if no mail can be delivered. field is what needs it, such as
// "Password". It is for what is prepared after the providers.
func (p *mails) need(f *failure.List, field string) {
	if p.mail.Send == nil {
		f.Add(ErrInvalidConfig, "%s sends mails: set Mail.Send, which a Send of module mail can be, or add an Email provider", field)
	}
}

// send counts a mail, fills in From, Theme, Texts and Language, and delivers it. It
// returns errTooManyMails if the mailbox or the client has had too many. Mails that are
// no notices share Limits.MailsPerRecipient, whatever their kind; a browser that is known
// for the user has as many again. A mailbox gets each kind of notice once a day, but
// every notice about a change of address. A mail that fails and that no client has asked
// for is not counted, so that it may be tried again. An error of Send comes back
// without the secrets of the mail and, apart from ErrMailboxGone, as text alone.
func (p *mails) send(ctx context.Context, m outgoing, by asker) error {
	if by.knownFor != nil && m.UserID != "" {
		by.Browser = by.knownFor(ctx, m.UserID)
	}
	try, err := p.mayMail(ctx, &m, by)
	if err != nil {
		return err
	}
	m.From, m.Theme, m.Texts, m.Language = p.mail.From, p.theme, p.texts, by.language
	ctx, step := p.log.Begin(ctx, telemetry.OpMail, "Mail.Send", "")
	err = guarded.Within(ctx, p.timeout, "Mail.Send", func(ctx context.Context) error { return p.mail.Send(ctx, m.Message) })
	step.End(err)
	if watch.Mail(ctx, p.log, p.health, string(m.Kind), err); err != nil {
		if by.Requester == (limit.Requester{}) {
			if undo := p.limits.Return(ctx, try); undo != nil {
				p.log.Error(ctx, journal.NoSubject{}, undo)
			}
		}
		text := redact.Text(err.Error(), append(p.secrets[:len(p.secrets):len(p.secrets)], m.URL, m.Token, m.Code), journal.LongestText)
		if errors.Is(err, ErrMailboxGone) {
			return fmt.Errorf("%w: %s", ErrMailboxGone, text)
		}
		return errors.New(text)
	}
	return nil
}

// mayMail counts a mail, and returns errTooManyMails if there were too many. It does not
// count mails about a change of address: an earlier one, of the owner or of a thief, must
// not silence the next.
func (p *mails) mayMail(ctx context.Context, m *outgoing, by asker) (try limit.Try, err error) {
	of := by.Requester
	if by.isCounted {
		of.Client = ""
	}
	counted := p.limits.Mail(m.To, of)
	switch {
	case m.Kind == MessageEmailChange, m.Kind == MessageEmailChanged, m.Kind == MessageEmailLost:
		return try, nil
	case m.Kind.isNotice():
		counted = p.limits.Notice(m.To, string(m.Kind))
	}
	try, err = p.limits.Take(ctx, counted)
	if err == nil && try.Wait > 0 {
		err = errTooManyMails
	}
	return try, err
}

// sendLater calls write after the answer to the request of ctx, and sends the mail that
// write returns. Let write do the work that differs between a known address and an
// unknown one, so that the answer takes the same time for both. If write returns the zero
// outgoing or ErrNotFound, nothing is sent. Each call counts for the client, also if
// nothing is sent, unless the mail is a notice. Other errors are logged.
func (p *mails) sendLater(ctx context.Context, by asker, write func(context.Context) (outgoing, error)) {
	p.runLater(ctx, "a mail", func(ctx context.Context) error {
		m, err := write(ctx)
		if !m.Kind.isNotice() {
			try, full := p.limits.Take(ctx, p.limits.Asked(by.Requester))
			if full == nil && try.Wait > 0 && m.Kind != "" {
				full = errTooManyMails
			}
			err = cmp.Or(err, full)
		}
		if err != nil || m.Kind == "" {
			return failure.Ignoring(err, ErrNotFound)
		}
		by.isCounted = true
		return p.send(ctx, m, by)
	})
}

// runLater runs f after the answer to the request of ctx: by Runtime.Background, or else
// by the pool of the process, which drops f if it is full. The context of f has the
// values of ctx and no deadline; it ends with the context that Background gives. A
// dropped f, an error and a panic are logged under name.
func (p *mails) runLater(ctx context.Context, name string, f func(context.Context) error) {
	values := context.WithoutCancel(ctx)
	run := func(given context.Context) {
		own, cancel := context.WithCancel(values)
		defer cancel()
		defer context.AfterFunc(given, cancel)()
		if err := guarded.Contain(func() error { return f(own) }); err != nil {
			p.log.Error(own, journal.NoSubject{}, err, "after the answer", name)
		}
	}
	if p.background != nil {
		if err := guarded.Contain(func() error { p.background(run); return nil }); err != nil {
			p.log.Error(values, journal.NoSubject{}, err, "after the answer", name)
		}
		return
	}
	if !p.pool.Go(func() { run(context.Background()) }) {
		p.log.Warn(values, "too much is waiting to be done after answers, so that it was dropped", "what", name)
	}
}
