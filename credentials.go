package latchkey

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/texts"
)

const (
	mostFields   = 32
	longestField = 4 << 10
)

// credentialsProvider is a Credentials made ready.
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

// begin leads to the form.
func (p *credentialsProvider) begin(_ context.Context, x *exchange) (outcome, error) {
	return outcome{response: &Response{Redirect: x.url("signin")}}, nil
}

// receive checks what was typed. Every failure that people may know of looks
// the same.
func (p *credentialsProvider) receive(ctx context.Context, x *exchange) (outcome, error) {
	if !x.isPost() {
		return outcome{}, failure.Wrap(ErrUnknownAction, errors.New("credentials come by POST"))
	}
	if !x.csrfVerified {
		return outcome{}, noCSRF(x.request.Header, x.origin.Text)
	}
	fields, ok := p.typed(x)
	if !ok {
		return outcome{}, CredentialsError("")
	}
	account := p.accountKey(fields)
	tries := x.setup.limits.Attempts(account, x.setup.requesterOf(ctx, &x.visit, account))
	wait, err := x.setup.limits.Take(ctx, tries)
	if err != nil {
		return outcome{}, err
	}
	if wait > 0 {
		return outcome{}, failure.WrapFor(ErrCredentialsSignin, p.ID, &tooManyTries{wait})
	}
	user, err := hook(ctx, x.setup, "Credentials.Authorize", func(ctx context.Context) (User, error) { return p.Authorize(ctx, fields, x.request) })
	if errors.Is(err, ErrNotFound) || err == nil && reflect.ValueOf(user).IsZero() {
		return outcome{}, CredentialsError("")
	}
	if err != nil {
		return outcome{}, err
	}
	if err := x.setup.limits.Forgive(ctx, tries); err != nil {
		x.setup.log.Error(ctx, x, failure.Wrap(ErrCallbackRoute, err))
	}
	if user.ID == "" {
		user.ID = secret.NewUserID()
	}
	if user.Email, err = mailbox.Canonical(user.Email); err != nil {
		return outcome{}, failure.WrapFor(ErrCallbackRoute, p.ID, fmt.Errorf("the e-mail address of the user that Authorize returned: %w", err))
	}
	return outcome{assertion: &directory.Assertion{
		Person:      user,
		Account:     Account{Provider: p.ID, ProviderAccountID: user.ID, Type: TypeCredentials},
		Credentials: fields,
		Vouched:     true,
		CountedAs:   account,
	}}, nil
}

// typed returns the posted fields, as text of bounded number and size. Anything
// else never reaches the application.
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

// accountKey returns the name under which failed attempts are counted, however
// it was spelled: databases and applications drop or overlook invisible
// characters. All names without a visible character share a key, because one of
// them may belong to a user.
func (p *credentialsProvider) accountKey(fields map[string]string) string {
	typed := fields[p.AccountField]
	if typed == "" {
		return ""
	}
	name := strings.ToLower(norm.NFKC.String(strings.Map(texts.Visible, typed)))
	return "try:" + p.ID + ":" + strings.TrimSpace(name)
}
