package latchkey

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// checkCallbackURLs sets x.rememberedURL to the URL of the callback cookie. The caller has
// called resolveOrigin. checkCallbackURLs returns ErrInvalidCallbackURL if the query
// parameter callbackUrl is malformed. For a malformed cookie it returns that error only if
// reportsCookie returns true, and then it clears the cookie, except for the action session.
// Any other malformed cookie counts as none. takeCallbackURL decides later where a
// well-formed URL may lead.
func (x *exchange) checkCallbackURLs() error {
	if to := x.query.Get("callbackUrl"); to != "" && !weburl.Valid(to) {
		return failure.Wrap(ErrInvalidCallbackURL, fmt.Errorf("in the query parameter callbackUrl: %w", weburl.ErrInvalid))
	}
	k := &x.cookies.Specs.CallbackURL
	value, _ := x.cookies.Raw(k)
	if value == x.origin.Escaped { // nearly always
		x.rememberedURL = x.origin.Text
		return nil
	}
	x.rememberedURL = browser.Unescape(value)
	to := x.rememberedURL
	switch {
	case to == "" || to == x.origin.Text || weburl.Valid(to) && fits(k, to):
		return nil
	case !reportsCookie(x.action, to):
		x.rememberedURL = "" // and so it is replaced
		return nil
	case x.action != "session": // which leaves cookies alone on a fault
		x.cookies.Set(k.Clear(k.Name()))
	}
	return failure.Wrap(ErrInvalidCallbackURL, fmt.Errorf("in the callback cookie: %w", weburl.ErrInvalid))
}

// reportsCookie reports whether a callback cookie with a URL of another scheme than
// http(s) is a fault. As in Auth.js it is one where sessions are read and ended. Other
// pages and sign-ins ignore such a cookie, which an attacker may have planted. A value of
// 2 KiB or more, or one that does not parse as a URL, is no fault either.
func reportsCookie(action, to string) bool {
	_, _, hasScheme := strings.Cut(to, ":")
	return (action == "session" || action == "signout") && hasScheme && !weburl.IsHTTP(to) && weburl.Parses(to) && len(to) < longestCookie/2
}

// longestCookie is what browsers keep of a cookie, name and attributes included
// (RFC 6265, section 6.1). A longer one is dropped without a word.
const longestCookie = 4096

// fits reports whether the cookie can hold a callback URL.
func fits(k *browser.Spec, to string) bool {
	value := browser.Escape(to)
	return len(value) <= longestCookie/2 || len(k.New(value, time.Time{}).String()) <= longestCookie
}

// fittingURL returns as much of a callback URL as its cookie can hold: without the query,
// or else the home of the site. A shorter landing is better than a sign-in that fails.
func fittingURL(k *browser.Spec, l *links, to string) string {
	if fits(k, to) {
		return to
	}
	if i := strings.IndexAny(to, "?#"); i >= 0 && fits(k, to[:i]) {
		return to[:i]
	}
	return l.home()
}

// takeCallbackURL sets x.callbackURL, where the browser goes in the end: to the field or
// the query parameter callbackUrl, else to the URL of the callback cookie, else home. It
// sets the cookie to that. It returns ErrInvalidCallbackURL if Callbacks.Redirect refuses
// the field or parameter, or the field is malformed; a cookie that is refused is logged and
// replaced. At a provider's callback, the URL kept with the sign-in later wins.
func (x *exchange) takeCallbackURL(ctx context.Context) (err error) {
	to := x.query.Get("callbackUrl")
	if given, ok := x.form["callbackUrl"]; ok {
		text, isText := given.(string)
		if !isText {
			return failure.Wrap(ErrInvalidCallbackURL, weburl.ErrInvalid)
		}
		to = cmp.Or(text, to)
	}
	x.callbackURL = x.home()
	isAsked := to != ""
	if to = cmp.Or(to, x.rememberedURL); to != "" {
		if x.callbackURL, err = x.resolveRedirect(ctx, to); err != nil && isAsked {
			return failure.Wrap(ErrInvalidCallbackURL, err)
		}
	}
	if err != nil { // a cookie that was planted, or has outlived the rules
		x.setup.log.Error(ctx, x, failure.Wrap(ErrInvalidCallbackURL, &failure.Mistake{Err: fmt.Errorf("the callback cookie is replaced: %w", err)}))
		x.callbackURL = x.home()
	}
	if x.callbackURL == x.rememberedURL {
		return nil
	}
	if kept := fittingURL(&x.cookies.Specs.CallbackURL, &x.links, x.callbackURL); kept != x.rememberedURL {
		x.cookies.Set(x.cookies.Specs.CallbackURL.New(browser.Escape(kept), time.Time{}))
	}
	return nil
}

// landingAsked returns where a sign-in that the application begins is to end:
// o.RedirectTo, else redirectTo of o.Form, else callbackUrl of o.Form, else the page that
// the browser comes from. It adds Site.Prefix to the first two: callbackUrl is as
// browsers know it.
func landingAsked(l *links, h http.Header, o *SignInOptions) string {
	to := cmp.Or(o.RedirectTo, o.Form.Get("redirectTo"))
	if asRoute := o.Form.Get("callbackUrl"); to == "" && asRoute != "" {
		return asRoute
	}
	return returnTo(l, h, to)
}

// returnTo returns where a browser goes in the end: to, with Site.Prefix; if to is empty,
// the page of the Referer if that is of the site, else the home page. The caller has the
// result checked like any other input.
func returnTo(l *links, h http.Header, to string) string {
	if to != "" {
		return l.outward(to)
	}
	to = h.Get("Referer")
	if rest, ok := strings.CutPrefix(to, l.origin.Text); !ok || (rest != "" && rest[0] != '/') {
		return l.outward("/")
	}
	return to
}
