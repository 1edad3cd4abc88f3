package latchkey

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/jwt"
)

const (
	linkMaxAge     = 24 * time.Hour
	hardLinkMaxAge = 10 * time.Minute
)

// emailProvider is an Email made ready.
type emailProvider struct {
	Email
	secret string // what stored hashes are made over
}

func (p *Email) prepare(s *setup, _ func(string) string) (provider, error) {
	e := &emailProvider{*p, firstOf(p.Secret, s.secret)}
	setDefault(&e.ID, "email")
	setDefault(&e.Name, "Email")
	if s.Hardened {
		e.ConfirmLink = true
		setDefault(&e.MaxAge, hardLinkMaxAge)
	}
	setDefault(&e.MaxAge, linkMaxAge)
	if e.MaxAge > linkMaxAge {
		s.log.warn("links that sign people in live longer than 24 hours", "provider", e.ID)
	}
	if e.MaxAge < 0 {
		return e, ErrInvalidProvider.at(e.ID, errors.New("Email.MaxAge must not be negative; zero is 24 hours"))
	}
	if e.Normalize == nil {
		e.Normalize = normalizeAddress
	}
	if e.NewToken == nil {
		e.NewToken = func() (string, error) { return randomHex(32), nil }
	}
	if p.Send == nil {
		return e, ErrInvalidProvider.at(e.ID, errors.New("set Email.Send to a function that delivers the link, such as one of module mail"))
	}
	return e, nil
}

func (p *emailProvider) info() providerInfo {
	return providerInfo{p.ID, p.Name, TypeEmail, p.Style, nil}
}

func (p *emailProvider) secrets() []string { return []string{p.Secret} }

// begin sends a link. What a stranger sees does not depend on whether the
// address is known.
func (p *emailProvider) begin(ctx context.Context, v *visit) (*Response, error) {
	address, err := p.address(v.field("email"))
	if err != nil {
		return nil, ErrEmailSignIn.at(p.ID, err)
	}
	if err := p.ask(ctx, v, address); err != nil {
		return nil, err
	}
	sent := &Response{Redirect: v.url("verify-request?provider=" + url.QueryEscape(p.ID) + "&type=email")}
	if ok, err := v.limiter.admitMail(ctx, v, address); err != nil || !ok {
		return sent, v.emailError(p, err)
	}
	return sent, v.emailError(p, p.deliver(ctx, v, address))
}

func (v *visit) emailError(p *emailProvider, err error) error {
	if err == nil {
		return nil
	}
	return ErrEmailSignIn.at(p.ID, err)
}

// address decides which mailbox is meant, before anything else happens.
func (p *emailProvider) address(typed string) (string, error) {
	if len(typed) > 1024 {
		return "", errAddress
	}
	address, err := containResult(func() (string, error) { return p.Normalize(typed) })
	if err != nil {
		return "", err
	}
	return address, checkAddress(address)
}

// ask tells the application that a link is about to be sent.
func (p *emailProvider) ask(ctx context.Context, v *visit, address string) error {
	known, err := found(v.store.userByEmail(ctx, address))
	if err != nil {
		return ErrEmailSignIn.at(p.ID, err)
	}
	u := User{ID: newUserID(), Email: address}
	if known != nil {
		u = *known
	}
	account := p.account(address)
	account.UserID = u.ID
	return v.mayEnter(ctx, SignInAttempt{User: u, Account: account, VerificationRequest: true})
}

func (p *emailProvider) account(address string) Account {
	return Account{Provider: p.ID, ProviderAccountID: address, Type: TypeEmail}
}

// deliver stores the link's hash and then sends the link; one that could not be
// sent is void.
func (p *emailProvider) deliver(ctx context.Context, v *visit, address string) error {
	token, err := containResult(p.NewToken)
	if err != nil {
		return err
	}
	v.learned = append(v.learned, token)
	expires := v.now().Add(p.MaxAge).UTC().Truncate(time.Millisecond)
	row := VerificationToken{Identifier: address, Token: hashWith(token, p.secret), Expires: expires}
	if err := v.store.createVerificationToken(ctx, row); err != nil {
		return err
	}
	link := SignInLink{
		To: address, From: p.From, URL: p.link(v, token, address), Token: token,
		Expires: expires, Provider: p.ID, Theme: v.Theme, Request: v.request,
	}
	if err := contain(func() error { return p.Send(ctx, link) }); err != nil {
		cleanup, cancel := background(ctx, v.Limits.Store)
		defer cancel()
		_, gone := v.store.useVerificationToken(cleanup, row.Identifier, row.Token)
		if errors.Is(gone, ErrNotFound) {
			gone = nil
		}
		return errors.Join(errors.New(v.blot(err.Error())), gone) // a mailer may repeat the link
	}
	if p.SameBrowser {
		return p.bind(v, row.Token)
	}
	return nil
}

func (p *emailProvider) link(v *visit, token, address string) string {
	return v.url("callback/" + p.ID + "?callbackUrl=" + url.QueryEscape(v.callbackURL) +
		"&token=" + url.QueryEscape(token) + "&email=" + url.QueryEscape(address))
}

// bind makes a browser the only one that can use the link.
func (p *emailProvider) bind(v *visit, hash string) error {
	k := &v.kinds.link
	sealed, err := k.codec.SealClaims(jwt.Claims{"value": hash, "provider": p.ID, "purpose": "email-link"}, v.now(), p.MaxAge)
	if err != nil {
		return err
	}
	v.setCookie(k.make(sealed, v.soon(p.MaxAge)))
	return nil
}

func (p *emailProvider) isBound(v *visit, hash string) bool {
	k := &v.kinds.link
	value, _ := v.cookieValue(k)
	claims, err := k.codec.OpenClaims(value, v.now(), p.MaxAge)
	return err == nil && claims.String("purpose") == "email-link" && claims.String("provider") == p.ID && equalText(claims.String("value"), hash)
}

// receive spends a link.
func (p *emailProvider) receive(ctx context.Context, v *visit) (*arrival, error) {
	if isPrefetch(v.request.Header) {
		return nil, RespondWith(&Response{Status: http.StatusForbidden, Header: http.Header{"Cache-Control": {"no-store"}}})
	}
	token, address := v.query.Get("token"), v.query.Get("email")
	if p.ConfirmLink {
		if !v.isPost() {
			return nil, p.confirm(v, token, address)
		}
		if !v.csrfVerified {
			return nil, ErrMissingCSRF.at(p.ID, errors.New("the confirmation has no valid csrfToken"))
		}
		token, address = firstOf(v.field("token"), token), firstOf(v.field("email"), address)
	}
	if token == "" {
		return nil, ErrInvalidConfig.at(p.ID, errors.New("the link has no token"))
	}
	hash := hashWith(token, p.secret)
	if p.SameBrowser && !p.isBound(v, hash) {
		return nil, ErrVerification.at(p.ID, errors.New("the link was asked for in another browser"))
	}
	row, err := v.store.useVerificationToken(ctx, address, hash)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, ErrVerification.at(p.ID, errors.New("the link is unknown or was used"))
	case err != nil:
		return nil, err
	case row.Identifier != address || address == "":
		return nil, ErrVerification.at(p.ID, errors.New("the link belongs to another address"))
	case !v.now().Before(row.Expires):
		return nil, ErrVerification.at(p.ID, errors.New("the link has expired"))
	}
	return &arrival{
		user:          User{Email: row.Identifier},
		account:       p.account(row.Identifier),
		provesEmail:   true,
		emailVerified: true,
	}, nil
}

// isPrefetch tells browsers that only look ahead.
func isPrefetch(h http.Header) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		if strings.Contains(strings.ToLower(h.Get(name)), "prefetch") {
			return true
		}
	}
	return false
}

// confirm shows the button that spends the link.
func (p *emailProvider) confirm(v *visit, token, address string) error {
	done, err := v.pages.Confirm(page.Confirm{
		CSRFToken: v.csrf,
		Action:    v.path("callback/" + p.ID),
		Email:     shownAddress(address),
		Hidden:    []page.Hidden{{Name: "token", Value: token}, {Name: "email", Value: address}, {Name: "callbackUrl", Value: v.callbackURL}},
	})
	if err != nil {
		return err
	}
	return RespondWith(pageResponse(done))
}

// shownAddress is an address from a link, if it is one.
func shownAddress(address string) string {
	if checkAddress(address) != nil {
		return ""
	}
	return address
}
