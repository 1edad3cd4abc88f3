package latchkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/tokenjar"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// How the vault of provider tokens is made ready.

// defaultEarly is how long before its expiry a token is renewed.
const defaultEarly = time.Minute

// prepareVault checks what keeps tokens and makes the vault ready, or the jar with
// Tokens.Cookie. Without an Adapter that can swap tokens, s.vault stays nil, and the rows
// of accounts keep the tokens of the sign-in that made them.
func prepareVault(s *setup, f *failure.List) {
	c := &s.config.Tokens
	if c.Plain && len(c.Keys) > 0 {
		f.Add(ErrInvalidConfig, "Tokens: Keys encrypt tokens and Plain leaves them unencrypted: set one of the two")
	}
	if c.Early < 0 {
		f.Add(ErrInvalidConfig, "Tokens.Early must not be negative; zero is a minute")
	}
	checkOffline(s, f)
	if c.Cookie {
		prepareJar(s, f)
		return
	}
	if s.store == nil || s.store.Tokens == nil || s.store.AccountLists == nil || len(s.config.Secrets) == 0 {
		return
	}
	keys := tokenKeys(c.Keys, s.config.Secrets)
	if slices.Contains(keys, "") { // see checkSecrets
		return
	}
	shared, _ := s.config.Adapter.(storage.TokenSharer)
	plain := c.Plain || shared != nil && shared.SharesTokens()
	seals, err := vault.NewSeals(keys, plain)
	if err != nil {
		f.Add(ErrInvalidConfig, "Tokens.Keys: %w", err)
		return
	}
	of := vaultConfig(s)
	of.Rows, of.Leases, of.Seals = directory.TokenRows{Store: s.store}, leases(s), seals
	s.vault = vault.New(of)
	s.directory.Tokens = s.vault
}

// vaultConfig returns the part of the configuration that the vault and the jar share. It
// sets Tokens.Early to its default.
func vaultConfig(s *setup) vault.Config {
	c := &s.config.Tokens
	fill.Default(&c.Early, defaultEarly)
	return vault.Config{
		Bounds: s.bounds, Providers: tokenProviders(s), Log: s.log, Now: s.now,
		Early: c.Early, Foreground: c.Foreground, CallTime: s.config.Limits.ProviderTimeout, StoreTime: s.config.Limits.StoreTimeout,
		Later: s.mails.pool, KeepGrants: c.KeepAtProvider, HTTP: cmp.Or[http.RoundTripper](s.config.Runtime.HTTPClient.Transport, http.DefaultTransport), Tell: func(ctx context.Context, e event.Event) { tellOfTokens(ctx, s, e) },
	}
}

// prepareJar sets s.jar, which keeps tokens in a cookie of the browser, or adds to f why
// it cannot.
func prepareJar(s *setup, f *failure.List) {
	c := &s.config.Tokens
	switch {
	case s.config.Adapter != nil:
		f.Add(ErrInvalidConfig, "Tokens: Cookie is for sites without an Adapter, which keeps the tokens otherwise: leave one of the two out")
	case c.Plain || len(c.Keys) > 0:
		f.Add(ErrInvalidConfig, "Tokens: Plain and Keys are for the rows of an Adapter, and the cookie is encrypted under Config.Secrets: leave them out, or Cookie")
	default:
		s.jar = tokenjar.New(vaultConfig(s), s.tenant, s.config.Session.MaxAge)
	}
}

// tokenKeys returns the keys that tokens are encrypted under: secrets, if there are no
// keys.
func tokenKeys(keys, secrets []string) []string {
	if len(keys) > 0 {
		return keys
	}
	return secrets
}

// leases returns the store by which only one of several processes renews a token at a
// time, or nil if there is none. s.store must not be nil.
func leases(s *setup) storage.LeaseStore {
	if s.config.Runtime.Leases != nil {
		return s.config.Runtime.Leases
	}
	return s.store.Leases
}

// checkOffline adds a fault for each provider that asks for refresh tokens that nothing
// can keep, and warns if several processes may renew a token at once.
func checkOffline(s *setup, f *failure.List) {
	for _, given := range s.order {
		p, ok := given.(*oauthProvider)
		if !ok || !p.Offline {
			continue
		}
		who := "provider " + p.ID + ": Offline"
		switch {
		case p.isForeign():
			f.Add(ErrInvalidConfig, "%s is for OAuth 2, and Protocol replaces that: leave one of the two out", who)
		case s.store == nil && s.config.Tokens.Cookie:
			s.log.WarnAtStart("Tokens.Cookie: requests that a browser sends at once may refresh twice in different processes; where that ends a grant, use an Adapter", "provider", p.ID)
		case s.store == nil:
			f.Add(ErrMissingAdapter, "%s needs an Adapter that keeps the tokens: set Config.Adapter, or Tokens.Cookie to keep them in the browser", who)
		case s.store.Tokens == nil:
			*f = append(*f, s.store.Require(who, directory.AbilityTokens))
		case s.store.AccountLists == nil:
			*f = append(*f, s.store.Require(who, directory.AbilityAccountLists))
		case leases(s) == nil:
			s.log.WarnAtStart("several processes may refresh at once; set Runtime.Leases, for example to a redisadapter", "provider", p.ID)
		}
	}
}

// tokenProviders returns the OAuth providers, by id, with the calls that renew and revoke
// their tokens.
func tokenProviders(s *setup) map[string]*vault.Provider {
	all := map[string]*vault.Provider{}
	for _, given := range s.order {
		p, ok := given.(*oauthProvider)
		if !ok || p.isForeign() || p.client == nil {
			continue
		}
		v := &vault.Provider{
			Grant: vault.Grant{Issuer: cmp.Or(p.Issuer, p.Token.URL), Client: p.ClientID}, Prefix: accountPrefix(&p.OAuth, s.tenant), Refused: p.Refresh.Refused, Lifetime: p.Refresh.Lifetime,
			ByAccessToken: p.Refresh.Do != nil, Refresh: func(ctx context.Context, former Tokens) (Tokens, error) { return renewTokens(ctx, p, former) }, Keep: p.kept,
		}
		if p.Revoke != nil || p.client.CanRevoke() {
			v.Revoke = func(ctx context.Context, t Tokens) error { return revokeTokens(ctx, p, t) }
		}
		all[p.ID] = v
	}
	return all
}

// renewTokens asks the provider for new tokens and checks their ID token against the
// former one. If former has no ID token, the new one is checked by itself and
// left out. With Refresh.Do it calls that instead, and checks nothing.
func renewTokens(ctx context.Context, p *oauthProvider, former Tokens) (Tokens, error) {
	if p.Refresh.Do != nil {
		return guarded.ContainResult(func() (Tokens, error) { return p.Refresh.Do(ctx, limitedClient(p), former) })
	}
	answer, err := p.client.Refresh(ctx, former.RefreshToken, p.Refresh.Params)
	if err != nil {
		return Tokens{}, p.cure(err)
	}
	t := tokensOf(answer)
	if t.IDToken == "" || !p.OIDC {
		t.IDToken = ""
		return t, nil
	}
	original := oauth.UnverifiedClaims(cmp.Or(former.IDToken, t.IDToken))
	if _, err := p.client.VerifyIDToken(ctx, t.IDToken, oauth.IDTokenCheck{AccessToken: t.AccessToken, Original: original}); err != nil {
		return Tokens{}, err
	}
	if former.IDToken == "" {
		t.IDToken = ""
	}
	return t, nil
}

// revokeTokens ends tokens at the provider. It calls Revoke of the provider if that is set.
// Otherwise it revokes the refresh token, which ends the grant at most providers, and then the
// access token. It returns nil if there is no endpoint, or one that takes refresh tokens only.
func revokeTokens(ctx context.Context, p *oauthProvider, t Tokens) error {
	if p.Revoke != nil {
		return guarded.Contain(func() error { return p.Revoke(ctx, limitedClient(p), t) })
	}
	var err error
	if t.RefreshToken != "" {
		if err = p.client.Revoke(ctx, t.RefreshToken, "refresh_token"); errors.Is(err, oauth.ErrNoRevocation) {
			return nil
		}
	}
	if t.AccessToken == "" || err != nil {
		return err
	}
	err = p.client.Revoke(ctx, t.AccessToken, "access_token")
	if said, ok := errors.AsType[*oauth.ResponseError](err); ok && t.RefreshToken != "" && said.Code == "unsupported_token_type" || errors.Is(err, oauth.ErrNoRevocation) {
		return nil // it ends with the refresh token, or by itself
	}
	return err
}

// tellOfTokens stores and tells an event of the vault, if the site keeps events.
func tellOfTokens(ctx context.Context, s *setup, e event.Event) {
	if !s.config.keepsEvents() {
		return
	}
	o := &directory.Outbox{Base: &Event{Time: s.now().UTC(), Tenant: s.tenant, By: event.Actor{Kind: event.ActorSystem}}, Audit: s.table}
	o.Add(e, nil)
	s.tell(ctx, o, journal.NoSubject{})
}

// hasVault returns nil if s.vault is set. Otherwise it returns ErrMissingAdapter, also
// with Tokens.Cookie, or ErrMissingAdapterMethods.
func hasVault(s *setup) error {
	switch {
	case s.jar != nil:
		return failure.Wrap(ErrMissingAdapter, errors.New("with Tokens.Cookie only Auth.AccessToken returns tokens, for a request with a session cookie: set Config.Adapter"))
	case s.store == nil:
		return failure.Wrap(ErrMissingAdapter, errors.New("provider tokens need an Adapter, or Tokens.Cookie: set Config.Adapter"))
	case s.vault == nil:
		return failure.Wrap(ErrMissingAdapterMethods, fmt.Errorf("provider tokens need an Adapter that is a storage.TokenAdapter and a storage.AccountAdapter; %T is not", s.config.Adapter))
	}
	return nil
}

// prepareLogout checks the Logout of each provider, and adds to f what cannot work.
func prepareLogout(s *setup, f *failure.List) {
	s.hints = directory.NewHints(s.config.Secrets, s.tenant)
	if s.directory != nil {
		s.directory.Hints = s.hints
	}
	for _, given := range s.order {
		p, ok := given.(*oauthProvider)
		if !ok || !p.Logout.isOn() && !p.Logout.LegacyTokens {
			continue
		}
		l, who := &p.Logout, "provider "+p.ID+": Logout"
		switch {
		case p.isForeign():
			f.Add(ErrInvalidConfig, "%s is for OAuth 2, and Protocol replaces that: leave one of the two out", who)
		case !p.OIDC && (l.BackChannel || l.FrontChannel):
			f.Add(ErrInvalidConfig, "%s.BackChannel and FrontChannel need an OpenID Provider: set OIDC, or leave them out", who)
		case !p.OIDC && l.AtProvider && l.URL == nil && l.EndSession.URL == "" && p.Issuer == "":
			f.Add(ErrInvalidConfig, "%s.AtProvider needs EndSession or URL where nothing is discovered", who)
		case l.BackChannel && s.config.Session.Strategy == JWTSessions && s.revocations == nil:
			f.Add(ErrInvalidConfig, "%s.BackChannel needs a store that remembers the end of JWT sessions: set Session.Revocations, or an Adapter that is a storage.RevocationStore", who)
		case l.BackChannel && s.config.Session.Strategy == DatabaseSessions && s.store != nil:
			checkProviderLogouts(s, f, who)
		}
		if l.LegacyTokens {
			s.log.WarnAtStart("Logout.LegacyTokens: a logout token without an end is accepted for two minutes", "provider", p.ID)
		}
	}
}

// checkProviderLogouts adds a fault if the store of sessions is no
// storage.ProviderLogoutAdapter. It warns if its tables have no columns for the sid and sub
// of a provider, and if only this process remembers logouts. who is the provider whose
// BackChannel needs it.
func checkProviderLogouts(s *setup, f *failure.List, who string) {
	if _, whole := directory.ProviderLogouts(s.store); !whole {
		f.Add(ErrMissingAdapterMethods, "%s.BackChannel needs stored sessions in a storage.ProviderLogoutAdapter: the Adapter %T or Session.Store is not", who, s.config.Adapter)
	} else if !directory.NamesSessions(context.Background(), s.store) {
		s.log.WarnAtStart(who + ".BackChannel: the tables of sessions have no columns for what a provider calls them: a logout token with a sub ends all sessions of the user, and one with only a sid is refused")
	}
	if s.revocations.Store == nil {
		s.log.WarnAtStart(who + ".BackChannel: only this process remembers a logout, so that other processes keep sessions that it names by a former sign-in: set Session.Revocations, or an Adapter that is a storage.RevocationStore")
	}
}

// longestActing is the most that ActAs.Max may be.
const longestActing = time.Hour

// prepareActing checks the configuration of acting as users, and sets s.acting if it is
// on.
func prepareActing(s *setup, f *failure.List) {
	c := &s.config.Session
	if c.ActAs.Max < 0 || c.ActAs.Max > longestActing {
		f.Add(ErrInvalidConfig, "Session.ActAs.Max is %v: want at most an hour, or zero for off", c.ActAs.Max)
	}
	switch {
	case c.ActAs.Max <= 0:
		return
	case s.store == nil:
		f.Add(ErrMissingAdapter, "Session.ActAs needs an Adapter: set Config.Adapter, to memoryadapter.New for a first try")
		return
	}
	for _, what := range actingNeeds(c) {
		if !s.store.Has(what) {
			*f = append(*f, s.store.Require("Session.ActAs", what))
		}
	}
	keeper := storage.ActorAdapter(nil)
	switch {
	case c.Strategy != DatabaseSessions:
		if s.revocations == nil || s.revocations.Store == nil {
			f.Add(ErrMissingAdapterMethods, "Session.ActAs needs a place for what has ended, because a JWT session in which an administrator acts ends with that of the administrator: set Session.Revocations, or an Adapter that is a RevocationStore")
		}
	case c.Store != nil:
		keeper, _ = c.Store.(storage.ActorAdapter)
	default:
		keeper, _ = s.config.Adapter.(storage.ActorAdapter)
	}
	if keeper != nil && !keeper.KeepsActors() {
		f.Add(ErrInvalidConfig, "Session.ActAs: the table of sessions has no columns actor and actor_session: run latchkey migrate, or leave ActAs out")
	}
	if c.ActAs.Notify {
		s.mails.need(f, "Session.ActAs.Notify")
	}
	directory.KeepChallenges(s.directory, s.config.Secrets, s.tenant)
	s.acting = &directory.Acting{
		Directory: s.directory, Max: c.ActAs.Max,
		IsOver: func(row *storage.StoredSession) bool { return (&databaseStrategy{s}).expired(row) },
	}
}

// actingNeeds returns what acting as users needs of the Adapter.
func actingNeeds(c *SessionConfig) []directory.Ability {
	if c.Strategy == DatabaseSessions && c.Store == nil {
		return []directory.Ability{directory.AbilityChallenges, directory.AbilitySessionLists}
	}
	return []directory.Ability{directory.AbilityChallenges}
}
