package latchkey

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/passwords"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/users"
)

// Users reads and changes users, their accounts, passkeys and sessions, with or without a
// request: Get, Accounts, Unlink, Sessions, EndSessions, Delete and others. Every
// method needs Config.Adapter. Its methods are documented in package users.
type Users = users.Users

// AccountRef names one account of one user: UserID, Provider and
// ProviderAccountID.
type AccountRef = users.AccountRef

// Users returns what the application can do with users, their accounts and their
// sessions, with or without a request. In a handler behind a guard, pass r.Context():
// methods whose comment says "except the one of ctx" then spare the session of the request.
func (a *Auth) Users() *Users { return users.New(usersBackend{a}) }

// usersBackend lets package users work on the directory of a site.
type usersBackend struct{ auth *Auth }

// Open returns the directory of the tenant that ctx names, or ErrMissingAdapter.
func (b usersBackend) Open(ctx context.Context) (*directory.Work, error) {
	s, err := setupWithStore(ctx, b.auth)
	if err != nil {
		return nil, err
	}
	w := &directory.Work{Directory: s.directory, Cursors: s.cursors, ActsAs: s.acting != nil, Events: &directory.Outbox{Hears: (*listeners)(&s.config.Events)}}
	if state := stateIn(ctx); state != nil && state.concerns(b.auth) {
		w.SessionID = state.sessionID()
	}
	if s.config.keepsEvents() {
		w.Events.Base, w.Events.Audit = &Event{Time: s.now().UTC(), Tenant: s.tenant, By: event.ActorIn(ctx)}, s.table
	}
	w.Tell = func(ctx context.Context) { s.tell(ctx, w.Events, journal.NoSubject{}) }
	w.MailReset = func(ctx context.Context, u *User) { mailFactorsReset(ctx, s, u) }
	return w, nil
}

// mailFactorsReset mails the owner of an account, after the answer, that an administrator
// has removed its second factors. It does nothing if the site sends no mails or has no
// Site.URL, or if the user has no proven address.
func mailFactorsReset(ctx context.Context, s *setup, u *User) {
	if s.mails.mail.Send == nil || s.trust.origin.Text == "" || u.Email == "" || u.EmailVerified.IsZero() {
		return
	}
	l := ownLinks(s)
	m := outgoing{Message: Message{Kind: MessageFactorsReset, To: u.Email, URL: l.home()}, UserID: u.ID}
	if s.config.AccountPage.Enabled {
		m.URL = l.url("account")
	}
	s.mails.sendLater(ctx, asker{language: s.config.Texts.Languages[0]}, func(context.Context) (outgoing, error) { return m, nil })
}

// Passwords returns what passwords need, without a request. It returns ErrMissingAdapter
// or ErrInvalidConfig on a site without passwords, and with mails on one without
// Site.URL.
func (b usersBackend) Passwords(ctx context.Context, mails bool) (*users.Keeper, error) {
	s, err := setupWithStore(ctx, b.auth)
	if err == nil && s.passwords == nil {
		err = failure.Wrap(ErrInvalidConfig, failure.Of(fault.ConfigProvider, errors.New("there is no Password among Config.Providers")))
	}
	if err != nil {
		return nil, err
	}
	return keeperOf(ctx, s, s.passwords, mails)
}

// Moves returns what changes of addresses need. It returns ErrMissingAdapter or
// ErrInvalidConfig on a site where addresses do not change, and on one without Site.URL.
func (b usersBackend) Moves(ctx context.Context) (*users.Keeper, error) {
	s, err := setupWithStore(ctx, b.auth)
	if err == nil && s.moves == nil {
		err = failure.Wrap(ErrInvalidConfig, failure.Of(fault.ConfigInvalid, errors.New("addresses do not change here: set AccountPage.Enabled, and EditEmail in AccountPage.Edit, or add a Password to Config.Providers")))
	}
	if err != nil {
		return nil, err
	}
	return keeperOf(ctx, s, s.moves, true)
}

// keeperOf returns flows for calls without a request. Without Site.URL no link in a mail could
// lead back: with mails that is ErrInvalidConfig, and without mails From then mails nothing.
func keeperOf(ctx context.Context, s *setup, flows *passwords.Flows, mails bool) (*users.Keeper, error) {
	if mails && s.trust.origin.Text == "" {
		return nil, failure.Wrap(ErrInvalidConfig, failure.Of(fault.ConfigInvalid, errors.New("set Site.URL: links in mails lead there")))
	}
	l := s.links
	l.origin = s.trust.origin
	by := asker{language: s.config.Texts.Languages[0]}
	return &users.Keeper{Flows: flows, Host: l.origin.Host(), From: passwords.Asker{
		Requester: func(string) limit.Requester { return limit.Requester{} },
		Mail: func(write func(context.Context) (passwords.Mail, error)) {
			if l.origin.Text != "" {
				mailLater(ctx, s.mails, by, &l, flows.Provider, write)
			}
		},
	}, Send: func(ctx context.Context, m passwords.Mail) error {
		return mailFailure(s.mails.send(ctx, wordedMail(&l, flows.Provider, m), by))
	}}, nil
}

// mailFailure returns err, of a mail that was not sent, as an ErrEmailSignIn: with the Code
// limit for one too many. It returns nil for nil.
func mailFailure(err error) error {
	switch {
	case errors.Is(err, errTooManyMails):
		return &Error{Type: ErrEmailSignIn, Code: "limit", Detail: fault.LimitMails, Err: err}
	case err == nil || errors.Is(err, ErrEmailSignIn):
		return err
	}
	return failure.Wrap(ErrEmailSignIn, err)
}

// SignInLink mails a user a link that signs them in, and leads to redirectTo, a path of
// the site; empty: the home page. A site that cannot mail one is ErrMissingAdapter or
// ErrInvalidConfig, and any other redirectTo an InputError.
func (b usersBackend) SignInLink(ctx context.Context, u *User, redirectTo string) error {
	s, err := setupWithStore(ctx, b.auth)
	if err != nil {
		return err
	}
	p := linkMailer(s)
	l := s.links
	l.origin = s.trust.origin
	switch {
	case p == nil:
		return failure.Wrap(ErrInvalidConfig, errors.New("there is no Email among Config.Providers whose links open in any browser"))
	case l.origin.Text == "":
		return failure.Wrap(ErrInvalidConfig, errors.New("set Site.URL: links in mails lead there"))
	case redirectTo != "" && !weburl.IsPath(redirectTo):
		return &users.InputError{Field: "RedirectTo", Problem: "it is no path of the site"}
	}
	return p.mailLink(ctx, &l, u, l.absolute(cmp.Or(redirectTo, "/")))
}

// linkMailer returns the first provider that mails links for any browser, or nil.
func linkMailer(s *setup) *emailProvider {
	for _, p := range s.order {
		if e, is := p.(*emailProvider); is && !e.SameBrowser {
			return e
		}
	}
	return nil
}

// Mails reports which mails the site can send without a request: sign-in links, and links
// that reset passwords. Both are false if that cannot be known.
func (b usersBackend) Mails(ctx context.Context) (links, resets bool) {
	s, err := setupWithStore(ctx, b.auth)
	if err != nil || s.trust.origin.Text == "" {
		return false, false
	}
	return linkMailer(s) != nil, s.passwords != nil
}

// Inviter returns what invitations need. Its Link is nil without Site.URL, and its Mail
// if the site sends no mails. It returns ErrMissingAdapter or, without Invitations,
// ErrInvalidConfig.
func (b usersBackend) Inviter(ctx context.Context) (*users.Inviter, error) {
	s, err := setupWithStore(ctx, b.auth)
	if err == nil && !s.config.Invitations {
		err = failure.Wrap(ErrInvalidConfig, errors.New("set Config.Invitations"))
	}
	if err != nil {
		return nil, err
	}
	l, by := s.links, asker{language: s.config.Texts.Languages[0]}
	l.origin = s.trust.origin
	in := &users.Inviter{}
	if l.origin.Text != "" {
		in.Link = func(token string) string { return l.url("invite?token=" + token) }
	}
	if s.mails.mail.Send != nil {
		in.Mail = func(ctx context.Context, to, url string, expires time.Time) error {
			return mailFailure(s.mails.send(ctx, outgoing{Message: Message{Kind: MessageInvitation, To: to, URL: url, Expires: expires}}, by))
		}
	}
	return in, nil
}

// Vault returns what keeps the tokens of the tenant that ctx names, or the error of
// hasVault.
func (b usersBackend) Vault(ctx context.Context) (*vault.Vault, error) {
	s, err := setupWithStore(ctx, b.auth)
	if err != nil {
		return nil, err
	}
	return s.vault, hasVault(s)
}

// setupWithStore returns the setup for work without a request, or ErrMissingAdapter if it
// has no Adapter.
func setupWithStore(ctx context.Context, a *Auth) (*setup, error) {
	s, err := a.setupIn(ctx)
	if err != nil {
		return nil, failure.Public(err)
	}
	if s.store == nil {
		return nil, failure.Wrap(ErrMissingAdapter, errors.New("set Config.Adapter"))
	}
	return s, nil
}
