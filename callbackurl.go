package latchkey

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// checkCallbackURLs refuses a callback URL that makes no sense before anything
// is done. Where a good one may lead is decided later.
func (x *exchange) checkCallbackURLs() error {
	if to := x.query.Get("callbackUrl"); to != "" && !weburl.Valid(to) {
		return ErrInvalidCallbackURL.wrap(errors.New("in the query parameter callbackUrl: " + weburl.ErrInvalid.Error()))
	}
	x.rememberedURL, _ = x.cookies.value(&x.cookies.specs.callbackURL)
	if to := x.rememberedURL; to != "" && to != x.origin.Text && !weburl.Valid(to) {
		return ErrInvalidCallbackURL.wrap(errors.New("in the callback cookie: " + weburl.ErrInvalid.Error()))
	}
	return nil
}

// takeCallbackURL decides where the browser goes in the end, from the form, the
// query or the cookie, and has it remembered.
func (x *exchange) takeCallbackURL(ctx context.Context) (err error) {
	to := x.query.Get("callbackUrl")
	if given, ok := x.form["callbackUrl"]; ok {
		text, isText := given.(string)
		if !isText {
			return ErrInvalidCallbackURL.wrap(weburl.ErrInvalid)
		}
		to = firstOf(text, to)
	}
	x.callbackURL = x.origin.Text
	if to = firstOf(to, x.rememberedURL); to != "" {
		if x.callbackURL, err = x.resolveRedirect(ctx, to); err != nil {
			return ErrInvalidCallbackURL.wrap(err)
		}
	}
	if x.callbackURL != x.rememberedURL {
		x.cookies.set(x.cookies.specs.callbackURL.make(escapeCookie(x.callbackURL), noTime))
	}
	return nil
}
