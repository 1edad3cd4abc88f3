// Package oauth2source hands the tokens that Latchkey keeps to libraries that take an
// [oauth2.TokenSource], such as the clients of Google's APIs.
//
//	source := oauth2source.New(ctx, auth.Users(), users.AccountRef{UserID: id, Provider: "google"}, users.TokenOptions{})
//	service, err := calendar.NewService(ctx, option.WithTokenSource(source))
package oauth2source

import (
	"context"
	"time"

	"golang.org/x/oauth2"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/users"
)

// early is how long before its expiry a token counts as expired for x/oauth2, so that
// the library asks the source again while Latchkey renews it in good time.
const early = time.Minute

// Token returns tokens as x/oauth2 has them, without the refresh token: Latchkey alone
// renews. The expiry is a minute earlier than ExpiresAt, but by at most a fifth of the time
// that is left, so that [oauth2.ReuseTokenSource] asks in time. A zero ExpiresAt stays
// zero.
func Token(t latchkey.Tokens) *oauth2.Token {
	token := &oauth2.Token{AccessToken: t.AccessToken, TokenType: t.TokenType}
	if left := time.Until(t.ExpiresAt); !t.ExpiresAt.IsZero() {
		token.Expiry = t.ExpiresAt.Add(-max(0, min(early, left/5)))
	}
	return token
}

// New returns a source of access tokens of an account. The source keeps no token: each
// call of its Token calls Users.AccessToken, which documents the errors, with o. All
// these calls use ctx: it names the tenant, and after its end they fail. The source is
// safe for concurrent use.
func New(ctx context.Context, u *users.Users, of users.AccountRef, o users.TokenOptions) oauth2.TokenSource {
	return &source{ctx, u, of, o}
}

type source struct {
	ctx     context.Context
	users   *users.Users
	of      users.AccountRef
	options users.TokenOptions
}

// Token implements [oauth2.TokenSource].
func (s *source) Token() (*oauth2.Token, error) {
	t, err := s.users.AccessToken(s.ctx, s.of, s.options)
	if err != nil {
		return nil, err
	}
	return Token(t), nil
}
