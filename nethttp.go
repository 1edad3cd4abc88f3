package latchkey

import (
	"net/http"
	"net/url"
	"strings"
)

// What the application can do from its own handlers. Each runs the same code as
// the route of its name, and needs no CSRF token: what the browser itself marks
// as another site's is refused, unless the application says that it has checked.

// SignInOptions says how a sign-in that the application starts goes on.
type SignInOptions struct {
	_ [0]func() // not comparable; literals name their fields
	hidden

	RedirectTo string     // where to end up; empty: the field redirectTo of Form, else its callbackUrl, else the page that asked (Referer), else /
	NoRedirect bool       // return the URL instead of redirecting
	Form       url.Values // what was typed: e-mail, credentials; fields called authorizationParams-X become parameter X
	// SkipCSRFCheck says that the application has checked where the request
	// comes from. false: what the browser marks as another site's, by
	// Sec-Fetch-Site or Origin, is ErrMissingCSRF, a link from there included;
	// so is a csrfToken in Form that is not [Auth.CSRFToken]'s. A sibling host
	// needs that token.
	SkipCSRFCheck bool
}

// SignIn starts signing in with a provider, or, with an empty or unknown
// provider, leads to the sign-in page. It sets the cookies on w and redirects,
// or returns the URL with NoRedirect. params are added to the authorization
// request of an OAuth provider. The error is an [*Error], as a form wants to
// show it: wrong credentials are ErrCredentialsSignin, a form of another site is
// ErrMissingCSRF. It has been logged.
func (a *Auth) SignIn(w http.ResponseWriter, r *http.Request, provider string, o SignInOptions, params url.Values) (string, error) {
	res, err := a.Core().SignIn(r.Context(), requestHead(r), provider, o, params)
	if err != nil {
		return "", err
	}
	return finish(w, res, o.NoRedirect), nil
}

// SignOutOptions says how a sign-out that the application starts goes on.
type SignOutOptions struct {
	_ [0]func() // not comparable; literals name their fields

	RedirectTo string // where to end up; empty: the page that asked (Referer), else /
	NoRedirect bool   // return the URL instead of redirecting
	// SkipCSRFCheck says that the application has checked where the request
	// comes from. false: what the browser marks as another site's, or a sibling
	// host's, is ErrMissingCSRF.
	SkipCSRFCheck bool
}

// SignOut ends the session. It sets the cookies on w and redirects, or returns
// the URL with NoRedirect.
func (a *Auth) SignOut(w http.ResponseWriter, r *http.Request, o SignOutOptions) (string, error) {
	res, err := a.Core().SignOut(r.Context(), requestHead(r), o)
	if err != nil {
		return "", err
	}
	return finish(w, res, o.NoRedirect), nil
}

// finish gives the browser what the route answered.
func finish(w http.ResponseWriter, res *Response, noRedirect bool) string {
	if noRedirect {
		addCookies(w, res.Cookies)
		return res.Redirect
	}
	res.Send(w)
	return res.Redirect
}

// CSRFToken returns the token that the application's own form must post as
// csrfToken to the routes under the base path. It sets the cookie on w when the
// browser has none yet, so call it before writing the body.
func (a *Auth) CSRFToken(w http.ResponseWriter, r *http.Request) (string, error) {
	x, err := a.Core().reading(r.Context(), asGet(requestHead(r)))
	if err != nil {
		return "", err
	}
	if token, ok := csrfIn(w.Header(), x.cookies.specs.csrf.name()); ok {
		return token, nil
	}
	x.takeCSRF()
	addCookies(w, x.cookies.out)
	return x.csrfToken, nil
}

// csrfIn finds the token that this response hands out already: a page with two
// forms has one token.
func csrfIn(h http.Header, name string) (string, bool) {
	for _, line := range h["Set-Cookie"] {
		if rest, ok := strings.CutPrefix(line, name+"="); ok {
			token, _, ok := strings.Cut(rest, "%7C")
			return token, ok
		}
	}
	return "", false
}

func addCookies(w http.ResponseWriter, cookies []*http.Cookie) {
	addVary(w.Header())
	for _, c := range cookies {
		addCookie(w.Header(), c)
	}
}

// ActionURL is the absolute URL of an action, such as "signin" or
// "callback/github", as the browser that sent r sees the site: what Auth.js
// calls createActionURL. The error is ErrUntrustedHost when r says something
// about the site that is not believed.
func (a *Auth) ActionURL(r *http.Request, action string) (*url.URL, error) {
	return a.Core().ActionURL(r.Context(), requestHead(r), action)
}
