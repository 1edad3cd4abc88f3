package latchkey

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// TokenConfig says how provider tokens are kept and renewed. They are encrypted in the store unless
// Plain is set, the Adapter is a [storage.TokenSharer] whose rows other programs read, or it is not
// both a [storage.TokenAdapter] and a [storage.AccountAdapter]. See docs/provider-tokens.md.
type TokenConfig struct {
	_ [0]func() // not comparable; literals name their fields
	hidden

	// Keys encrypt stored tokens, the newest first. Older ones still open what they
	// encrypted. A key is a random text, such as the output of openssl rand -base64 33.
	// Empty: derived from Secrets. Removing a key, or a secret where Keys is empty, loses
	// the tokens that are still encrypted under it. So a site that sets Keys later lists
	// its secrets there as the last keys.
	Keys []string
	// Plain stores tokens unencrypted, for other programs that read the same rows.
	Plain bool
	// Cookie keeps the tokens in a sealed cookie of the browser, for sites without an
	// Adapter. Only [Auth.AccessToken] returns them then. The cookie has room for few and
	// small accounts. New refuses Cookie with an Adapter, Keys or Plain. false: without an
	// Adapter nothing keeps them.
	Cookie bool
	// Early is how long before its expiry a token is renewed, at most a fifth of its
	// lifetime. 0: a minute.
	Early time.Duration
	// Foreground makes callers wait for a renewal before expiry (see Early), for
	// platforms that freeze a process between requests. false: they get the token that
	// is still valid, and it is renewed in the background. Callers always wait for the
	// renewal of an expired token.
	Foreground bool
	// KeepAtProvider leaves tokens valid at the provider when their account or user is
	// removed, and when the application calls Users.RevokeTokens. false: they are revoked.
	KeepAtProvider bool
}

// Refresh says what is special about the refresh tokens of a provider. The zero value
// suits providers that follow RFC 6749 and OpenID Connect.
type Refresh struct {
	_ [0]func() // not comparable; literals name their fields
	hidden

	AskParams url.Values // [OAuth].Offline adds these to the authorization request
	// AskScopes are the scopes that Offline adds. nil: offline_access, if the provider is
	// an OpenID Provider and AskParams is empty; otherwise none. Empty and not nil: none.
	AskScopes []string
	Params    url.Values // added to refresh requests
	// Refused are error codes that mean what invalid_grant means: the refresh token is
	// dead. They win over their usual meaning.
	Refused  []string
	Lifetime time.Duration // of access tokens for which the provider names none; 0: they count as valid until TokenOptions.Rejected names them
	// Do replaces the refresh request. It can renew a valid token without a refresh token.
	// An answer without a refresh token keeps t's. Each error of Do is an [ErrRefresh],
	// whatever Refused has. nil: the request of RFC 6749, section 6.
	Do func(ctx context.Context, c *http.Client, t Tokens) (Tokens, error)
}

// Endpoint is a provider's URL with the parameters to send to it.
type Endpoint struct {
	URL      string // absolute, https (http for loopback hosts); empty: from discovery
	Params   url.Values
	Fragment string // ends the URL of authorization requests, where a service demands that against RFC 6749, section 3.1; empty: none
}

// Logout says what a sign-out has to do with the provider. The zero value: nothing. See
// docs/logout.md.
type Logout struct {
	_ [0]func() // not comparable; literals name their fields

	// AtProvider makes a sign-out of this site go on to the provider. The session here
	// ends first. Then the browser goes to the provider, which ends its own session and
	// sends the browser back. false: a sign-out ends here, unless
	// [SignOutOptions].AtProvider says otherwise. That option needs AtProvider, EndSession.URL,
	// URL, BackChannel or FrontChannel to be set here. If none is set, it does nothing.
	AtProvider bool
	EndSession Endpoint // of RP-Initiated Logout 1.0; URL empty: discovered
	// URL returns the http(s) address for providers that have one of their own. An error
	// is logged, and the sign-out ends here. nil: the address of EndSession.
	URL func(ctx context.Context, l LogoutRequest) (string, error)
	// BackChannel accepts logout tokens at {base}/backchannel-logout/{id}, and ends the
	// sessions that they name. It needs OIDC, and a store that can end them; [New] says
	// which.
	BackChannel bool
	// FrontChannel accepts {base}/frontchannel-logout/{id} in a frame of the provider's
	// page, and ends the session of this browser. It needs OIDC, and works only within
	// one registrable domain.
	FrontChannel bool
	LegacyTokens bool // accept logout tokens without exp that are at most two minutes old; logs a warning
	OmitIDToken  bool // keep no ID token, and never send id_token_hint
}

// LogoutRequest holds the arguments of [Logout].URL: what the provider is told of a logout.
type LogoutRequest struct {
	hidden

	ClientID   string
	IDToken    string // of the session; empty: it is not kept, as without [Logout].AtProvider
	LogoutHint string // the claim login_hint of the ID token; empty: it had none, or none is kept
	ReturnTo   string // where the provider sends the browser back to
	State      string // the provider has to send it back
}

// isOn reports whether any logout is configured, so that sessions have to keep the names
// that the provider has for them.
func (l *Logout) isOn() bool {
	return l.AtProvider || l.BackChannel || l.FrontChannel || l.URL != nil || l.EndSession.URL != ""
}
