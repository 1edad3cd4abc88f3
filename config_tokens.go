package latchkey

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// TokenConfig says how provider tokens are kept and renewed. They are encrypted in
// the store, unless other programs read its account rows. See docs/provider-tokens.md.
type TokenConfig struct {
	_ [0]func() // not comparable; literals name their fields
	hidden

	// Keys encrypt stored tokens, the newest first. Older ones still open what they
	// encrypted. Empty: derived from Secrets. Removing a key, or a secret where Keys is
	// empty, loses the tokens that are still encrypted under it.
	Keys []string
	// Plain stores tokens unencrypted, for other programs that read the same rows.
	Plain bool
	// Early is how long before its expiry a token is renewed, at most a fifth of its
	// lifetime. 0: a minute.
	Early time.Duration
	// Foreground makes callers wait for early renewals, for platforms that freeze a
	// process between requests. false: they get the token that is still good.
	Foreground bool
	// KeepAtProvider leaves tokens alive at the provider when their account or user is
	// removed, and in Users.RevokeTokens. false: they are revoked.
	KeepAtProvider bool
}

// Refresh says what is special about the refresh tokens of a provider. The zero value
// suits providers that follow RFC 6749 and OpenID Connect.
type Refresh struct {
	_ [0]func() // not comparable; literals name their fields
	hidden

	AskParams url.Values // [OAuth].Offline adds these to the authorization request
	// AskScopes are added by Offline, too. nil, with no AskParams: offline_access of an
	// OpenID Provider, and nothing of others. Empty and not nil: nothing.
	AskScopes []string
	Params    url.Values // added to refresh requests
	// Refused are error codes that mean what invalid_grant means: the refresh token is
	// dead. They win over their usual meaning.
	Refused  []string
	Lifetime time.Duration // of access tokens whose answer names none; 0: until an API refuses them
	// Do replaces the refresh request. With it, a token can be renewed without a refresh
	// token as long as it is valid. An answer without a refresh token keeps t's. nil: the
	// request of RFC 6749, section 6.
	Do func(ctx context.Context, c *http.Client, t Tokens) (Tokens, error)
}
