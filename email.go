package latchkey

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	challenges "github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/redact"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/watch"
	"github.com/latchkeyhq/latchkey/storage"
)

const (
	linkMaxAge = 24 * time.Hour
	// longestTyped is the longest text that is looked at for an e-mail address.
	longestTyped = 1024
)

// emailProvider is a prepared [Email]: checked, and with its defaults.
type emailProvider struct {
	Email
	setup       *setup
	about       providerInfo
	hashSecret  string // what stored hashes are made over
	shortTokens bool   // NewToken makes some that could be guessed if tries were not few
	newest      *limit.Newest
	codes       *challenges.Rows // nil: mails have no codes
}

func (p *Email) prepare(s *setup, getenv func(string) string) (preparedProvider, error) {
	e := &emailProvider{Email: *p, setup: s, hashSecret: s.bind(cmp.Or(p.Secret, s.csrfSecret))}
	fill.Default(&e.ID, "email")
	fill.Default(&e.Name, "Email")
	s.config.hardenEmail(&e.Email)
	fill.Default(&e.MaxAge, linkMaxAge)
	e.about = providerInfo{
		id: e.ID, name: e.Name, given: p.Name, kind: TypeEmail, style: e.Style, secret: p.Secret, start: "signin/", provesEmail: true,
		needs: []directory.Ability{directory.AbilityVerification},
	}
	if s.trust.origin.Text == "" && len(s.trust.AllowedHosts) == 0 {
		s.log.WarnAtStart("links in mails lead to whatever host a request names: set Site.URL (AUTH_URL) or Site.AllowedHosts", "provider", e.ID)
	}
	if e.MaxAge > linkMaxAge {
		s.log.WarnAtStart("links that sign people in live longer than 24 hours", "provider", e.ID)
	}
	if e.MaxAge < 0 {
		return e, failure.WrapFor(ErrInvalidProvider, e.ID, errors.New("Email.MaxAge must not be negative; zero is 24 hours"))
	}
	if e.Normalize == nil {
		e.Normalize = mailbox.Normalize
	}
	if err := e.checkTokens(s.limits); err != nil {
		return e, failure.WrapFor(ErrInvalidProvider, e.ID, err)
	}
	if err := e.prepareCode(); err != nil {
		return e, failure.WrapFor(ErrInvalidProvider, e.ID, err)
	}
	e.newest = limit.NewNewest(sharedRevocations(s), s.bounds, s.now, s.keys)
	var err error
	if e.Send == nil && e.NewSend != nil {
		e.Send, err = e.NewSend(getenv)
	}
	if err != nil {
		return e, failure.WrapFor(ErrInvalidProvider, e.ID, err)
	}
	if e.Send == nil {
		return e, failure.WrapFor(ErrInvalidProvider, e.ID, errors.New("set Email.Send to a function that delivers the link, such as one of module mail"))
	}
	return e, nil
}

// separateEmails makes each link useless at other providers, which may count fewer tries
// and ask for no button: if several hash with one secret, it adds the id of each to its
// hashSecret. A provider alone with its secret hashes as Auth.js does.
func separateEmails(all []preparedProvider) {
	bySecret := map[string][]*emailProvider{}
	for _, p := range all {
		if e, ok := p.(*emailProvider); ok {
			bySecret[e.hashSecret] = append(bySecret[e.hashSecret], e)
		}
	}
	for _, several := range bySecret {
		if len(several) == 1 {
			continue
		}
		for _, e := range several {
			e.hashSecret += "\x00\x00" + e.ID // one \x00 stands before a tenant
		}
	}
}

// mailOf returns Config.Mail. An empty Send or From is that of the first Email that has one.
func mailOf(s *setup) Mail {
	m := s.config.Mail
	for _, p := range s.order {
		if e, ok := p.(*emailProvider); ok {
			if m.Send == nil {
				m.Send = e.Send
			}
			m.From = cmp.Or(m.From, e.From)
		}
	}
	return m
}

func (p *emailProvider) info() *providerInfo { return &p.about }

// begin mails a link, and redirects to the page that says so. If a limit is reached, it mails
// none and answers alike. The answer does not tell whether the address is known.
func (p *emailProvider) begin(ctx context.Context, x *exchange) (outcome, error) {
	email, err := typedMailbox(x.field("email"), p.Normalize)
	if err != nil {
		return outcome{}, failure.WrapFor(ErrEmailSignIn, p.ID, &unusable{failure.Of(fault.MailAddress, err)})
	}
	user, err := p.ask(ctx, x, email)
	if err != nil {
		return outcome{}, err
	}
	who := x.setup.requesterOf(ctx, &x.visit, func(k browser.Known) bool { return isKnownFor(ctx, x.setup, k, user.ID) })
	wait, err := p.countMail(ctx, email, who)
	switch {
	case err != nil:
	case wait > 0:
		x.setup.log.Error(ctx, x, failure.WrapFor(ErrEmailSignIn, p.ID, &failure.Mistake{Err: failure.Of(fault.LimitMails, errors.New("too many links asked for"))}))
		err = p.keepDecoy(&x.visit)
	default:
		if err = p.deliver(ctx, x, email, x.setup.revocations.IssueTime(user.ID, x.now()), who); err == nil {
			x.events.Add(Event{Type: event.LinkSent, Provider: p.ID}, nil)
		}
	}
	if err != nil {
		return outcome{}, failure.WrapFor(ErrEmailSignIn, p.ID, err)
	}
	leaveSent(&x.visit, p.ID, email)
	return outcome{response: &Response{Redirect: x.url("verify-request?provider=" + url.QueryEscape(p.ID) + "&type=email")}}, nil
}

// typedMailbox returns the normal form of a typed text, or an error if it is no address.
func typedMailbox(typed string, normalize func(string) (string, error)) (string, error) {
	if len(typed) > longestTyped {
		return "", mailbox.ErrInvalid
	}
	email, err := guarded.ContainResult(func() (string, error) { return normalize(typed) })
	if err == nil {
		email, err = mailbox.Canonical(email) // the application's own function may know nothing of it
	}
	if err != nil {
		return "", err
	}
	return email, mailbox.Check(email)
}

// ask has Callbacks.SignIn decide about a link that is to be sent. It returns the user
// that the link is for, with a new id if the e-mail address is unknown.
func (p *emailProvider) ask(ctx context.Context, x *exchange, email string) (User, error) {
	known, err := guarded.Optional(x.setup.store.UserByEmail(ctx, email))
	if err != nil {
		return User{}, failure.WrapFor(ErrEmailSignIn, p.ID, err)
	}
	u := User{ID: secret.NewUserID(), Email: email}
	if known != nil {
		u = *known
	}
	account := p.account(email)
	account.UserID = u.ID
	return u, x.runSignInCallback(ctx, SignInAttempt{User: u, Account: account, VerificationRequest: true})
}

// deliver stores the hash of a new link, mails the link, and sets the browser's cookies.
// A link that could not be sent is void. Links expire at issued plus MaxAge.
func (p *emailProvider) deliver(ctx context.Context, x *exchange, email string, issued time.Time, who limit.Requester) error {
	token, err := p.freshToken()
	if err != nil {
		return err
	}
	x.hide(token)
	expires := issued.Add(p.MaxAge).UTC().Truncate(time.Millisecond)
	row := storage.VerificationToken{Identifier: email, Token: secret.HashWith(token, p.hashSecret), Expires: expires}
	if err := x.setup.store.CreateVerificationToken(ctx, row); err != nil {
		return err
	}
	if p.hasManyCodes() {
		if err := p.newest.Send(ctx, email, expires); err != nil {
			return err
		}
	}
	handle, code, err := p.newCode(ctx, x.callbackURL, &row, who)
	if err != nil {
		return err
	}
	x.hide(code)
	message := Message{
		Kind: MessageSignIn, To: email, From: p.From, URL: p.link(&x.links, x.callbackURL, token, email), Token: token, Code: code,
		Expires: expires, Provider: p.ID, Theme: x.setup.config.Theme,
		Language: x.setup.languageOf(ctx, &x.visit), Texts: x.setup.config.Texts, Request: x.request,
	}
	err = x.setup.ask(ctx, x.setup.config.Limits.MailTimeout, mailCall, func(ctx context.Context) error { return p.Send(ctx, message) })
	if watch.Mail(ctx, x.setup.log, &x.setup.health.Mail, string(message.Kind), err); err != nil {
		cleanup, cancel := guarded.Background(ctx, x.setup.config.Limits.StoreTimeout)
		defer cancel()
		_, gone := x.setup.store.UseVerificationToken(cleanup, row.Identifier, row.Token)
		said := redact.Text(err.Error(), x.Secrets(), journal.LongestText) // a mailer may repeat the link
		return errors.Join(errors.New(said), failure.Ignoring(gone, ErrNotFound))
	}
	return p.keep(&x.visit, row.Token, handle)
}

// errUndelivered is the cause of a link that could not be sent. The log has more.
var errUndelivered = errors.New("the link could not be sent")

// mailLink mails u a link, without a code, that no browser asked for. to is its callback URL.
func (p *emailProvider) mailLink(ctx context.Context, l *links, u *User, to string) error {
	s := p.setup
	try, err := s.limits.Take(ctx, s.limits.Mail(u.Email, limit.Requester{}))
	if err == nil && try.Wait > 0 {
		err = &Error{Type: ErrEmailSignIn, Provider: p.ID, Code: "limit", Err: &failure.Mistake{Err: errors.New("too many mails to this mailbox")}}
	}
	if err != nil {
		return err
	}
	token, err := p.freshToken()
	if err != nil {
		return err
	}
	expires := s.revocations.IssueTime(u.ID, s.now()).Add(p.MaxAge).UTC().Truncate(time.Millisecond)
	row := storage.VerificationToken{Identifier: u.Email, Token: secret.HashWith(token, p.hashSecret), Expires: expires}
	if err := s.store.CreateVerificationToken(ctx, row); err != nil {
		return err
	}
	message := Message{
		Kind: MessageSignIn, To: u.Email, From: p.From, URL: p.link(l, to, token, u.Email), Token: token, Expires: expires, Provider: p.ID,
		Theme: s.config.Theme, Language: s.config.Texts.Languages[0], Texts: s.config.Texts,
	}
	err = s.ask(ctx, s.config.Limits.MailTimeout, mailCall, func(ctx context.Context) error { return p.Send(ctx, message) })
	if watch.Mail(ctx, s.log, &s.health.Mail, string(message.Kind), err); err == nil {
		return nil
	}
	_, gone := s.store.UseVerificationToken(context.WithoutCancel(ctx), row.Identifier, row.Token)
	return failure.WrapFor(ErrEmailSignIn, p.ID, errors.Join(errUndelivered, failure.Ignoring(gone, ErrNotFound)))
}

func (p *emailProvider) link(l *links, callbackURL, token, email string) string {
	return l.url("callback/" + p.ID + "?callbackUrl=" + url.QueryEscape(callbackURL) +
		"&token=" + url.QueryEscape(token) + "&email=" + url.QueryEscape(email))
}

// receive uses up a link or a code. With ConfirmLink it answers GET with the button for that.
func (p *emailProvider) receive(ctx context.Context, x *exchange) (outcome, error) {
	if isPrefetch(x.request.Header) {
		return outcome{response: &Response{Status: http.StatusForbidden, Header: http.Header{"Cache-Control": {"no-store"}}}}, nil
	}
	token, email := x.query.Get("token"), x.query.Get("email")
	if p.codes != nil && x.isPost() && token == "" && x.field("code") != "" {
		return p.receiveCode(ctx, x)
	}
	if *p.ConfirmLink {
		if !x.isPost() {
			res, err := p.confirm(ctx, x, token, email)
			return outcome{response: res}, err
		}
		if !x.csrfVerified {
			return outcome{}, failure.WrapFor(ErrMissingCSRF, p.ID, withOrigin(x.request.Header, x.origin.Text, errNoCSRF))
		}
		token, email = cmp.Or(x.field("token"), token), cmp.Or(x.field("email"), email)
	}
	if token == "" {
		return outcome{}, failure.WrapFor(ErrInvalidConfig, p.ID, &failure.Mistake{Err: failure.Of(fault.LinkBroken, errors.New("the link has no token"))})
	}
	row, err := p.redeem(ctx, &x.visit, token, email)
	if err != nil {
		return outcome{}, err
	}
	return p.proven(&row)
}

// redeem uses up the link of a token, and returns its row. It returns ErrVerification for
// a void link, and after too many tries. After a right try it takes back the counts of
// the try and of the mail.
func (p *emailProvider) redeem(ctx context.Context, v *visit, token, email string) (storage.VerificationToken, error) {
	limits := p.setup.limits
	e, err := p.redemption(ctx, v, email)
	if err != nil {
		return storage.VerificationToken{}, err
	}
	try, err := limits.Take(ctx, e)
	if err != nil {
		return storage.VerificationToken{}, err
	}
	if try.Wait > 0 {
		return storage.VerificationToken{}, failure.WrapFor(ErrVerification, p.ID, &tooManyTries{try.Wait})
	}
	row, err := p.use(ctx, v, token, email)
	if err == nil {
		if undo := errors.Join(limits.Return(ctx, try), limits.ReturnMail(ctx, row.Identifier)); undo != nil {
			p.setup.log.Error(ctx, v.about, failure.Wrap(ErrCallbackRoute, failure.Of(fault.AnswerLost, undo)))
		}
	}
	return row, err
}

// use uses up a token's link and counts no try. With SameBrowser it refuses other browsers.
func (p *emailProvider) use(ctx context.Context, v *visit, token, email string) (storage.VerificationToken, error) {
	hash := secret.HashWith(token, p.hashSecret)
	if bound := p.boundTo(v); p.SameBrowser && (bound == "" || !secret.Equal(bound, hash)) {
		return storage.VerificationToken{}, failure.WrapFor(ErrVerification, p.ID, failure.Of(fault.LinkElsewhere, errors.New("the link was asked for in another browser")))
	}
	return p.take(ctx, v, email, hash)
}

// isPrefetch reports whether a browser only loads a page ahead of its use.
func isPrefetch(h http.Header) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		if strings.Contains(strings.ToLower(h.Get(name)), "prefetch") {
			return true
		}
	}
	return false
}

// confirm shows the button that uses up the link.
func (p *emailProvider) confirm(ctx context.Context, x *exchange, token, email string) (*Response, error) {
	return pageResponse(x.setup.pagesFor(ctx, &x.visit).Confirm(page.Confirm{
		CSRFToken: x.csrfToken,
		Action:    x.path("callback/" + p.ID),
		Email:     shownEmail(email),
		Host:      x.origin.Host(),

		FormOrigins: x.setup.formOrigins(&x.links, x.callbackURL),
		Hidden:      []page.Hidden{{Name: "token", Value: token}, {Name: "email", Value: email}, {Name: "callbackUrl", Value: x.callbackURL}},
	}))
}
