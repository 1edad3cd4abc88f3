package latchkey

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/explain"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/redact"
	"github.com/latchkeyhq/latchkey/internal/texts"
)

// exchange is one request and the response being made for it: what came in,
// what was worked out from it, and what goes out.
type exchange struct {
	setup *setup
	links
	visit

	action     string
	providerID string           // or the name of a file, for the action client
	provider   preparedProvider // nil: none named, or unknown

	form  map[string]any // the body's fields; text unless the body was JSON
	query url.Values

	trusted      bool   // the application itself asks: no CSRF token is needed
	csrfToken    string // this browser's; empty: not needed yet
	csrfVerified bool

	named string // id of the user whose name was typed; empty: not known

	// stepUp answers the callback of a provider that was asked who the user of the
	// session is. nil: no page asks that.
	stepUp *providerProof

	callbackURL   string // where the browser goes in the end
	rememberedURL string // the same, as the browser's cookie has it
}

// errBadRequest is any request that is none of ours: a method, path or body
// that no route understands.
var errBadRequest = errors.New("bad request")

// errTooMuch is the error for a request that would be expensive to read. No request of
// the protocol is. The log says so, since a page of the application's own may have sent
// it.
var errTooMuch = badRequestFor("the query or body has too many, too long or too deeply nested values")

// How many bytes a request may have before anything of it is checked.
const (
	longestQuery = 8 << 10
	longestValue = 4 << 10 // of a query or body, names included
)

var bodyBounds = jsonscan.Bounds{Values: 1000, Depth: 64, Length: longestValue}

// longestGrant is the length of a code or an ID token that a provider's callback may
// have: what package oauth verifies. A query has room for longestQuery at most.
const longestGrant = 16 << 10

// longestOf returns how many bytes one value of a request may have. It returns 0 for no
// limit: the provider itself then bounds what was typed, and answers as it does to all
// wrong input. p may be nil.
func longestOf(action string, p preparedProvider) int {
	if action != "callback" || p == nil {
		return longestValue
	}
	switch p.info().kind {
	case TypeCredentials, TypeWebAuthn:
		return 0
	case TypeOAuth, TypeOIDC:
		return longestGrant
	}
	return longestValue
}

// badRequestFor returns the ErrUnknownAction for a request that no route understands.
func badRequestFor(reason string) error {
	return failure.Wrap(ErrUnknownAction, fmt.Errorf("%w: %s", errBadRequest, reason))
}

// newExchange parses the path, query and form of a request, and looks at neither its host
// nor its cookies. It returns ErrUnknownAction for a request that no route understands.
// The exchange is never nil.
func newExchange(s *setup, r *Request) (*exchange, error) {
	path := r.URL.EscapedPath()
	action, providerID, ok := parsePath(s.config.Site.BasePath, path)
	x := bareExchange(s, r, action)
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		return x, badRequestFor("only GET and POST are answered")
	case !s.config.isBelow(path):
		return x, badRequestFor("the path " + redact.Printable(path, 128) + " is not below Site.BasePath " + s.config.Site.BasePath + "; behind http.StripPrefix, or a proxy that takes a prefix off, set Site.Prefix")
	case !ok || !s.config.offersAction(action):
		return x, badRequestFor("no route has the path " + redact.Printable(path, 128))
	}
	x.providerID, x.provider = providerID, s.providers[providerID]
	if action == "backchannel-logout" { // which reads its own body, and nothing else
		return x, nil
	}
	if r.URL.RawQuery != "" {
		if len(r.URL.RawQuery) > longestQuery {
			return x, errTooMuch
		}
		x.query = lastOfEach(r.URL.RawQuery)
		for name, values := range x.query {
			if max(len(name), len(values[0])) > max(longestValue, longestOf(x.action, x.provider)) { // one of each is left
				return x, errTooMuch
			}
		}
	}
	return x, x.readForm()
}

// lastOfEach parses a query as forms are read: of a parameter that is given several times
// the last value counts. Malformed pairs are dropped.
func lastOfEach(query string) url.Values {
	params, _ := url.ParseQuery(query)
	for name, all := range params {
		params[name] = all[len(all)-1:]
	}
	return params
}

// bareExchange returns an exchange for action that has read nothing of r yet: not even
// the origin and the cookies.
func bareExchange(s *setup, r *Request, action string) *exchange {
	x := &exchange{setup: s, action: action, links: s.links}
	x.request, x.now, x.about, x.recent = r, s.now, x, cmp.Or(s.config.Factors.Recent, freshSignIn)
	x.credential.Cookies = &x.cookies
	x.events.Hears = (*listeners)(&s.config.Events)
	x.trail.On = s.log.Traces()
	if s.config.keepsEvents() {
		x.events.Base, x.events.Audit = x.eventBase(), s.table
	}
	return x
}

// strayExchange returns an exchange for a request that has no route. If its host is not
// trusted, the origin is empty, and an error page then does not name the site.
func strayExchange(s *setup, r *Request) *exchange {
	x := bareExchange(s, r, "error")
	_ = x.resolveOrigin() // the page names nothing then
	return x
}

// readingExchange returns an exchange for reading the session of a request, and the error
// of resolveOrigin. The exchange is not nil.
func readingExchange(s *setup, r *Request) (*exchange, error) {
	x := bareExchange(s, r, "session")
	return x, x.resolveOrigin()
}

// resolveOrigin sets the origin of the site, the browser's cookies and, on sites and
// routes that take one, the bearer token. It returns ErrUntrustedHost, and sets none of
// them, if no origin can be trusted.
func (x *exchange) resolveOrigin() error {
	var err error
	if x.origin, err = x.setup.trust.originOf(x.request); err != nil {
		return err
	}
	x.setup.trust.warnOfScheme(x.setup.log, x.request.Header, x.origin)
	x.cookies = browser.NewCookies(x.request.Header, x.setup.cookieSpecsFor(x.origin), x.now())
	if x.setup.config.Session.Bearer && (x.action == "session" || x.action == "signout" && x.isPost()) {
		x.credential.Bearer = browser.BearerOf(x.request.Header)
	}
	return nil
}

// readForm sets x.form from the body of a POST, by its declared type. A body of any other
// type counts as none. It returns ErrUnknownAction for a malformed body, and for
// one with too many or too long values.
func (x *exchange) readForm() error {
	r := x.request
	if r.Method != http.MethodPost || len(r.Body) == 0 {
		return nil
	}
	switch mediaType(r.Header.Get("Content-Type")) {
	case formType:
		if bytes.Count(r.Body, []byte{'&'}) >= bodyBounds.Values {
			return errTooMuch
		}
		x.form = map[string]any{}
		for name, value := range formPairs(string(r.Body)) {
			if bound := longestOf(x.action, x.provider); bound > 0 && max(len(name), len(value)) > bound {
				return errTooMuch
			}
			x.form[name] = value
		}
	case jsonType:
		bounds := bodyBounds
		bounds.Length = longestOf(x.action, x.provider)
		if !bounds.Holds(r.Body) {
			return errTooMuch
		}
		if err := json.Unmarshal(r.Body, &x.form); err != nil || x.form == nil {
			return badRequestFor("the body is no JSON object")
		}
	}
	return nil
}

// postedCSRFToken returns the last csrfToken in the body of a POST, or "" if there is none
// or the body is malformed. The rest of the body may be as large as the application takes
// it: postedCSRFToken keeps none of it.
func postedCSRFToken(r *Request) (token string) {
	if r.Method != http.MethodPost {
		return ""
	}
	switch mediaType(r.Header.Get("Content-Type")) {
	case formType:
		for name, value := range formPairs(string(r.Body)) {
			if name == "csrfToken" {
				token = value
			}
		}
	case jsonType:
		var body struct {
			Token string `json:"csrfToken"`
		}
		if json.Unmarshal(r.Body, &body) == nil {
			token = body.Token
		}
	}
	return token
}

// field returns a text field of the body, or "" if there is none of that name, or if it
// is no text.
func (x *exchange) field(name string) string {
	text, _ := x.form[name].(string)
	return text
}

// isPost reports whether the request is a POST, and so may change something.
func (x *exchange) isPost() bool { return x.request.Method == http.MethodPost }

// wantsJSON reports whether a client of Auth.js asks, by the header
// X-Auth-Return-Redirect, for URLs instead of redirects. asksForJSON takes other signs of
// a script, too.
func (x *exchange) wantsJSON() bool {
	_, asked := x.request.Header["X-Auth-Return-Redirect"]
	return asked
}

// eventBase returns what all events of a request share.
func (x *exchange) eventBase() *Event {
	return &Event{
		Time: x.now().UTC(), Client: x.setup.trust.clientAddr(x.request), Tenant: x.setup.tenant, By: event.Actor{Kind: event.ActorVisitor},
		UserAgent: strings.ToValidUTF8(texts.Cut(x.request.Header.Get("User-Agent"), 256), ""),
		RequestID: strings.ToValidUTF8(texts.Cut(x.request.Header.Get("X-Request-Id"), 64), ""),
	}
}

// tell stores the events that wait in the queue of x, and hands them to the application.
func tell(ctx context.Context, x *exchange) { x.setup.tell(ctx, &x.events, x) }

// LogAttrs returns names and values, in turn, that describe the request in the log.
func (x *exchange) LogAttrs() []any {
	args := make([]any, 0, 14)
	args = append(args, "action", x.action)
	if x.setup.tenant != "" {
		args = append(args, "tenant", x.setup.tenant)
	}
	if x.provider != nil {
		args = append(args, "provider", x.provider.info().id)
	}
	if client := x.setup.trust.clientAddr(x.request); client != "" {
		args = append(args, "client", client)
	}
	if id := x.request.Header.Get("X-Request-Id"); id != "" {
		args = append(args, "request", redact.Printable(id, 64))
	}
	return args
}

// Secrets returns the values that this request carried, or that the operator configured,
// and that may not be repeated.
func (x *exchange) Secrets() []string {
	secrets := append(x.setup.secrets(), x.secretsSeen...)
	secrets = append(secrets, browser.Secrets(x.request.Header, x.cookies.Specs)...)
	params := x.request.URL.Query() // also those that do not count
	for _, name := range []string{"code", "state", "token", "id_token", "access_token"} {
		secrets = append(secrets, params[name]...)
	}
	for name, value := range x.form {
		if text, ok := value.(string); ok && name != "callbackUrl" && name != "email" {
			secrets = append(secrets, text)
		}
	}
	for _, auth := range x.request.Header["Authorization"] {
		secrets = append(secrets, strings.FieldsFunc(auth, func(r rune) bool { return strings.ContainsRune(" \t,", r) })...)
	}
	return secrets
}

// handOut returns err as the application gets it: an *Error with a text that repeats no
// secret of this request, so that it may be logged. An error from before x was
// routed is handed out as it is. x may be nil.
func handOut(x *exchange, err error) error {
	err = failure.Public(err)
	if _, early := errors.AsType[*configFault](err); early || x == nil {
		return err
	}
	e := failure.Whole(err)
	if e.Err == nil {
		return e
	}
	clean := *e
	clean.Detail, clean.Reference = explain.DetailOf(err), x.reference
	clean.Err = &failure.Redacted{Text: redact.Text(e.Err.Error(), x.Secrets(), journal.LongestText), Cause: e.Err}
	return &clean
}

// atProvider returns err with the id of the provider p. An err without a type becomes an
// ErrCallbackRoute. All of err remains the cause. It returns err as it is if that
// is nil, names a provider, or comes from RedirectTo or RespondWith.
func atProvider(p preparedProvider, err error) error {
	if err == nil || isSteering(err) {
		return err
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Provider != "" {
		return err
	}
	named := *failure.Whole(err)
	named.Provider = p.info().id
	return &named
}

// configFault marks an error that was found before the request was routed: of
// the configuration, the host or the callback URL.
type configFault struct{ err error }

func (c *configFault) Error() string { return c.err.Error() }
func (c *configFault) Unwrap() error { return c.err }
