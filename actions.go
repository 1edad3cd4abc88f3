package latchkey

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// What the application can do from its own handlers. Each runs the same code
// as the route of its name, without asking for a CSRF token: the application's
// own form is expected to be protected, or to carry [Auth.CSRFToken].

// SignInOptions says how a sign-in that the application starts goes on.
type SignInOptions struct {
	RedirectTo string     // where to end up; empty: the page that asked (Referer), else /
	NoRedirect bool       // return the address instead of redirecting
	Form       url.Values // what was typed: e-mail, credentials; fields called authorizationParams-X become parameter X
}

// SignIn starts signing in with a provider, or, with an empty or unknown
// provider, leads to the sign-in page. It sets the cookies on w and redirects,
// or returns the address with NoRedirect. params are added to the
// authorization request of an OAuth provider. The error is an [*Error], as a
// form wants to show it: wrong credentials are ErrCredentialsSignin.
func (a *Auth) SignIn(w http.ResponseWriter, r *http.Request, provider string, o SignInOptions, params url.Values) (string, error) {
	s, err := a.setupFor(r.Context(), requestHead(r))
	if err != nil {
		return "", publicError(err)
	}
	to, err := a.returnTo(r, o.RedirectTo)
	if err != nil {
		return "", err
	}
	p, ok := s.providers[provider]
	if !ok {
		v, err := a.reading(r.Context(), requestHead(r))
		if err != nil {
			return "", err
		}
		return a.finish(w, &Response{Redirect: v.signInAddress(to)}, o.NoRedirect), nil
	}
	form := make(url.Values, len(o.Form)+1)
	query := make(url.Values, len(params))
	for name, values := range params {
		query[name] = values
	}
	for name, values := range o.Form {
		if param, ok := strings.CutPrefix(name, "authorizationParams-"); ok {
			query[param] = values
			continue
		}
		form[name] = values
	}
	form.Set("callbackUrl", to)
	route := "signin/"
	if p.info().kind == TypeCredentials {
		route = "callback/"
	}
	res, err := a.act(r.Context(), s, r, route+provider, query, formType, []byte(form.Encode()))
	if err != nil {
		return "", err
	}
	if s.setsSession(res) {
		settleSession(r, nil, ErrNoSession) // the new session begins with the next request
	}
	return a.finish(w, res, o.NoRedirect), nil
}

// SignOutOptions says how a sign-out that the application starts goes on.
type SignOutOptions struct {
	RedirectTo string // where to end up; empty: the page that asked (Referer), else /
	NoRedirect bool   // return the address instead of redirecting
}

// SignOut ends the session. It sets the cookies on w and redirects, or returns
// the address with NoRedirect.
func (a *Auth) SignOut(w http.ResponseWriter, r *http.Request, o SignOutOptions) (string, error) {
	s, err := a.setupFor(r.Context(), requestHead(r))
	if err != nil {
		return "", publicError(err)
	}
	to, err := a.returnTo(r, o.RedirectTo)
	if err != nil {
		return "", err
	}
	form := url.Values{"callbackUrl": {to}}
	res, err := a.act(r.Context(), s, r, "signout", nil, formType, []byte(form.Encode()))
	if err != nil {
		return "", err
	}
	settleSession(r, nil, ErrNoSession)
	return a.finish(w, res, o.NoRedirect), nil
}

// UpdateSession hands data to the token callback (or, with stored sessions, the
// session callback) as a browser's update would, and returns the new session.
// data must be something JSON can hold. Without a session it is ErrNoSession.
func (a *Auth) UpdateSession(w http.ResponseWriter, r *http.Request, data any) (*Session, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, ErrInvalidConfig.because(err)
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		return nil, ErrInvalidConfig.because(err)
	}
	v, err := a.reading(r.Context(), requestHead(r))
	if err != nil {
		return nil, err
	}
	s, err := v.readSession(r.Context(), &change{plain})
	settleSession(r, s, err)
	for _, c := range v.set {
		addCookie(w.Header(), c)
	}
	return s, err
}

// CSRFToken returns the token that the application's own form must post as
// csrfToken to the routes under the base path. It sets the cookie on w when the
// browser has none yet, so call it before writing the body.
func (a *Auth) CSRFToken(w http.ResponseWriter, r *http.Request) (string, error) {
	v, err := a.reading(r.Context(), &Request{Method: http.MethodGet, URL: r.URL, Host: r.Host, Header: r.Header, RemoteAddr: r.RemoteAddr, TLS: r.TLS != nil})
	if err != nil {
		return "", err
	}
	if token, ok := v.csrfInResponse(w.Header()); ok {
		return token, nil
	}
	v.takeCSRF()
	for _, c := range v.set {
		addCookie(w.Header(), c)
	}
	return v.csrf, nil
}

// csrfInResponse finds the token that this response hands out already: a page
// with two forms has one token.
func (v *visit) csrfInResponse(h http.Header) (string, bool) {
	for _, line := range h["Set-Cookie"] {
		if rest, ok := strings.CutPrefix(line, v.kinds.csrf.name()+"="); ok {
			token, _, ok := strings.Cut(rest, "%7C")
			return token, ok
		}
	}
	return "", false
}

// ActionURL is the absolute address of an action, such as "signin" or
// "callback/github", as the visitor of r sees the site: what the original calls
// createActionURL. The error is ErrUntrustedHost when r says something about
// the site that is not believed.
func (a *Auth) ActionURL(r *http.Request, action string) (*url.URL, error) {
	v, err := a.reading(r.Context(), requestHead(r))
	if err != nil {
		return nil, err
	}
	return url.Parse(v.url(strings.TrimLeft(action, "/")))
}

// act runs a route for the application.
func (a *Auth) act(ctx context.Context, s *setup, r *http.Request, route string, query url.Values, mediaType string, body []byte) (*Response, error) {
	header := r.Header.Clone()
	header.Set("Content-Type", mediaType)
	for _, name := range []string{"Origin", "Sec-Fetch-Site", "X-Auth-Return-Redirect"} {
		header.Del(name) // they speak of the application's own request, which it has answered for
	}
	trusted := *s
	trusted.SkipCSRFCheck = true
	req := &Request{
		Method: http.MethodPost, URL: &url.URL{Path: s.path(route), RawQuery: query.Encode()},
		Host: r.Host, Header: header, Body: body, RemoteAddr: r.RemoteAddr, TLS: r.TLS != nil,
	}
	return fixedAuth(&trusted).Do(ctx, req)
}

// setsSession: the response has a session cookie.
func (s *setup) setsSession(res *Response) bool {
	for _, c := range res.Cookies {
		for _, set := range s.cookies {
			if c.Value != "" && strings.HasPrefix(c.Name, set.session.name()) {
				return true
			}
		}
	}
	return false
}

// returnTo is where a visitor ends up: what the application says, else the page
// they come from, which is input like any other.
func (a *Auth) returnTo(r *http.Request, to string) (string, error) {
	v, err := a.reading(r.Context(), requestHead(r))
	if err != nil {
		return "", err
	}
	if to == "" {
		to = r.Referer()
		if rest, ok := strings.CutPrefix(to, v.origin.text); !ok || (rest != "" && rest[0] != '/') {
			to = "/"
		}
	}
	return to, nil
}

// finish gives the visitor what the route answered.
func (a *Auth) finish(w http.ResponseWriter, res *Response, noRedirect bool) string {
	if noRedirect {
		for _, c := range res.Cookies {
			addCookie(w.Header(), c)
		}
		return res.Redirect
	}
	res.Send(w)
	return res.Redirect
}
