package latchkey

import (
	"context"

	"github.com/latchkeyhq/latchkey/internal/directory"
)

// Plugs are what the places kept open for later capabilities are tested with.
type Plugs struct {
	// Pause holds up a sign-in; resume ends it.
	Pause func(ctx context.Context, user User, resume func(context.Context) (*Response, error)) (*Response, error)
	// Principal knows another proof of who asks. nil: the request has none.
	Principal func(ctx context.Context, r *Request) (*Session, error)
	// Options answers GET /webauthn-options/:provider, for the provider called OptionsOf.
	Options   func(ctx context.Context) (*Response, error)
	OptionsOf string
	// SignedOut is told of a sign-out, for the provider called SignedOutOf.
	SignedOut   func(ctx context.Context, userID, sessionID string) (*Response, error)
	SignedOutOf string
}

// Plug fills the open places of a, which must not be in use yet.
func Plug(a *Auth, p Plugs) {
	if p.Pause != nil {
		a.fixed.pause = func(ctx context.Context, x *exchange, in *directory.Assertion, known *User) (*Response, error) {
			user := in.Person
			if known != nil {
				user = *known
			}
			return p.Pause(ctx, user, func(ctx context.Context) (*Response, error) { return x.finishSignIn(ctx, in) })
		}
	}
	if p.Principal != nil {
		a.fixed.principals = []principal{func(ctx context.Context, x *exchange) (*reading, error) {
			s, err := p.Principal(ctx, x.request)
			if s == nil || err != nil {
				return nil, err
			}
			return &reading{session: s}, nil
		}}
	}
	if info := infoOf(a, p.OptionsOf); info != nil {
		info.options = func(ctx context.Context, _ *exchange) (*Response, error) { return p.Options(ctx) }
	}
	if info := infoOf(a, p.SignedOutOf); info != nil {
		info.signedOut = func(ctx context.Context, _ *exchange, ended endedSession) (*Response, error) {
			return p.SignedOut(ctx, ended.userID, ended.id)
		}
	}
}

func infoOf(a *Auth, provider string) *providerInfo {
	if p := a.fixed.providers[provider]; p != nil {
		return p.info()
	}
	return nil
}
