package latchkey

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// links writes the URLs of a site, as its browsers know them.
type links struct {
	origin     weburl.Origin // as this browser sees it
	base       string        // the base path, as the program knows it
	prefix     string        // Site.Prefix
	signInPage string        // Pages.SignIn; empty: the built-in page
}

// path returns the path of a route below the base path, as browsers know it.
func (l *links) path(route string) string { return l.outward(l.base + "/" + route) }

// outward returns a path of the program as browsers know it: with the prefix in front. It
// returns a URL as it is.
func (l *links) outward(to string) string {
	if l.prefix != "" && strings.HasPrefix(to, "/") {
		return l.prefix + to
	}
	return to
}

// url returns the absolute URL of a route.
func (l *links) url(route string) string { return l.origin.Text + l.path(route) }

// absolute returns the absolute URL of a path of the application's own, as the program
// knows it. It returns anything else as it is.
func (l *links) absolute(to string) string {
	if strings.HasPrefix(to, "/") {
		return l.origin.Text + l.outward(to)
	}
	return to
}

// home returns the URL at which browsers find the application. With a Prefix it ends with
// a slash, because a mounted handler and most proxies answer nothing else. Without one,
// and if Prefix is all of the base path, so that the application is the rest of the site,
// it is the origin alone.
func (l *links) home() string {
	if l.prefix == "" || l.base == "" {
		return l.origin.Text
	}
	return rootOf(l) + "/"
}

// rootOf returns the origin with the prefix: what browsers have in front of a path of the
// program.
func rootOf(l *links) string { return l.origin.Text + l.prefix }

// asked returns the URL that the browser asked for, as the browser wrote it.
func (l *links) asked(r *Request) string { return rootOf(l) + r.URL.RequestURI() }

// signIn returns the URL of the page that asks the user to sign in and leads back to to.
func (l *links) signIn(to string) string {
	if l.signInPage != "" {
		return weburl.WithQuery(l.absolute(l.signInPage), "callbackUrl", to)
	}
	return l.url("signin") + "?callbackUrl=" + url.QueryEscape(to)
}

// change returns the URL of the account page that asks for a recent proof first.
func (l *links) change() string { return l.url("account?do=change") }

// deletion returns the URL of the page that asks before an account is deleted.
func (l *links) deletion() string { return l.url("account?do=delete") }

// ownExport returns the URL of the page where users download what is kept of them.
func ownExport(l *links) string { return l.url("account?do=export") }

// errorPageFor returns a redirect to own, which is [Pages].Error, with the name of an
// error. It returns nil where the built-in page has to answer: own is empty; the origin
// of the site is unknown, since the host of the request is not trusted; or the request
// asks for own itself, which a guard would refuse once more.
func errorPageFor(l *links, own string, r *Request, code string) *Response {
	if own == "" || l.origin.Text == "" || weburl.SamePage(l.absolute(own), l.asked(r)) {
		return nil
	}
	to := l.absolute(weburl.WithQuery(own, "error", code))
	return &Response{Redirect: to, Header: http.Header{"Cache-Control": {"no-store"}}}
}

// reauthURL returns the URL of the page that asks for a proof, by a second factor if byFactor
// is true, and then leads to the URL back. more are more parameters, name and value in turn.
func reauthURL(l *links, byFactor bool, back string, more ...string) string {
	return weburl.WithQuery(l.url("reauth"), append([]string{"for", wantedName(byFactor), "callbackUrl", back}, more...)...)
}

// wantedName returns the value of the parameter for of the page that asks for a proof:
// factor or recent.
func wantedName(byFactor bool) string {
	if byFactor {
		return "factor"
	}
	return "recent"
}
