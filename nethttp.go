package latchkey

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/client"
)

// What the application can do from its own handlers. Each runs the same code as
// the route of its name, and needs no CSRF token: what the browser itself marks
// as another site's is refused, unless the application says that it has checked.

// SignInOptions says how a sign-in that the application starts goes on. Prompt, LoginHint,
// Scopes, MaxAge and ACRValues ask something of an OAuth provider: each wins over Params,
// Form and the provider's own parameters. Other kinds of provider ignore Prompt, LoginHint
// and Scopes.
type SignInOptions struct {
	_ [0]func() // not comparable; literals name their fields
	hidden

	RedirectTo string     // where to end up; empty: the field redirectTo of Form, else its callbackUrl, else the page that asked (Referer), else /
	Form       url.Values // what was typed: e-mail, credentials; fields called authorizationParams-X become parameter X
	// Params are added to the authorization request of an OAuth provider, in the place of
	// its own. Parameters in Form replace them, so that visitors can change them: demand
	// nothing by Params. Use Prompt, MaxAge and ACRValues for that.
	Params url.Values
	// SkipCSRFCheck says that the application has checked where the request comes from.
	// false: a request that another site has sent, by Sec-Fetch-Site or Origin, is
	// ErrMissingCSRF. That holds for a GET as well: visitors who follow a link from another
	// site are refused. A request of a sibling host, such as another subdomain, needs the
	// token of [Auth.CSRFToken] as csrfToken in Form, and [Security].RefuseSameSite refuses
	// it all the same. Other requests need no token; a wrong one is ErrMissingCSRF unless
	// the page is of the same origin.
	SkipCSRFCheck bool

	Prompt    string   // such as login, select_account or none; proves nothing, see MaxAge; empty: not asked
	LoginHint string   // the user that is expected, such as by an e-mail address; empty: not asked
	Scopes    []string // in the place of the provider's; openid is added where it is needed; empty: the provider's
	// MaxAge is how long ago the user may have signed in at the provider. It counts in
	// whole seconds. The ID token has to prove that by auth_time, with a minute of leeway,
	// or the sign-in is ErrAccessDenied and nothing is written. A pointer to zero demands a
	// sign-in since this call. nil: a sign-in of any age is accepted. At a provider without
	// OIDC a MaxAge is ErrInvalidConfig.
	MaxAge *time.Duration
	// ACRValues demands that the acr of the ID token is one of these. Otherwise, and at
	// a provider without OIDC, the errors are those of MaxAge. nil: any acr is accepted.
	ACRValues []string
}

// SignIn starts signing in with a provider. It answers the request: it sets the cookies on
// w and redirects. The target is the provider, the page that follows a mail or asks for a
// second factor, or where a completed sign-in ends up. With an empty or unknown provider it
// is the sign-in page, and MaxAge and ACRValues are ErrInvalidConfig then.
//
// The error is an [*Error] that has been logged, and nothing is written then: show the
// error beside the form that was posted. Wrong credentials are ErrCredentialsSignin, a
// form of another site is ErrMissingCSRF.
func (a *Auth) SignIn(w http.ResponseWriter, r *http.Request, provider string, o SignInOptions) error {
	res, err := a.Core().SignIn(r.Context(), requestHead(r), provider, o)
	return sendTo(w, res, err)
}

// SignInURL does what [Auth.SignIn] does, without the redirect: it sets the
// cookies on w and returns the URL that the browser has to open. The URL is
// empty, and the error nil, if a callback answers with [RespondWith], whose response is
// lost: use SignIn where callbacks do that.
func (a *Auth) SignInURL(w http.ResponseWriter, r *http.Request, provider string, o SignInOptions) (string, error) {
	res, err := a.Core().SignIn(r.Context(), requestHead(r), provider, o)
	return urlFor(w, res, err)
}

// SignOutOptions says how a sign-out that the application starts goes on.
type SignOutOptions struct {
	_ [0]func() // not comparable; literals name their fields

	RedirectTo string // where to end up; empty: the page that asked (Referer), else /
	// SkipCSRFCheck says that the application has checked where the request
	// comes from. false: what the browser marks as another site's, or a sibling
	// host's, is ErrMissingCSRF.
	SkipCSRFCheck bool

	AtProvider *bool      // whether to sign out at the provider, too; nil: as its Logout says
	Params     url.Values // added to the URL at the provider, such as ui_locales; not those of the protocol
}

// SignOut ends the session. It answers the request: it clears the cookies on w and
// redirects. Without a session it redirects all the same. The error is an [*Error] that
// has been logged, and nothing is written then. A request of another site is
// ErrMissingCSRF. If a store fails to end the session, SignOut logs that and returns nil.
// With [Security].StrictSignOut it then answers with status 500, and returns nil, too.
func (a *Auth) SignOut(w http.ResponseWriter, r *http.Request, o SignOutOptions) error {
	res, err := a.Core().SignOut(r.Context(), requestHead(r), o)
	return sendTo(w, res, err)
}

// SignOutURL does what [Auth.SignOut] does, without the redirect: it clears the cookies
// on w and returns the URL that the browser has to open. Where SignOut answers with status
// 500, the error is an ErrSignOut, the URL is empty, and the cookies are cleared all the same.
func (a *Auth) SignOutURL(w http.ResponseWriter, r *http.Request, o SignOutOptions) (string, error) {
	res, err := a.Core().SignOut(r.Context(), requestHead(r), o)
	to, err := urlFor(w, res, err)
	if err == nil && res.Status == http.StatusInternalServerError {
		err = &Error{Type: ErrSignOut}
	}
	return to, err
}

// sendTo answers with res, unless there is an error.
func sendTo(w http.ResponseWriter, res *Response, err error) error {
	if err == nil {
		res.Send(w)
	}
	return err
}

// urlFor sets the cookies of res on w and returns the URL that res redirects to, unless
// there is an error.
func urlFor(w http.ResponseWriter, res *Response, err error) (string, error) {
	if err != nil {
		return "", err
	}
	addCookies(w, res.Cookies)
	return res.Redirect, nil
}

// CSRFToken returns the token that the application's own form must post as
// csrfToken to the routes under the base path. It sets the cookie on w when the
// browser has none yet, so call it before writing the body.
//
// A post with a Sec-Fetch-Site of same-origin and the site's Origin is accepted
// without the token. Browsers that do not send both headers need it. The error is
// ErrUntrustedHost or a fault of the configuration.
func (a *Auth) CSRFToken(w http.ResponseWriter, r *http.Request) (string, error) {
	x, err := a.Core().reading(r.Context(), asGet(requestHead(r)))
	if err != nil {
		return "", err
	}
	if token, ok := csrfIn(w.Header(), x.cookies.Specs.CSRF.Name()); ok {
		return token, nil
	}
	x.takeCSRF()
	addCookies(w, x.cookies.Out)
	return x.csrfToken, nil
}

// csrfIn returns the token whose cookie, of that name, the header of this response sets
// already: a page with two forms has one token. It returns false if there is none.
func csrfIn(h http.Header, name string) (string, bool) {
	for _, line := range h["Set-Cookie"] {
		if rest, ok := strings.CutPrefix(line, name+"="); ok {
			token, _, ok := strings.Cut(rest, "%7C")
			return token, ok
		}
	}
	return "", false
}

// addCookies sets cookies on w, in place of those of the same names, and adds Cookie to
// Vary.
func addCookies(w http.ResponseWriter, cookies []*http.Cookie) {
	addVary(w.Header())
	decideCookies(w.Header(), cookies)
}

// ActionURL returns the absolute URL of an action, such as "signin" or
// "callback/github", as the browser that sent r sees the site. Auth.js calls it
// createActionURL. The error is ErrUntrustedHost if r claims a host that the
// configuration does not trust, or a fault of the configuration.
func (a *Auth) ActionURL(r *http.Request, action string) (*url.URL, error) {
	return a.Core().ActionURL(r.Context(), requestHead(r), action)
}

// ClientURL returns the absolute URL of the JavaScript module that the library serves for
// pages (see docs/client.md), as the browser that sent r sees the site. The name of the
// file has a hash of its content, so that browsers cache it for good; under the name
// client/latchkey.js they ask each time. It returns ErrUntrustedHost if r claims a host
// that the configuration does not trust, or a fault of the configuration.
func (a *Auth) ClientURL(r *http.Request) (*url.URL, error) {
	return a.ActionURL(r, "client/"+client.Name(client.Module))
}
