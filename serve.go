package latchkey

import (
	"context"
	"errors"
	"net/http"

	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// respond answers r with s. An error, be it the fault of the configuration or
// one on the way, becomes a page, a redirect or JSON, as the browser expects it.
func respond(ctx context.Context, s *setup, fault error, r *Request) *Response {
	x, res, err := answer(ctx, s, fault, r, false)
	if err != nil {
		res = render(ctx, x, r, err)
	}
	if x != nil && res.Redirect != "" && x.wantsJSON() {
		res = asJSON(res)
	}
	return res
}

// answer is the way of every request below the base path: what it is about,
// whether to believe it, what the routes make of it. trusted: it is the
// application itself that asks.
func answer(ctx context.Context, s *setup, fault error, r *Request, trusted bool) (*exchange, *Response, error) {
	if s == nil {
		return nil, nil, &configFault{fault}
	}
	x, bad := newExchange(s, r)
	if bad != nil {
		return x, nil, bad
	}
	x.trusted = trusted
	if untrusted := x.resolveOrigin(); fault == nil { // an error page is better off knowing where the site is
		fault = untrusted
	}
	if fault == nil {
		fault = x.checkCallbackURLs()
	}
	if fault != nil {
		return x, nil, &configFault{fault}
	}
	return x.serve(ctx)
}

// serve answers a request that is believed: from here on panics end in an error,
// and everything that happened is told.
func (x *exchange) serve(ctx context.Context) (same *exchange, res *Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			same, res, err = x, nil, panicked(p)
		}
	}()
	if x.isCrossSite() {
		return x, jsonText(http.StatusForbidden, "Cross-site request refused."), nil
	}
	res, err = x.route(ctx)
	x.tellRest(ctx)
	if err != nil {
		return x, nil, err
	}
	res.Cookies = append(res.Cookies, x.cookies.out...)
	return x, res, nil
}

// checkCallbackURLs refuses a callback URL that makes no sense before anything
// is done. Where a good one may lead is decided later.
func (x *exchange) checkCallbackURLs() error {
	if to := x.query.Get("callbackUrl"); to != "" && !weburl.Valid(to) {
		return ErrInvalidCallbackURL.wrap(errors.New("in the query parameter callbackUrl: " + weburl.ErrInvalid.Error()))
	}
	if to, ok := x.cookies.value(&x.cookies.specs.callbackURL); ok && to != "" && !weburl.Valid(to) {
		return ErrInvalidCallbackURL.wrap(errors.New("in the callback cookie: " + weburl.ErrInvalid.Error()))
	}
	return nil
}

// takeCallbackURL decides where the browser goes in the end, from the form, the
// query or the cookie, and has it remembered.
func (x *exchange) takeCallbackURL(ctx context.Context) (err error) {
	remembered, _ := x.cookies.value(&x.cookies.specs.callbackURL)
	to := x.query.Get("callbackUrl")
	if given, ok := x.form["callbackUrl"]; ok {
		text, isText := given.(string)
		if !isText {
			return ErrInvalidCallbackURL.wrap(weburl.ErrInvalid)
		}
		to = firstOf(text, to)
	}
	x.callbackURL = x.origin.Text
	if to = firstOf(to, remembered); to != "" {
		if x.callbackURL, err = x.resolveRedirect(ctx, to); err != nil {
			return ErrInvalidCallbackURL.wrap(err)
		}
	}
	if x.callbackURL != remembered {
		x.cookies.set(x.cookies.specs.callbackURL.make(escapeCookie(x.callbackURL), noTime))
	}
	return nil
}
