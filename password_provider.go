package latchkey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	challenges "github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/passwords"
	"github.com/latchkeyhq/latchkey/internal/weburl"
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
		codeRoute: "password?do=verify", codeDigits: passwords.CodeDigits,
		fields: []Field{{Name: "email", Type: "email", Autocomplete: "username", Required: true}, {Name: "password", Type: "password", Required: true}},
		needs:  append(endsSessions(&s.config), directory.AbilityPasswords, directory.AbilityChallenges, directory.AbilityBrowsers),
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

// use sets the flows that the provider works with.
func (p *passwordProvider) use(f *passwords.Flows) { p.flows = f }

func (p *passwordProvider) info() *providerInfo { return &p.about }

// begin redirects to the sign-in page, which has the form.
func (p *passwordProvider) begin(_ context.Context, x *exchange) (outcome, error) {
	return outcome{response: &Response{Redirect: x.url("signin")}}, nil
}

// receive checks address and password. No failure shows whether an address is known (F-081).
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
	x.named = shown.User.ID
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
	case passwords.Closed, passwords.Stopped:
		return outcome{response: p.checkMail(&x.visit, &x.links, email, "reset")}, nil
	}
	return outcome{}, CredentialsError("")
}

// assertion returns the assertion of user u after a right password.
func (p *passwordProvider) assertion(u *User) *directory.Assertion {
	return &directory.Assertion{
		Person: *u, UserID: u.ID, Counted: true,
		Account: Account{UserID: u.ID, Provider: p.ID, ProviderAccountID: u.ID, Type: TypeCredentials},
	}
}

// checkMail leaves a flash message and returns a redirect to the page that says where to
// look for a mail. about is email, reset or move.
func (p *passwordProvider) checkMail(v *visit, l *links, email, about string) *Response {
	leaveSent(v, p.ID, email)
	return &Response{Redirect: l.url("verify-request?provider=" + p.ID + "&type=" + about)}
}

// asker does what mailAsker does.
func (p *passwordProvider) asker(ctx context.Context, s *setup, v *visit, l *links) passwords.Asker {
	return mailAsker(ctx, s, v, l)
}

// mailAsker returns the client of a request, as the flows of passwords and of changes of
// addresses know it. It may be used after the answer.
func mailAsker(ctx context.Context, s *setup, v *visit, l *links) passwords.Asker {
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
			mailLater(ctx, s.mails, by, &own, s.moves.Provider, write)
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

// resetKinds returns the kinds of second factor, beside the mailbox, of which the user
// proves one together with a reset link. It returns none if the user has none, or has a
// session in this browser whose newest proof is of one of these kinds, and recent.
func (p *passwordProvider) resetKinds(ctx context.Context, s *setup, v *visit, userID string) ([]FactorKind, error) {
	if !assures(s) {
		return nil, nil
	}
	held, err := s.directory.Factors.Held(ctx, s.store, &User{ID: userID})
	if err != nil {
		return nil, err
	}
	kinds := held.Kinds(s.config.Factors.Kinds, nil)
	if len(kinds) == 0 {
		return nil, nil
	}
	here, err := s.sessions.current(ctx, v)
	if err == nil && here != nil && here.user.ID == userID && factor.Meets(factor.Join(here.AMR, []string{factor.Email}), here.ACR, kinds...) && // beside the link
		held.ByFactor(here.AMR) && factor.IsRecent(laterOf(here.since, here.Proved), s.now(), s.config.Factors.Recent) {
		kinds = nil
	}
	return kinds, err
}

// errWrongFactor reports a second factor beside a reset link that does not fit.
var errWrongFactor = &Error{Type: ErrPassword, Code: "factor", Err: &failure.Mistake{Err: errors.New("the second factor is wrong, or was tried too often")}}

// provesReset checks the second factor that was typed beside a reset link. It returns what
// the factor uses up, and the tries for returnTries, also with an error. A wrong factor and
// too many tries are errWrongFactor. After five tries the link ends, with ErrVerification.
func (p *passwordProvider) provesReset(ctx context.Context, s *setup, v *visit, token string, of directory.Pending, typed string) (second *directory.Second, tries []limit.Try, err error) {
	v.hide(typed)
	if typed == "" {
		return nil, nil, errWrongFactor
	}
	known, err := s.directory.Factors.BrowserOf(ctx, v.cookies.Known(s.tenant, v.now()).ID, of.UserID)
	if err != nil {
		return nil, nil, err
	}
	kind, code := FactorTOTP, limit.Code{UserID: of.UserID}
	if factor.TypedRecovery(typed) != "" {
		kind, code.IsRecovery = FactorRecovery, true
	}
	if known != nil {
		code.Browser = known.PublicID
	}
	tries, wait, err := s.limits.TakeCode(ctx, code)
	if err == nil && wait > 0 {
		err = errWrongFactor
	}
	if err == nil {
		err = p.flows.Directory.TryReset(ctx, token)
	}
	if err != nil {
		return nil, tries, err
	}
	second, _, err = s.directory.Factors.CheckSecond(ctx, token, &of, directory.Shown{Kind: kind, Code: typed, IsKnown: known != nil})
	err = directory.ReturnReset(ctx, s.directory, token, err)
	if err == nil && second == nil {
		err = errWrongFactor
	}
	return second, tries, err
}

// keepKnown makes a browser known anew after its user has set a password in it: an
// attacker cannot keep the user out by keeping the budget of unknown browsers full.
func (p *passwordProvider) keepKnown(ctx context.Context, s *setup, v *visit, userID string) error {
	at := s.revocations.IssueTime(userID, s.now())
	return rememberBrowser(ctx, s, v, userID, "", at, false)
}

// typedPassword returns the new password of a form, and an ErrPassword if it is refused, or
// the fault of Weakness. about holds what the password must not be, such as the address.
func typedPassword(ctx context.Context, x *exchange, p *passwordProvider, about ...string) (string, error) {
	typed := x.field("password")
	about = append(about, x.origin.Host(), x.setup.config.Theme.Name)
	return typed, p.flows.Weakness(ctx, typed, about...)
}

// offerMaxAge is how long after a sign-in a passkey is offered.
const offerMaxAge = 5 * time.Minute

// mayOffer reports whether the user of a request is still to be offered a passkey.
func (p *passwordProvider) mayOffer(ctx context.Context, s *setup, v *visit) (bool, error) {
	here, err := s.sessions.current(ctx, v)
	if err != nil || here == nil || !p.OfferPasskey || here.provider != "" && here.provider != p.ID || !factor.IsRecent(here.since, v.now(), offerMaxAge) {
		return false, err
	}
	keys, err := s.store.ListAuthenticators(ctx, here.user.ID)
	if err != nil || len(keys) > 0 {
		return false, err
	}
	may, _, err := mayChange(ctx, s, v, here)
	return may, err
}

// offerPasskey offers a passkey to a user that has just signed in with the password. Any
// other browser goes where it was going.
func offerPasskey(ctx context.Context, x *exchange, p *passwordProvider) (*Response, error) {
	s, id := x.setup, passkeysOf(x.setup)
	may, err := p.mayOffer(ctx, s, &x.visit)
	switch {
	case err != nil:
		return nil, err
	case !may && asksForJSON(x.request):
		return asJSON(&Response{Redirect: x.callbackURL}), nil
	case !may:
		return &Response{Redirect: x.callbackURL}, nil
	case asksForJSON(x.request):
		body, err := json.Marshal(map[string]string{"provider": id, "url": x.callbackURL})
		return noStore(jsonBytes(http.StatusOK, body)), err
	case s.config.Pages.Password != "":
		return x.ownPage(s.config.Pages.Password, "do", string(page.OfferStep), "callbackUrl", x.callbackURL), nil
	}
	return pageResponse(s.pagesFor(ctx, &x.visit).Offer(page.Offer{
		CSRFToken: x.csrfToken, Provider: id, Action: x.url("callback/" + id), CallbackURL: x.callbackURL, Host: x.origin.Host(),
		FormOrigins: s.formOrigins(&x.links, x.callbackURL), Script: s.passkeyScript(&x.links),
	}))
}

// linkByCode returns the secret of the link whose code was typed. A wrong code is logged, and
// is no err: back then leads to the page with the field. about is email, reset or move.
func (p *passwordProvider) linkByCode(ctx context.Context, s *setup, v *visit, l *links, purpose, about, typed string) (token string, back *Response, err error) {
	v.hide(typed)
	token, err = p.flows.LinkByCode(ctx, purpose, v.cookies.MailCode(v.now(), challenges.CodeLife).Handle, typed, p.asker(ctx, s, v, l))
	if errors.Is(err, ErrVerification) {
		s.log.Error(ctx, v.about, err)
		back, err = &Response{Redirect: l.url("verify-request") + weburl.WithQuery("", "provider", p.ID, "type", about, "error", string(ErrVerification))}, nil
	}
	return token, back, err
}

// wrongCode returns the code of what is wrong with what was typed, or "".
func wrongCode(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Type == ErrPassword {
		return e.Code
	}
	if errors.Is(err, mailbox.ErrInvalid) {
		return "address"
	}
	return ""
}

// wrongJSON returns the JSON for a script of what is wrong with what was typed.
func wrongJSON(code string) *Response {
	body, _ := json.Marshal(map[string]string{"error": string(ErrPassword), "code": code}) // texts
	return jsonBytes(http.StatusUnprocessableEntity, body)
}

// signUpMaxAge is how long a browser keeps which sign-up it has begun.
const signUpMaxAge = time.Hour

// markBrowser has a browser keep which sign-up it has begun, and the handle of the code
// in its mail.
func (p *passwordProvider) markBrowser(v *visit, in *directory.SignUp) error {
	return v.cookies.SetMailCode(browser.MailCode{Handle: in.Code, For: p.ID, Link: in.Mark}, v.now(), signUpMaxAge)
}

// markOf returns the sign-up that a browser has begun, or "".
func (p *passwordProvider) markOf(v *visit) string {
	if kept := v.cookies.MailCode(v.now(), signUpMaxAge); kept.For == p.ID {
		return kept.Link
	}
	return ""
}
