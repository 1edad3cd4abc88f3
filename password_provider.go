package latchkey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/passwords"
	"github.com/latchkeyhq/latchkey/jwt"
)

// resetMaxAge is how long a link to a new password works.
const resetMaxAge = 30 * time.Minute

// passwordProvider is a Password made ready.
type passwordProvider struct {
	Password
	about providerInfo
	flows *passwords.Flows
}

func (p *Password) prepare(s *setup, _ func(string) string) (preparedProvider, error) {
	c := &passwordProvider{Password: *p}
	var faults failure.List
	if c.Derive != nil {
		if err := c.Derive(&c.Password); err != nil {
			faults = append(faults, failure.WrapFor(ErrInvalidProvider, "password", err))
		}
	}
	fill.Default(&c.ID, "password")
	fill.Default(&c.Name, "Password")
	fill.Default(&c.LinkMaxAge, resetMaxAge)
	c.Fields = slices.Clone(c.Fields)
	c.about = providerInfo{
		id: c.ID, name: c.Name, given: p.Name, kind: TypeCredentials, style: c.Style, start: "callback/", account: "email", provesEmail: true,
		fields: []Field{{Name: "email", Type: "email", Autocomplete: "username", Required: true}, {Name: "password", Type: "password", Required: true}},
		needs:  []directory.Ability{directory.AbilityPasswords, directory.AbilityChallenges, directory.AbilityBrowsers},
	}
	refuse := func(if_ bool, format string, args ...any) {
		if if_ && len(faults) == 0 {
			faults = append(faults, failure.WrapFor(ErrInvalidProvider, c.ID, fmt.Errorf(format, args...)))
		}
	}
	refuse(c.Hasher == nil || c.Weakness == nil, "set Password.Hasher and Weakness: password.Provider of module password fills them in")
	refuse(c.MinLength < 8, "Password.MinLength is %d: want 8 or more", c.MinLength)
	refuse(c.LinkMaxAge < 0 || c.LinkMaxAge > linkMaxAge, "Password.LinkMaxAge is %v: want at most %v; zero is %v", c.LinkMaxAge, linkMaxAge, resetMaxAge)
	refuse(c.AllowUnverified && s.config.Hardened, "Password.AllowUnverified does not go with Hardened: leave one of the two out")
	refuse(c.SignUp < SignUpOpen || c.SignUp > SignUpInvited, "Password.SignUp is %d: want SignUpOpen, SignUpClosed or SignUpInvited", c.SignUp)
	refuse(c.SignUp == SignUpInvited && !s.config.Invitations, "Password.SignUp is SignUpInvited: set Config.Invitations too")
	refuse(s.config.passwords > 1, "there are several Password providers: configure one")
	for _, f := range c.Fields {
		refuse(f.Name == "" || slices.Contains([]string{"email", "password", "csrfToken", "callbackUrl", "do", "token"}, f.Name), "Password.Fields: %q is empty or a name of the library's own", f.Name)
	}
	if s.config.Hardened && c.MinLength < 15 {
		s.log.WarnAtStart("Password.MinLength is below 15, which NIST SP 800-63B-4 asks for where a password alone signs users in", "provider", c.ID)
	}
	return c, errors.Join(faults...)
}

// given returns the configured Password.
func (p *passwordProvider) given() *Password { return &p.Password }

// use has the provider work by f.
func (p *passwordProvider) use(f *passwords.Flows) { p.flows = f }

func (p *passwordProvider) info() *providerInfo { return &p.about }

// begin leads to the form.
func (p *passwordProvider) begin(_ context.Context, x *exchange) (outcome, error) {
	return outcome{response: &Response{Redirect: x.url("signin")}}, nil
}

// receive checks what was typed. Every failure looks the same (F-081).
func (p *passwordProvider) receive(ctx context.Context, x *exchange) (outcome, error) {
	if !x.isPost() {
		return outcome{}, failure.Wrap(ErrUnknownAction, failure.Of(fault.RequestUnknown, errors.New("a password comes by POST")))
	}
	if !x.csrfVerified {
		return outcome{}, noCSRF(x.request.Header, x.origin.Text)
	}
	typed := x.field("password")
	email, err := typedMailbox(x.field("email"), mailbox.Normalize)
	if err != nil || typed == "" || len(typed) > longestField {
		return outcome{}, CredentialsError("")
	}
	shown, err := p.flows.Check(ctx, email, typed, p.asker(ctx, x.setup, &x.visit, &x.links))
	switch {
	case err != nil:
		return outcome{}, failure.WrapFor(failure.TypeOf(err), p.ID, err)
	case shown.Wait > 0:
		return outcome{}, failure.WrapFor(ErrCredentialsSignin, p.ID, &tooManyTries{shown.Wait})
	}
	switch shown.Verdict {
	case passwords.Right:
		return outcome{assertion: p.assertion(&shown.User)}, nil
	case passwords.Unproven:
		return outcome{response: p.checkMail(&x.visit, &x.links, email, "email")}, nil
	case passwords.Renewable:
		link, err := p.flows.Reset(ctx, &shown.User, passwords.MailRenew)
		return outcome{response: &Response{Redirect: wordedMail(&x.links, p.ID, link).URL}}, err
	case passwords.Closed:
		return outcome{response: p.checkMail(&x.visit, &x.links, email, "reset")}, nil
	}
	return outcome{}, CredentialsError("")
}

// assertion returns what a right password says.
func (p *passwordProvider) assertion(u *User) *directory.Assertion {
	return &directory.Assertion{
		Person: *u, UserID: u.ID, Counted: true,
		Account: Account{UserID: u.ID, Provider: p.ID, ProviderAccountID: u.ID, Type: TypeCredentials},
	}
}

// checkMail leads to the page that says where to look for a mail. about is email, or
// reset.
func (p *passwordProvider) checkMail(v *visit, l *links, email, about string) *Response {
	leaveSent(v, p.ID, email)
	return &Response{Redirect: l.url("verify-request?provider=" + p.ID + "&type=" + about)}
}

// asker returns the client of a request, as the flows know it.
func (p *passwordProvider) asker(ctx context.Context, s *setup, v *visit, l *links) passwords.Asker {
	own := *l // which outlives the request
	own.origin.Text = strings.Clone(l.origin.Text)
	by := askerOf(ctx, s, v)
	return passwords.Asker{
		Requester: func(userID string) limit.Requester {
			who := s.requesterOf(ctx, v, nil)
			if k := v.cookies.Known(s.tenant, v.now()); k.ID != "" && isKnownFor(ctx, s, k, userID) { // counts without limits, too
				who.Browser = k.ID
			}
			return who
		},
		Mail: func(write func(context.Context) (passwords.Mail, error)) {
			mailLater(ctx, s.mails, by, &own, p.ID, write)
		},
	}
}

// passwordsOf returns the provider of passwords, or nil.
func passwordsOf(s *setup) *passwordProvider {
	if s.passwords == nil {
		return nil
	}
	p, _ := s.providers[s.passwords.Provider].(*passwordProvider)
	return p
}

// mailProvider returns the first provider of magic links, or nil.
func mailProvider(s *setup) *emailProvider {
	for _, p := range s.order {
		if e, is := p.(*emailProvider); is {
			return e
		}
	}
	return nil
}

// keepKnown makes a browser known anew in which its user has just set a password: an
// attacker who keeps the budget of unknown browsers full cannot keep the user out.
func (p *passwordProvider) keepKnown(ctx context.Context, s *setup, v *visit, userID string) error {
	at := s.revocations.IssueTime(userID, s.now())
	return rememberBrowser(ctx, s, v, userID, "", at, false)
}

// purposeSignUp marks the cookie of the browser that began a sign-up.
const purposeSignUp = "password-signup"

// signUpMaxAge is how long a browser keeps that cookie.
const signUpMaxAge = time.Hour

// markBrowser has a browser keep which sign-up it has begun.
func (p *passwordProvider) markBrowser(v *visit, mark string) error {
	k, now := &v.cookies.Specs.Link, v.now()
	sealed, err := k.Codec.SealClaims(jwt.Claims{"value": mark, "provider": p.ID, "purpose": purposeSignUp}, now, signUpMaxAge)
	if err == nil {
		v.cookies.Set(k.New(sealed, now.Add(signUpMaxAge)))
	}
	return err
}

// markOf returns the sign-up that a browser has begun, or "".
func (p *passwordProvider) markOf(v *visit) string {
	k := &v.cookies.Specs.Link
	value, _ := v.cookies.Value(k)
	claims, err := k.Codec.OpenClaims(value, v.now(), signUpMaxAge)
	if err != nil || claims.String("purpose") != purposeSignUp || claims.String("provider") != p.ID {
		return ""
	}
	return claims.String("value")
}
