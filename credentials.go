package latchkey

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

const (
	mostFields   = 32
	longestField = 4 << 10
)

// credentialsProvider is a Credentials made ready.
type credentialsProvider struct {
	Credentials
}

func (p *Credentials) prepare(*setup, func(string) string) (provider, error) {
	c := &credentialsProvider{*p}
	c.Fields = slices.Clone(p.Fields)
	setDefault(&c.ID, "credentials")
	setDefault(&c.Name, "Credentials")
	if c.AccountField == "" && len(c.Fields) > 0 {
		c.AccountField = c.Fields[0].Name
	}
	var faults faults
	if c.AccountField == "" {
		faults = append(faults, ErrInvalidProvider.at(c.ID, errors.New("set Credentials.Fields, or AccountField to the field that failed tries are counted under")))
	}
	if p.Authorize == nil {
		faults = append(faults, ErrMissingAuthorize.at(c.ID, errors.New("set Credentials.Authorize to a function that checks what was typed")))
	}
	return c, errors.Join(faults...)
}

func (p *credentialsProvider) info() providerInfo {
	return providerInfo{p.ID, p.Name, TypeCredentials, p.Style, p.Fields}
}

// begin shows the form.
func (p *credentialsProvider) begin(_ context.Context, v *visit) (*Response, error) {
	return &Response{Redirect: v.url("signin")}, nil
}

// receive checks what was typed. Every failure that the visitor may know of
// looks the same.
func (p *credentialsProvider) receive(ctx context.Context, v *visit) (*arrival, error) {
	if !v.isPost() {
		return nil, ErrUnknownAction.because(errors.New("credentials come by POST"))
	}
	if !v.csrfVerified {
		return nil, ErrMissingCSRF.because(errors.New("the form has no valid csrfToken, or its cookie is missing"))
	}
	fields, ok := p.typed(v)
	if !ok {
		return nil, CredentialsError("")
	}
	keys, err := v.limiter.admitTry(ctx, v, p, fields)
	if err != nil {
		return nil, err
	}
	u, err := p.authorize(ctx, fields, v.request)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, CredentialsError("")
	}
	v.limiter.forgive(ctx, v, keys)
	user := *u
	user.claimed = nil
	setDefault(&user.ID, newUserID())
	return &arrival{
		user:        user,
		account:     Account{Provider: p.ID, ProviderAccountID: user.ID, Type: TypeCredentials},
		credentials: fields,
		vouched:     true,
	}, nil
}

// typed is what was posted, as text of bounded number and size; anything else
// never reaches the application.
func (p *credentialsProvider) typed(v *visit) (map[string]string, bool) {
	fields := make(map[string]string, len(v.form))
	for name, value := range v.form {
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

// authorize runs the application's check in a goroutine of its own, so that
// neither a panic nor runtime.Goexit there ends more than this one try.
func (p *credentialsProvider) authorize(ctx context.Context, fields map[string]string, r *Request) (*User, error) {
	type answer struct {
		user *User
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("Authorize ended its goroutine")}
		defer func() {
			if p := recover(); p != nil {
				a = answer{err: &panicError{p, debug.Stack()}}
			}
			done <- a
		}()
		u, err := p.Authorize(ctx, fields, r)
		a = answer{u, err}
	}()
	select {
	case a := <-done:
		if a.err != nil {
			return nil, a.err
		}
		return a.user, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// accountKey is the name that failed tries are counted under, however it was spelled.
func (p *credentialsProvider) accountKey(fields map[string]string) string {
	name := strings.TrimSpace(strings.ToLower(norm.NFKC.String(fields[p.AccountField])))
	if name == "" {
		return ""
	}
	return "try:" + p.ID + ":" + name
}
