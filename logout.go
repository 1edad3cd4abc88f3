package latchkey

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// oneSignOut is what the application's own code asks of one sign-out.
type oneSignOut struct {
	atProvider *bool
	params     url.Values
}

// signOutKey is where a context has what was asked.
type signOutKey struct{}

// goesOn reports whether a sign-out goes on to the provider. It never does if Logout of
// the provider is off. Otherwise asked decides if it says something, then field, the
// form's atProvider, if it is 1 or 0, and else Logout.AtProvider.
func goesOn(p *oauthProvider, field string, asked oneSignOut) bool {
	switch {
	case !p.Logout.isOn():
		return false
	case asked.atProvider != nil:
		return *asked.atProvider
	case field == "1" || field == "0":
		return field == "1"
	}
	return p.Logout.AtProvider
}

// signOutThere returns a redirect to the provider that opened the session which has just
// ended here, or nil if the sign-out does not go on there. It logs a failure and returns
// nil then: the browser is signed out here in any case. The error is always nil.
func signOutThere(ctx context.Context, x *exchange, p *oauthProvider, ended endedSession) (*Response, error) {
	asked, _ := ctx.Value(signOutKey{}).(oneSignOut)
	if !goesOn(p, x.field("atProvider"), asked) {
		return nil, nil
	}
	to, err := endSessionURL(ctx, x, p, ended, asked.params)
	if err != nil {
		x.setup.log.Error(ctx, x, failure.WrapFor(ErrSignOut, p.ID, err))
		return nil, nil
	}
	return &Response{Redirect: to}, nil
}

// endSessionURL returns the URL at the provider that ends the session there. It sets the
// cookie with the state that the browser has to bring back.
func endSessionURL(ctx context.Context, x *exchange, p *oauthProvider, ended endedSession, params url.Values) (to string, err error) {
	ctx, cancel := context.WithTimeout(ctx, x.setup.config.Limits.ProviderTimeout)
	defer cancel()
	returnTo, state := x.url("signed-out/"+p.ID), oauth.NewVerifier()
	if p.proxied != "" && !p.isRedirectProxy(x.origin) {
		claims := jwt.Claims{"purpose": "logout", "value": state, "origin": returnTo}
		if state, err = p.setup.stateCodec.SealClaims(claims, x.now(), browser.CheckMaxAge); err != nil {
			return "", err
		}
		returnTo = p.proxied + "/signed-out/" + p.ID
	}
	x.hide(ended.hint.IDToken)
	if own := p.Logout.URL; own != nil {
		to, err = guarded.ContainResult(func() (string, error) {
			return own(ctx, LogoutRequest{ClientID: p.ClientID, IDToken: ended.hint.IDToken, LogoutHint: ended.hint.Login, ReturnTo: returnTo, State: state})
		})
		if err == nil && !weburl.IsHTTP(to) {
			err = errors.New("Logout.URL returned no http(s) URL")
		}
		if err == nil {
			to, err = oauth.WithParams(to, params)
		}
	} else {
		to, err = p.client.EndSessionURL(ctx, oauth.EndSession{IDToken: ended.hint.IDToken, LogoutHint: ended.hint.Login, ReturnTo: returnTo, State: state, Params: params})
	}
	if err != nil {
		return "", err
	}
	return to, x.cookies.PutLogout(browser.Logout{Tenant: x.setup.tenant, Provider: p.ID, State: state, CallbackURL: x.callbackURL}, x.now())
}

// fromProvider answers the routes of a logout that a provider calls or leads browsers to.
// It returns nil for every other request, and for a post to a route that takes none.
func fromProvider(ctx context.Context, x *exchange) *Response {
	p, _ := x.provider.(*oauthProvider)
	switch {
	case x.action == "backchannel-logout":
		return noStore(backChannel(ctx, x, p))
	case x.isPost():
	case x.action == "signed-out":
		return noStore(&Response{Redirect: backFrom(ctx, x, p), Header: http.Header{}})
	case x.action == "frontchannel-logout":
		return frontChannel(ctx, x, p)
	}
	return nil
}

// backFrom returns the URL for a browser that comes back from a logout at a provider:
// where the sign-out wanted it to go, if it brings back the state that was sent, and else
// the home page. A redirect proxy sends it on to the deployment that the state names.
// backFrom removes the cookie with the state. p is nil for an unknown provider.
func backFrom(ctx context.Context, x *exchange, p *oauthProvider) string {
	state := x.query.Get("state")
	if p == nil {
		return x.home()
	}
	if p.isRedirectProxy(x.origin) {
		claims, err := p.setup.stateCodec.OpenClaims(state, x.now(), browser.CheckMaxAge)
		if err == nil && claims.String("purpose") == "logout" {
			if to := acceptedTarget(p, &x.links, claims.String("origin"), "/signed-out/"); to != "" {
				return weburl.ReplaceQuery(to, url.Values{"state": {state}})
			}
		}
	}
	to, ok := x.cookies.EndLogout(x.setup.tenant, p.ID, state, x.now())
	if !ok {
		return x.home()
	}
	to, err := x.resolveRedirect(ctx, to)
	if err != nil {
		x.setup.log.Error(ctx, x, failure.Wrap(ErrInvalidCallbackURL, err))
		return x.home()
	}
	return to
}

// maxLogoutBody bounds the body of a back-channel logout.
const maxLogoutBody = 20 << 10

// logoutTokenIn returns the logout token of a post, or "" unless the post is a form with
// exactly one.
func logoutTokenIn(r *Request) string {
	if r.Method != http.MethodPost || mediaType(r.Header.Get("Content-Type")) != formType || len(r.Body) > maxLogoutBody {
		return ""
	}
	form, err := url.ParseQuery(string(r.Body))
	if err != nil || len(form["logout_token"]) != 1 {
		return ""
	}
	return form.Get("logout_token")
}

// backChannel answers a logout token (OpenID Connect Back-Channel Logout 1.0, section
// 2.8): it ends the sessions that the token names. It reads no cookie. Bad input gets
// status 400, and no word about what is wrong. A store that fails gets status 400, too,
// with the code temporarily_unavailable. p is nil for an unknown provider.
func backChannel(ctx context.Context, x *exchange, p *oauthProvider) *Response {
	refused := func(code string) *Response { return jsonBytes(http.StatusBadRequest, []byte(`{"error":"`+code+`"}`)) }
	token := logoutTokenIn(x.request)
	if p == nil || !p.Logout.BackChannel || token == "" {
		return refused("invalid_request")
	}
	x.hide(token)
	s := x.setup
	ctx, cancel := context.WithTimeout(ctx, s.config.Limits.ProviderTimeout)
	defer cancel()
	said, err := p.client.VerifyLogoutToken(ctx, token, oauth.LogoutCheck{Typed: s.config.wantsTypedLogouts(), Undated: p.Logout.LegacyTokens})
	if err != nil {
		s.log.Debug(ctx, x, failure.WrapFor(ErrInvalidCheck, p.ID, err))
		return refused("invalid_request")
	}
	first, err := endNamed(ctx, s, &x.visit, p, said)
	switch {
	case err != nil:
		s.log.Error(ctx, x, failure.WrapFor(ErrSignOut, p.ID, err), "alert", true)
		return refused("temporarily_unavailable")
	case !first:
		return refused("invalid_request")
	}
	return jsonBytes(http.StatusOK, []byte("{}"))
}

// endNamed ends the sessions that a logout token names, forgets the refresh tokens if the
// token demands that, and adds the event. It reports whether the token was shown for the
// first time. The token is marked as used only after the sessions have ended, so that the
// provider may repeat a call that failed. If sessions have ended, the refresh tokens are
// forgotten before that mark, too. If none has, they are forgotten after it: a replay must
// not take newer refresh tokens away. An error of that comes with first true.
func endNamed(ctx context.Context, s *setup, v *visit, p *oauthProvider, said *oauth.LogoutToken) (first bool, err error) {
	e := directory.ProviderEnd{
		Provider: p.ID, Issued: said.Issued,
		SID: directory.ProviderName(s.keys, keys.ProviderSession, said.Issuer, p.ClientID, said.SessionID),
		Sub: directory.ProviderName(s.keys, keys.ProviderSubject, said.Issuer, p.ClientID, said.Subject),
	}
	if said.Subject != "" {
		e.AccountID = accountID(&p.OAuth, s.tenant, said.Subject)
	}
	v.events.SetActor(event.Actor{Kind: event.ActorProvider})
	ended, err := directory.EndAtProvider(ctx, s.directory, s.revocations, &v.events, e)
	if err != nil {
		return false, err
	}
	drops := said.RevokesOffline && s.vault != nil
	if drops && len(ended) > 0 {
		if err := dropRefreshTokens(ctx, s, p, said.Issuer, &e, ended); err != nil {
			return false, err
		}
	}
	now := v.now()
	until := said.Expires
	if soonest := now.Add(15 * time.Minute); until.Before(soonest) {
		until = soonest
	}
	first, err = s.replay.Use(ctx, "", "logout at "+p.ID, said.Issuer+"\x00"+said.ID, until)
	if err != nil || !first {
		return false, err
	}
	if drops && len(ended) == 0 {
		err = dropRefreshTokens(ctx, s, p, said.Issuer, &e, nil)
	}
	v.events.Add(Event{Type: event.ProviderLogout, Detail: event.LogoutBackChannel, Provider: p.ID, ProviderType: p.about.kind, Ended: len(ended)}, nil)
	return true, err
}

// dropRefreshTokens forgets the refresh tokens of the account that e names, or else of
// the accounts that the ended sessions belong to. A session that does not say which
// account opened it stands for all accounts of its user at the provider. If that fails,
// dropRefreshTokens returns the error and tries again after the response: the sessions
// are gone, and nothing else says which accounts they were of.
func dropRefreshTokens(ctx context.Context, s *setup, p *oauthProvider, issuer string, e *directory.ProviderEnd, ended []storage.StoredSession) error {
	drop := func(ctx context.Context) error { return dropNow(ctx, s, p, issuer, e, ended) }
	err := drop(ctx)
	if err != nil {
		s.lateEnds.Add(ctx, drop)
	}
	return err
}

// dropNow does the work of dropRefreshTokens once.
func dropNow(ctx context.Context, s *setup, p *oauthProvider, issuer string, e *directory.ProviderEnd, ended []storage.StoredSession) (err error) {
	if e.AccountID != "" {
		return s.vault.Disconnect(ctx, e.Provider, e.AccountID)
	}
	for _, row := range ended {
		accounts, failed := s.store.ListAccounts(ctx, row.UserID)
		for _, a := range accountsOf(s, p, issuer, &row, accounts) {
			failed = errors.Join(failed, s.vault.Disconnect(ctx, a.Provider, a.ProviderAccountID))
		}
		err = errors.Join(err, failed)
	}
	return err
}

// accountsOf returns the account whose subject the session names, or all accounts at the
// provider if it names none of them. It changes the list of accounts.
func accountsOf(s *setup, p *oauthProvider, issuer string, row *storage.StoredSession, accounts []Account) []Account {
	accounts = slices.DeleteFunc(accounts, func(a Account) bool { return a.Provider != p.ID })
	prefix := accountPrefix(&p.OAuth, s.tenant)
	for _, a := range accounts {
		subject := a.ProviderAccountID
		if prefix != "" {
			subject = strings.TrimPrefix(subject, prefix+".")
		}
		if row.ProviderSub != "" && row.ProviderSub == directory.ProviderName(s.keys, keys.ProviderSubject, issuer, p.ClientID, subject) {
			return []Account{a}
		}
	}
	return accounts
}

// frontChannel ends the session of this browser, if the request names it (OpenID Connect
// Front-Channel Logout 1.0). The answer is an empty page for a frame of the provider, and
// never tells whether a session was ended. p is nil for an unknown provider.
func frontChannel(ctx context.Context, x *exchange, p *oauthProvider) *Response {
	ancestors := "'none'"
	if p != nil && p.Logout.FrontChannel {
		if u, err := url.Parse(p.Issuer); err == nil {
			ancestors = weburl.NewOrigin(u.Scheme, u.Host).Text
		}
		if err := endFramed(ctx, x, p); err != nil {
			x.setup.log.Error(ctx, x, failure.WrapFor(ErrSignOut, p.ID, err), "alert", true)
		}
	}
	return &Response{Status: http.StatusOK, Header: http.Header{
		"Content-Type": {"text/html; charset=utf-8"}, "Cache-Control": {"no-store"},
		"Content-Security-Policy": {"default-src 'none'; frame-ancestors " + strings.TrimSpace(ancestors)},
	}}
}

// endFramed ends the session of this browser, and adds the event, if tenant, provider,
// iss and sid of the request are those of the session. Otherwise it returns nil.
func endFramed(ctx context.Context, x *exchange, p *oauthProvider) error {
	s := x.setup
	name := directory.ProviderName(s.keys, keys.ProviderSession, x.query.Get("iss"), p.ClientID, x.query.Get("sid"))
	own, err := s.sessions.isNamed(ctx, &x.visit, p.ID, name)
	if err != nil || !own {
		return err
	}
	ended, err := s.sessions.close(ctx, &x.visit)
	if err == nil {
		x.events.Add(Event{
			Type: event.ProviderLogout, Detail: event.LogoutFrontChannel, Provider: p.ID, ProviderType: p.about.kind, UserID: ended.userID, Ended: 1,
			By: event.Actor{Kind: event.ActorProvider},
		}, nil)
	}
	return err
}
