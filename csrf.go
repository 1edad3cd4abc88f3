package latchkey

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/texts"
)

// The double-submit token, compatible with Auth.js: the cookie holds
// token|hash, the form holds the token. Beside it stand the browser's own
// signals, which an attacker's page cannot forge.

var errNoCSRF = errors.New("the form has no valid csrfToken, or its cookie is missing")

// noCSRF returns the ErrMissingCSRF for a form that has no valid token and that the
// browser does not say is of the same origin.
func noCSRF(h http.Header, origin string) error {
	return failure.Wrap(ErrMissingCSRF, withOrigin(h, origin, errNoCSRF))
}

// withOrigin returns err, wrapped for the log with the origin that the browser names if
// that is not the site's, as behind a proxy for development.
func withOrigin(h http.Header, origin string, err error) error {
	from := h.Get("Origin")
	if from == "" || strings.EqualFold(from, origin) {
		return err
	}
	return fmt.Errorf("%w; the browser says it is from %q, while the site is %s", err, texts.Cut(from, 64), origin)
}

// takeCSRF sets x.csrfToken to the token of the browser's CSRF cookie. If the cookie is
// missing or invalid, it makes a token and sets the cookie, except for a post that is
// verified already, and at the callback of a provider that answers by form_post. For a
// post it records in x.csrfVerified whether the browser says that a page of this origin
// sent it, or the posted token is right; it refuses nothing. With SkipCSRFCheck, and if
// the application itself asks, x.csrfVerified is true and there is no token.
func (x *exchange) takeCSRF() {
	if x.trusted || x.setup.config.Security.SkipCSRFCheck {
		x.csrfVerified = true
		return
	}
	token, hash := x.cookies.CSRF()
	if token != "" && secret.IsHash(hash, token, x.setup.csrfSecret) {
		x.csrfToken = token
	}
	if x.isPost() {
		x.csrfVerified = isSameOrigin(x.request.Header, x.origin.Text) || secret.Equal(x.field("csrfToken"), token) && (x.csrfToken != "" || x.setup.validCSRF(token, hash))
	}
	if x.acceptsCrossSite() {
		return // the browser sent no SameSite cookies: a new token would void the forms that it shows
	}
	if x.csrfToken == "" && (!x.isPost() || !x.csrfVerified) {
		x.csrfToken = secret.RandomHex(32)
		x.cookies.Set(x.cookies.Specs.CSRF.New(x.csrfToken+"%7C"+secret.HashWith(x.csrfToken, x.setup.csrfSecret), time.Time{}))
	}
}

// validCSRF reports whether hash is the hash of token, under any secret of the site: a
// form that was open during a rotation of secrets still posts. An empty token is
// invalid.
func (s *setup) validCSRF(token, hash string) bool {
	for _, known := range s.csrfSecrets {
		if token != "" && secret.IsHash(hash, token, known) {
			return true
		}
	}
	return false
}

// isSameOrigin reports whether the browser says, by both Sec-Fetch-Site and Origin, that
// a page of this very origin sent the request. Scripts of other sites can set neither
// header (Fetch, section 2.2.2).
func isSameOrigin(h http.Header, origin string) bool {
	return browser.FetchSite(h) == "same-origin" && h.Get("Origin") == origin
}

// isCrossSite reports whether the browser says that another site sent this post;
// with RefuseSameSite, a sibling host counts as another site. It returns false for
// clients that are no browsers, which say nothing, for requests that acceptsCrossSite
// allows, and with a bearer token.
func (x *exchange) isCrossSite() bool {
	if !x.isPost() || x.acceptsCrossSite() || x.credential.Bearer != nil {
		return false
	}
	from := sentFrom(x.request.Header, x.origin.Text)
	return from == "cross-site" || from == "same-site" && *x.setup.config.Security.RefuseSameSite
}

// isForeignPart reports whether the browser says that a page of another site loads the
// response as a part of itself, such as an image, or by a script. Such a response sets no
// cookie, and isForeignQuestion refuses what counts against a limit of the client
// . A navigation is no part, because links and providers lead to the site by one,
// except that of an embed or object. Nor is the form_post of a provider if the browser
// names no mode. For a request with a bearer token isForeignPart returns false.
func isForeignPart(x *exchange) bool {
	h := x.request.Header
	if browser.FetchSite(h) != "cross-site" || x.credential.Bearer != nil {
		return false
	}
	mode, dest := h.Get("Sec-Fetch-Mode"), h.Get("Sec-Fetch-Dest")
	if mode == "" && x.isPost() && x.acceptsCrossSite() {
		return false
	}
	return mode != "navigate" || dest == "embed" || dest == "object"
}

// isForeignQuestion reports whether the request has to be refused because a page of
// another site loads a callback as a part of itself, or asks for the options of a passkey
// in whatever way.
func isForeignQuestion(x *exchange) bool {
	switch x.action {
	case "callback":
		return isForeignPart(x)
	case "webauthn-options":
		return browser.FetchSite(x.request.Header) == "cross-site"
	}
	return false
}

// sentFrom returns where the browser says that a request comes from, in the words of
// Sec-Fetch-Site (Fetch Metadata, section 2.4). Without that header it judges by Origin,
// where each other origin is cross-site. It returns "" if both are missing.
func sentFrom(h http.Header, origin string) string {
	switch site := browser.FetchSite(h); site {
	case "same-origin", "none", "same-site", "cross-site":
		return site
	}
	given := h["Origin"]
	switch {
	case len(given) == 0 || given[0] == "":
		return ""
	case strings.EqualFold(given[0], origin):
		return "same-origin"
	}
	return "cross-site"
}

// Refusals of requests that the browser says another site sent: to a route, which no
// setting lets pass, and to a handler of the application's own.
var (
	errForeign      = failure.Wrap(ErrMissingCSRF, failure.Of(fault.CSRFOtherSite, errors.New("the browser says that another site asks for this")))
	errForeignAsked = fmt.Errorf("%w; an application that has checked it says SkipCSRFCheck", errForeign)
)

// refuseForeign returns an ErrMissingCSRF if another site has sent the request to a
// handler of the application's own, which need not ask for a token. A post from a
// sibling host passes with a valid csrfToken in form, unless RefuseSameSite is set. A
// csrfToken that is wrong is refused, too, unless the page is of the same origin. With
// skip, or SkipCSRFCheck, it returns nil: the application has checked the request itself.
func refuseForeign(x *exchange, form url.Values, skip bool) error {
	if skip || x.setup.config.Security.SkipCSRFCheck {
		return nil
	}
	token, hash := x.cookies.CSRF()
	given := form["csrfToken"]
	valid := len(given) > 0 && secret.Equal(given[len(given)-1], token) && x.setup.validCSRF(token, hash)
	switch from := sentFrom(x.request.Header, x.origin.Text); {
	case from == "cross-site", from == "same-site" && (!valid || *x.setup.config.Security.RefuseSameSite):
		return withOrigin(x.request.Header, x.origin.Text, errForeignAsked)
	case len(given) > 0 && !valid && from != "same-origin":
		return noCSRF(x.request.Header, x.origin.Text)
	}
	return nil
}

// acceptsCrossSite reports whether the request may be a post of another site: the
// callback of a provider that answers by form_post, or a logout token, which proves
// itself.
func (x *exchange) acceptsCrossSite() bool {
	return x.action == "backchannel-logout" || x.action == "callback" && x.provider != nil && x.provider.info().postsCrossSite
}

// showCSRF answers GET /csrf with x.csrfToken, or with status 404 and without the cookie
// if SkipCSRFCheck is set.
func showCSRF(x *exchange) *Response {
	if x.setup.config.Security.SkipCSRFCheck {
		spec := &x.cookies.Specs.CSRF
		x.cookies.Set(spec.Clear(spec.Name()))
		return &Response{Status: http.StatusNotFound}
	}
	return privateJSON([]byte(`{"csrfToken":"` + x.csrfToken + `"}`))
}
