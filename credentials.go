package latchkey

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/secret"
)

const (
	mostFields   = 32
	longestField = 4 << 10
)

// credentialsProvider is a prepared [Credentials]: checked, and with its defaults.
type credentialsProvider struct {
	Credentials
	about providerInfo
}

func (p *Credentials) prepare(*setup, func(string) string) (preparedProvider, error) {
	c := &credentialsProvider{Credentials: *p}
	c.Fields = slices.Clone(p.Fields)
	fill.Default(&c.ID, "credentials")
	fill.Default(&c.Name, "Credentials")
	c.about = providerInfo{
		id: c.ID, name: c.Name, given: p.Name, kind: TypeCredentials, style: c.Style, fields: c.Fields, start: "callback/", withoutSessions: true,
	}
	if c.AccountField == "" && len(c.Fields) > 0 {
		c.AccountField = c.Fields[0].Name
	}
	c.about.account = c.AccountField
	var faults failure.List
	if c.AccountField == "" {
		faults = append(faults, failure.WrapFor(ErrInvalidProvider, c.ID, errors.New("set Credentials.Fields, or AccountField to the field that failed tries are counted under")))
	}
	if p.Authorize == nil {
		faults = append(faults, failure.WrapFor(ErrMissingAuthorize, c.ID, errors.New("set Credentials.Authorize to a function that checks what was typed")))
	}
	return c, errors.Join(faults...)
}

func (p *credentialsProvider) info() *providerInfo { return &p.about }

// begin redirects to the sign-in page, which has the form.
func (p *credentialsProvider) begin(_ context.Context, x *exchange) (outcome, error) {
	return outcome{response: &Response{Redirect: x.url("signin")}}, nil
}

// receive checks what was posted, and returns the assertion of the user that Authorize
// returns. Fields that cannot be right, wrong ones and too many tries are all
// ErrCredentialsSignin and look alike to the client. A GET is ErrUnknownAction,
// and a post without a valid CSRF token ErrMissingCSRF.
func (p *credentialsProvider) receive(ctx context.Context, x *exchange) (outcome, error) {
	if !x.isPost() {
		return outcome{}, failure.Wrap(ErrUnknownAction, failure.Of(fault.RequestUnknown, errors.New("credentials come by POST")))
	}
	if !x.csrfVerified {
		return outcome{}, noCSRF(x.request.Header, x.origin.Text)
	}
	fields, ok := p.typed(x)
	if !ok {
		return outcome{}, CredentialsError("")
	}
	forms := p.formKeys(x.setup, fields)
	who := x.setup.requesterOf(ctx, &x.visit, func(k browser.Known) bool { return k.HasForm(forms) })
	try, err := x.setup.limits.Take(ctx, x.setup.limits.Attempt(p.ID, fields[p.AccountField], who))
	if err != nil {
		return outcome{}, err
	}
	if try.Wait > 0 {
		return outcome{}, failure.WrapFor(ErrCredentialsSignin, p.ID, &tooManyTries{try.Wait})
	}
	user, err := p.check(ctx, x, fields, &try)
	if err != nil {
		return outcome{}, err
	}
	if err := x.setup.limits.Return(ctx, try); err != nil {
		x.setup.log.Error(ctx, x, failure.Wrap(ErrCallbackRoute, failure.Of(fault.AnswerLost, err)))
	}
	counted := user.ID != "" && fields[p.AccountField] != ""
	if user.ID == "" {
		user.ID = secret.NewUserID()
	}
	if user.Email, err = mailbox.Canonical(user.Email); err != nil {
		return outcome{}, failure.WrapFor(ErrCallbackRoute, p.ID, failure.Of(fault.UserMissing, fmt.Errorf("the e-mail address of the user that Authorize returned: %w", err)))
	}
	return outcome{assertion: &directory.Assertion{
		Person:      user,
		Account:     Account{Provider: p.ID, ProviderAccountID: user.ID, Type: TypeCredentials},
		Credentials: fields,
		Vouched:     true,
		Counted:     counted,
		Form:        forms[0],
	}}, nil
}

// check calls Authorize with fields. It returns an ErrCredentialsSignin if Authorize returns
// ErrNotFound or the zero User, and any other error as it is. If try.IsOwn is true, the
// account has had too many failed tries, and only a known browser may still try. Then check
// returns an ErrCredentialsSignin unless Authorize returns a user that this browser is known
// for, so that the try tells nothing about the accounts of others.
func (p *credentialsProvider) check(ctx context.Context, x *exchange, fields map[string]string, try *limit.Try) (User, error) {
	user, err := hook(ctx, x.setup, "Credentials.Authorize", func(ctx context.Context) (User, error) { return p.Authorize(ctx, fields, x.request) })
	if try.IsOwn() && (err != nil || !isKnownFor(ctx, x.setup, x.cookies.Known(x.setup.tenant, x.now()), user.ID)) {
		return User{}, failure.WrapFor(ErrCredentialsSignin, p.ID, &tooManyTries{try.Until})
	}
	if errors.Is(err, ErrNotFound) || err == nil && reflect.ValueOf(user).IsZero() {
		return User{}, CredentialsError("")
	}
	return user, err
}

// typed returns the posted fields without the library's own, such as csrfToken. It
// returns false if a field is no text, a name or value is too long, or there are too
// many: such a form never reaches the application.
func (p *credentialsProvider) typed(x *exchange) (map[string]string, bool) {
	fields := make(map[string]string, len(x.form))
	for name, value := range x.form {
		if name == "csrfToken" || name == "callbackUrl" || name == "json" || name == "redirect" {
			continue
		}
		text, ok := value.(string)
		if !ok || len(text) > longestField || len(name) > longestField || len(fields) == mostFields {
			return nil, false
		}
		fields[name] = text
	}
	return fields, true
}

// formKeys returns the key of what was typed, under each secret, the newest first. On a
// site that knows no browsers it returns one empty key. What was typed is the account's
// field and every other field of Fields that is no password. That names the account more
// exactly than the account's field, which tries are counted under.
func (p *credentialsProvider) formKeys(s *setup, fields map[string]string) []string {
	if !knowsBrowsers(s) {
		return []string{""}
	}
	parts := []string{p.ID, fields[p.AccountField]}
	for _, f := range p.Fields {
		if typed, there := fields[f.Name]; there && f.Name != p.AccountField && f.Type != "password" {
			parts = append(parts, f.Name, typed)
		}
	}
	return s.keys.All(keys.KnownForm, parts...)
}
