package latchkey

import (
	"context"
	"net/http"

	"github.com/latchkeyhq/latchkey/internal/failure"
)

// The routes that take a session token in the Authorization header. It needs no
// CSRF token: no browser sends it by itself, and no page of another site can
// make one.

// routeBearer answers a request with a token in the Authorization header. It changes no
// cookie: the cookies that came along may belong to another user.
func routeBearer(ctx context.Context, x *exchange) *Response {
	res := noStore(answerBearer(ctx, x))
	x.cookies.Out = nil
	return res
}

// answerBearer reads or updates the session of the token, or ends it if the action is signout.
// A malformed token gets status 400. A read or update by a token without a live session gets
// status 401. A fault gets a JSON error.
func answerBearer(ctx context.Context, x *exchange) *Response {
	b := x.credential.Bearer
	switch {
	case b.Malformed:
		return challenged(x)
	case x.action == "signout":
		return endBearer(ctx, x)
	}
	var c *change
	if x.isPost() {
		c = &change{x.form["data"]}
	}
	b.Renews = true
	r, err := x.setup.sessions.read(ctx, &x.visit, c)
	if err != nil { // not 401: the token may be good, and an app would throw it away
		x.setup.log.Error(ctx, x, err)
		return faultJSON(err)
	}
	if r == nil {
		return challenged(x)
	}
	res := jsonBytes(http.StatusOK, r.json)
	b.HandOver(res.Header)
	return res
}

// endBearer ends the session of a token and answers with status 204. A token that is
// unknown gets that answer, too: its session has ended already (RFC 7009, section 2.2).
// It tells the provider of the sign-out if that is configured.
func endBearer(ctx context.Context, x *exchange) *Response {
	ended, err := x.setup.sessions.close(ctx, &x.visit)
	if err != nil {
		x.setup.log.Error(ctx, x, failure.Wrap(ErrSignOut, err), "alert", true)
		return faultJSON(err)
	}
	x.setup.log.Info(ctx, x, "signed out")
	if p := x.setup.providers[ended.provider]; p != nil && p.info().signedOut != nil {
		if _, err := p.info().signedOut(ctx, x, ended); err != nil { // there is no browser that could be sent there
			x.setup.log.Error(ctx, x, err)
		}
	}
	return &Response{Status: http.StatusNoContent, Header: http.Header{}}
}

// challenged returns the answer with status 401 to a script without a session and to an
// app with a token that opens none. A malformed token gets status 400.
func challenged(x *exchange) *Response {
	res := noStore(jsonText(http.StatusUnauthorized, "Sign in to access this."))
	if b := x.credential.Bearer; b != nil && b.Malformed {
		res = noStore(badRequest(x.request))
	}
	challengeOwn(x, res)
	return res
}

// challengeHeader is WWW-Authenticate, as net/http spells it.
const challengeHeader = "Www-Authenticate"

// challengeOwn sets WWW-Authenticate on an answer with status 401 or to a malformed token
// (RFC 9110, section 11.6.1). It does nothing on sites that take no bearer tokens:
// cookies have no scheme.
func challengeOwn(x *exchange, res *Response) {
	refuses := res.Status == http.StatusUnauthorized || x.credential.Bearer != nil && x.credential.Bearer.Malformed
	if !refuses || !x.setup.config.Session.Bearer || res.Header.Get(challengeHeader) != "" {
		return
	}
	if res.Header == nil {
		res.Header = http.Header{}
	}
	res.Header[challengeHeader] = []string{x.credential.Bearer.Challenge(x.origin.Host())}
}
