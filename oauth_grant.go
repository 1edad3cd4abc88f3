package latchkey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/texts"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// The tokens and the profile that a provider hands over for a code, and their user.

// redeem trades the code for tokens and a profile, and spends the flow. With OAuth it
// spends the flow last: a code is good for one use at the provider, and a callback
// without a right code, which costs a client nothing, must not fill the memory of used
// values. With a protocol of the provider's own it spends the flow first, since
// Receive relies on the state alone. It returns ErrInvalidCheck for a flow that
// was spent before, and ErrAccessDenied if the ID token does not prove the MaxAge or
// ACRValues that the sign-in demanded. Errors of Limits.Replay, Receive and FetchProfile
// keep their types. Those of package oauth have none yet: atProvider makes them
// ErrCallbackRoute. With an error the Grant is not to be used.
func (p *oauthProvider) redeem(ctx context.Context, x *exchange, code string, f *browser.Flow, params url.Values) (Grant, error) {
	redirectURI, _ := p.redirectURIs(&x.links)
	if p.isForeign() {
		if err := p.spend(ctx, &x.visit, f); err != nil {
			return Grant{}, err
		}
		return receiveForeign(ctx, &x.visit, p, withState(redirectURI, f), params)
	}
	t, err := p.client.Exchange(ctx, code, redirectURI, f.Verifier, repeatedOf(p, params))
	if err != nil {
		return Grant{}, p.cure(err)
	}
	x.hide(t.AccessToken, t.RefreshToken, t.IDToken, f.Verifier, f.Nonce)
	grant := Grant{Tokens: tokensOf(t), Params: params}
	subject := ""
	if p.OIDC {
		claims, err := p.client.VerifyIDToken(ctx, t.IDToken, oauth.IDTokenCheck{
			Nonce: f.Nonce, AccessToken: t.AccessToken, Demands: oauth.Demands(f.Demands), Begun: f.BegunAt(f.Expires),
		})
		if errors.Is(err, oauth.ErrUnmet) {
			return grant, failure.WrapFor(ErrAccessDenied, p.ID, err)
		}
		if err != nil {
			return grant, err
		}
		grant.IDToken, grant.Profile = claims, maps.Clone(claims)
		subject, _ = claims["sub"].(string)
	}
	switch {
	case p.FetchProfile != nil:
		grant.Profile, err = guarded.ContainResult(func() (Claims, error) { return p.FetchProfile(ctx, limitedClient(p), grant.Tokens) })
		if err == nil && p.OIDC && grant.Profile.String("sub") != subject {
			err = errors.New("FetchProfile returned another sub than the ID token's")
		}
	case !p.OIDC || p.ProfileFromUserInfo:
		grant.Profile, err = p.client.UserInfo(ctx, t.AccessToken, subject)
	default:
		err = p.completeProfile(ctx, x, &grant)
	}
	if err == nil {
		err = p.spend(ctx, &x.visit, f)
	}
	return grant, err
}

// cure adds to err which settings to check if the provider has rejected the client's
// credentials (RFC 6749, section 5.2; the second code is GitHub's). It returns any other
// error as it is.
func (p *oauthProvider) cure(err error) error {
	said, ok := errors.AsType[*oauth.ResponseError](err)
	if !ok || !slices.Contains([]string{"invalid_client", "incorrect_client_credentials", "unauthorized_client"}, said.Code) {
		return err
	}
	return fmt.Errorf("%w: check %s and %s (OAuth.ClientID and ClientSecret), and OAuth.ClientAuth",
		err, providerVariable(p.ID, "ID"), providerVariable(p.ID, "SECRET"))
}

// tokensOf converts a token response. session_state and authorization_details move from
// Extra into fields of their own if their types fit.
func tokensOf(t *oauth.Token) Tokens {
	tokens := Tokens{
		AccessToken: t.AccessToken, RefreshToken: t.RefreshToken, IDToken: t.IDToken,
		TokenType: t.Type, Scope: t.Scope, ExpiresAt: t.ExpiresAt, ExpiresIn: t.ExpiresIn, Extra: maps.Clone(t.Extra),
	}
	if state, ok := t.Extra["session_state"].(string); ok {
		tokens.SessionState = state
		delete(tokens.Extra, "session_state")
	}
	if details, ok := t.Extra["authorization_details"].([]any); ok {
		raw, _ := json.Marshal(details)
		if json.Unmarshal(raw, &tokens.AuthorizationDetails) == nil {
			delete(tokens.Extra, "authorization_details")
		} else {
			tokens.AuthorizationDetails = nil
		}
	}
	return tokens
}

// defaultTokens takes the place of a KeepTokens that is nil. It drops Extra and
// ExpiresIn, which Auth.js does not store.
func defaultTokens(t Tokens) Tokens {
	t.Extra, t.ExpiresIn = nil, 0
	return t
}

// kept returns what is stored of the tokens. KeepTokens gets a copy, so that it cannot
// change what callbacks get. The error is that of a KeepTokens that panics.
func (p *oauthProvider) kept(t Tokens) (Tokens, error) {
	t.Extra = maps.Clone(t.Extra)
	t.AuthorizationDetails = slices.Clone(t.AuthorizationDetails)
	return guarded.ContainResult(func() (Tokens, error) { return p.KeepTokens(t), nil })
}

// Limits in bytes of what people can choose at their provider and a store keeps
//
const (
	longestSubject = 1023
	longestName    = 512
)

// assertionOf returns the assertion that a sign-in with g makes. It returns
// ErrOAuthProfileParse if Identify fails, or returns no usable subject or an invalid
// e-mail address. The error of a KeepTokens or Assurance that panics comes back as it is.
// A name that is too long is cut.
func (p *oauthProvider) assertionOf(g Grant) (*directory.Assertion, error) {
	id, err := guarded.ContainResult(func() (Identity, error) { return p.Identify(g) })
	if err != nil {
		return nil, failure.WrapFor(ErrOAuthProfileParse, p.ID, err)
	}
	if id.Subject == "" || id.Subject == "0" {
		return nil, failure.WrapFor(ErrOAuthProfileParse, p.ID, errors.New("Identity.Subject is empty: the profile has no id"))
	}
	if len(id.Subject) > longestSubject {
		return nil, failure.WrapFor(ErrOAuthProfileParse, p.ID, fmt.Errorf("Identity.Subject has more than %d bytes", longestSubject))
	}
	id.Name = texts.Cut(id.Name, longestName)
	email, err := mailbox.Canonical(id.Email)
	if err != nil {
		return nil, failure.WrapFor(ErrOAuthProfileParse, p.ID, fmt.Errorf("the e-mail address of the profile: %w", err))
	}
	keep, err := p.kept(g.Tokens)
	if err != nil {
		return nil, err
	}
	verified := p.isVerified(id, email, g.Profile)
	proven, err := provenUpstream(p, g)
	if err != nil {
		return nil, err
	}
	return &directory.Assertion{
		AMR: proven.AMR, ACR: proven.ACR, Proved: proven.Proved,
		Person: User{ID: secret.NewUserID(), Name: id.Name, Email: email, Image: weburl.Picture(id.Image, id.Photo), Extra: id.Extra},
		Said:   claimedBy(id, g.Profile),
		Account: Account{
			Provider: p.ID, ProviderAccountID: accountID(&p.OAuth, p.setup.tenant, id.Subject), Type: p.about.kind, Tokens: g.Tokens,
			Email: email, EmailVouched: verified && email != "",
		},
		Keep:          keep,
		Profile:       g.Profile,
		IDToken:       g.IDToken,
		AtProvider:    sessionAtProvider(p, &g),
		EmailVerified: verified,
		Link:          p.linking(),
	}, nil
}

// UpstreamMFA returns an [OAuth].Assurance that trusts what the provider says. The provider
// has asked for two factors if the ID token's amr is a list with mfa in it, or if its acr is
// one of the given values. Then AMR is mfa and ACR is aal2; else both are empty. Proved is
// the ID token's auth_time, with two factors or without. Claims of an unexpected JSON type
// count as absent.
func UpstreamMFA(acr ...string) func(Grant) Assurance {
	acr = slices.Clone(acr)
	return func(g Grant) Assurance {
		a := Assurance{}
		a.Proved, _ = g.IDToken.Time("auth_time")
		words, _ := g.IDToken["amr"].([]any)
		said, isText := g.IDToken["acr"].(string)
		if slices.Contains(words, any(factor.Multiple)) || isText && slices.Contains(acr, said) {
			a.AMR, a.ACR = []string{factor.Multiple}, factor.AAL2
		}
		return a
	}
}

// provenUpstream returns the factors that the provider's Assurance says it has proven.
// Its AMR begins with the word for a sign-in at a provider. It returns the zero Assurance
// if there is no such function, no ID token, or the site keeps no assurance. A Proved
// that is more than a minute in the future is removed.
func provenUpstream(p *oauthProvider, g Grant) (a Assurance, err error) {
	if p.Assurance == nil || !p.OIDC || !assures(p.setup) || g.IDToken == nil {
		return a, nil
	}
	a, err = guarded.ContainResult(func() (Assurance, error) { return p.Assurance(g), nil })
	if now := p.setup.now(); err != nil || a.Proved.Sub(now) > time.Minute {
		a.Proved = time.Time{}
	}
	a.AMR = append(factor.First(p.about.kind, nil), a.AMR...)
	return a, err
}

// longestAccountID is how many bytes the id of a tenant's account may have before its
// subject is hashed. A table that was made by hand often has 255. To change it would
// change the ids of stored accounts.
const longestAccountID = 255

// accountID returns the id of an account. On a site without tenants it is the subject, of
// up to longestSubject bytes. Tenants may share an Adapter and use one provider id for
// different issuers. So the id of a tenant begins with a hash of the issuer, of one
// length, which no subject can imitate. Without an issuer it is a hash of the userinfo
// endpoint, or else of the token endpoint. If the id would be longer than
// longestAccountID, a hash takes the place of the subject.
func accountID(p *OAuth, tenant, subject string) string {
	prefix := accountPrefix(p, tenant)
	if prefix == "" {
		return subject
	}
	if id := prefix + "." + subject; len(id) <= longestAccountID {
		return id
	}
	long := sha256.Sum256([]byte(subject))
	return prefix + "~" + hex.EncodeToString(long[:])
}

// accountPrefix returns how the ids of a tenant's accounts begin: with a hash of what
// names the issuer. It is empty for a site without tenants.
func accountPrefix(p *OAuth, tenant string) string {
	if tenant == "" {
		return ""
	}
	issuer := sha256.Sum256([]byte(cmp.Or(p.Issuer, p.UserInfo.URL, p.Token.URL)))
	return hex.EncodeToString(issuer[:12])
}

// linking returns when an account of the provider may be linked to a user by its e-mail
// address.
func (p *oauthProvider) linking() directory.Linking {
	switch {
	case !p.AllowDangerousEmailAccountLinking:
		return directory.NeverLink
	case p.TrustUnverifiedEmail:
		return directory.LinkAnything
	}
	return directory.LinkVerified
}

// isVerified reports whether the provider vouches for email, the e-mail address of id in
// its normal form. id.EmailTrust decides if Identify has set it. Otherwise a provider
// with EmailUnproven vouches for no address. Any other provider vouches for email only if it
// is the email of the profile, and email_verified of the profile is true (R-348; OpenID
// Connect Core 1.0, section 5.1).
func (p *oauthProvider) isVerified(id Identity, email string, profile Claims) bool {
	switch {
	case id.EmailTrust != EmailTrustUnknown:
		return id.EmailTrust == EmailProven
	case p.EmailTrust == EmailUnproven:
		return false
	}
	claim, _ := profile["email"].(string)
	said, err := mailbox.Canonical(claim)
	verified, _ := profile["email_verified"].(bool)
	return verified && err == nil && said == email
}

// defaultIdentity maps a profile with the names of OpenID Connect. A member of
// another type than text is an error that names it.
func defaultIdentity(g Grant) (Identity, error) {
	id := Identity{Subject: g.Profile.String("sub", "id")}
	for _, f := range []struct {
		into *string
		keys []string
	}{{&id.Name, []string{"name", "nickname", "preferred_username"}}, {&id.Email, []string{"email"}}, {&id.Image, []string{"picture"}}} {
		text, err := textOf(g.Profile, f.keys...)
		if err != nil {
			return id, err
		}
		*f.into = text
	}
	return id, nil
}

// textOf returns the first of the members that is present and not null, or "" if there is
// none. It returns an error if that member is no text.
func textOf(c Claims, keys ...string) (string, error) {
	for _, key := range keys {
		switch value := c[key].(type) {
		case nil:
		case string:
			return value, nil
		default:
			return "", fmt.Errorf("the profile's %s is not text", key)
		}
	}
	return "", nil
}

// sessionAtProvider returns hashes of sid and sub of a verified ID token, and the hint
// for a logout at the provider. A claim of more than 255 bytes counts as missing. It
// returns nil if the provider's Logout is off.
func sessionAtProvider(p *oauthProvider, g *Grant) *directory.AtProvider {
	if !p.tracked {
		return nil
	}
	at := &directory.AtProvider{ProviderNames: directory.ProviderNames{Provider: p.ID, Issued: oauth.IssuedAt(g.IDToken)}}
	name := func(kind keys.Kind, claim string) string {
		value, _ := g.IDToken[claim].(string)
		issuer, _ := g.IDToken["iss"].(string)
		if len(value) > 255 {
			return ""
		}
		return directory.ProviderName(p.setup.keys, kind, issuer, p.ClientID, value)
	}
	at.SID, at.Sub = name(keys.ProviderSession, "sid"), name(keys.ProviderSubject, "sub")
	if p.Logout.AtProvider {
		at.Hint.Login, _ = g.IDToken["login_hint"].(string)
		if !p.Logout.OmitIDToken {
			at.Hint.IDToken = g.Tokens.IDToken
		}
	}
	return at
}
