package latchkey

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/explain"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
)

// respond answers r with s. It renders an error as a page, a redirect or JSON, as the
// client expects. After an error of a route it drops the cookies that the route has set,
// so that the browser keeps those of a flow; only a flash message is added. After a
// configFault, which comes before any route, respond keeps the cookies, since
// checkCallbackURLs may have cleared one. s is nil only if fault is not nil.
func respond(ctx context.Context, s *setup, fault error, r *Request) *Response {
	ctx, step := beginRequest(ctx, s, r)
	var x *exchange
	var res *Response
	var err error
	defer func() { endRequest(step, x, res, err) }()
	x, res, err = answerRequest(ctx, s, fault, r, false)
	code := "" // of the failure, where the site shows it
	if err != nil {
		res = render(ctx, s, x, r, err)
		if _, ok := errors.AsType[*configFault](err); ok && x != nil {
			res.Cookies = append(res.Cookies, x.cookies.Out...) // a planted one is cleared
		}
		if x != nil && isForeignPart(x) {
			res.Cookies = nil
		}
		if x != nil {
			res = refer(x.setup, &x.visit, res, err)
		}
		code = res.Header.Get(referenceHeader)
	}
	if x != nil && res.Redirect != "" && x.wantsJSON() {
		res = asJSON(res)
	}
	res = referInJSON(res, code)
	if x != nil && dependsOnCookie(x.action) {
		res = variedFor(x.setup.config.Session.Bearer, res)
	}
	return res
}

// serveHTTP reads the body into req, the head of r, as the configuration
// allows, and answers.
func serveHTTP(w http.ResponseWriter, r *http.Request, req *Request, s *setup, fault error) {
	if readBodyOf(w, r, req, s) {
		respond(r.Context(), s, fault, req).Send(w)
	}
}

// readBodyOf reads the body of r into req, as the configuration allows. It returns false
// if that fails, and has sent the answer then.
func readBodyOf(w http.ResponseWriter, r *http.Request, req *Request, s *setup) bool {
	refused := readBody(r.Context(), s, req, r.Body, r.ContentLength)
	if refused != nil {
		refused.Send(w)
	}
	return refused == nil
}

// readBody reads a body into r, as the configuration allows. It returns nil, or logs the
// failure and returns the answer to it: status 413 for a body that is too large, else
// 400.
func readBody(ctx context.Context, s *setup, r *Request, body io.Reader, length int64) *Response {
	limit := defaultBodyLimit
	if s != nil {
		limit = s.config.Limits.MaxBodyBytes
	}
	err := r.readBody(body, length, limit)
	switch {
	case errors.Is(err, ErrBodyTooLarge):
		if s != nil {
			s.log.Error(ctx, bareExchange(s, r, ""), failure.Wrap(ErrUnknownAction, failure.Of(fault.RequestLarge, err)))
		}
		res := jsonText(http.StatusRequestEntityTooLarge, "Request body too large.")
		res.Header["Connection"] = []string{"close"}
		return res
	case err != nil:
		if s != nil {
			s.log.Error(ctx, bareExchange(s, r, ""), badRequestFor("the body ends too early"))
		}
		return badRequest(r)
	}
	return nil
}

// answerTraced does what answerRequest does, as an operation of its own for the tracer.
// It is for callers that render no error.
func answerTraced(ctx context.Context, s *setup, fault error, r *Request, trusted bool) (x *exchange, res *Response, err error) {
	ctx, step := beginRequest(ctx, s, r)
	defer func() { endRequest(step, x, res, err) }()
	return answerRequest(ctx, s, fault, r, trusted)
}

// answerRequest parses a request below the base path, checks its host and its callback
// URLs, and serves it. fault is what is wrong with the configuration, or nil. With
// trusted, the application itself makes the request. An error of the configuration, the
// host or the callback URLs is a configFault. Errors of newExchange and serve come back
// as they are. The exchange is nil only if s is nil.
func answerRequest(ctx context.Context, s *setup, fault error, r *Request, trusted bool) (*exchange, *Response, error) {
	if s == nil {
		return nil, nil, &configFault{fault}
	}
	x, bad := newExchange(s, r)
	if bad != nil {
		return x, nil, bad
	}
	x.trusted = trusted
	early := fault
	if untrusted := x.resolveOrigin(); early == nil { // an error page is better off knowing where the site is
		early = untrusted
	}
	if early == nil && x.action != "backchannel-logout" { // which reads no cookie
		early = x.checkCallbackURLs()
	}
	if early != nil {
		return x, nil, &configFault{early}
	}
	return x.serve(s.in(ctx))
}

// serve routes a request, and returns x with the response. It adds the cookies of x to
// the response, or takes all cookies off if isForeignPart. With an error it returns no
// response, and the cookies stay in x. It answers with status 403 if the browser says
// that another site has sent a post, loads a callback as a part of its page, or asks for
// the options of a passkey. It turns a panic into an error. It always delivers the events
// that were queued.
func (x *exchange) serve(ctx context.Context) (same *exchange, res *Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			same, res, err = x, nil, guarded.Panicked(p)
			addFault(x, err)
			tell(ctx, x)
		}
	}()
	if x.isCrossSite() || isForeignQuestion(x) {
		addFailure(x, event.RequestRefused, errForeign)
		x.setup.log.Error(ctx, x, withOrigin(x.request.Header, x.origin.Text, errForeign))
		tell(ctx, x)
		return x, crossSite(ctx, x), nil
	}
	res, err = x.route(ctx)
	addFault(x, err)
	tell(ctx, x)
	if err != nil {
		return x, nil, err
	}
	if res.Cookies = append(res.Cookies, x.cookies.Out...); isForeignPart(x) {
		res.Cookies = nil
	}
	return x, res, nil
}

// addFault adds the event of a request that failed because of a panic or a store.
func addFault(x *exchange, err error) {
	if err != nil && explain.IsFault(explain.DetailOf(err)) {
		addFailure(x, event.Fault, err)
	}
}

// addFailure adds an event of a request that failed. There is no handler for it, only
// the observer and the audit log.
func addFailure(x *exchange, t event.Type, err error) {
	if x.events.Base == nil {
		return
	}
	d := explain.DetailOf(err)
	code := referenceOf(x.setup, &x.visit, d)
	x.events.Add(Event{Type: t, Outcome: event.Failed, Reason: failure.TypeOf(err), Detail: d, Reference: code, Err: handOut(x, err)}, nil)
}
