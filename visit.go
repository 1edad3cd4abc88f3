package latchkey

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cookie"
)

const (
	formType = "application/x-www-form-urlencoded"
	jsonType = "application/json"
)

// visit is one request on its way through the house: what came in, what was
// worked out from it, and the cookies going out.
type visit struct {
	*setup
	request *Request
	origin  origin
	jar     cookie.Jar
	kinds   *cookieSet
	chunks  *chunks // the session cookie; nil: not looked for yet

	action     string
	providerID string
	provider   provider // nil: none named, or unknown

	form  map[string]any // the body's fields; text unless the body was JSON
	query url.Values

	csrf         string // this browser's token; empty: not needed yet
	csrfVerified bool
	callbackURL  string

	set     []*http.Cookie
	after   []event  // told once the work is done
	learned []string // secrets that came up on the way and may not be logged

	voidedAt time.Time // when this visit revoked sessions; zero: it did not
}

// event is something to tell the application.
type event struct {
	name string
	tell func(context.Context) error
}

// errBadRequest is any request that is none of ours: a method, path or body
// that no route understands.
var errBadRequest = errors.New("bad request")

// newVisit reads what a request is about, as far as it needs no trust.
func newVisit(s *setup, r *Request) (*visit, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		return nil, errBadRequest
	}
	action, providerID, ok := parsePath(s.BasePath, r.URL.EscapedPath())
	if !ok {
		return nil, errBadRequest
	}
	if action == "account" && !s.Account.Enabled {
		return nil, errBadRequest
	}
	v := &visit{setup: s, request: r, action: action, providerID: providerID, provider: s.providers[providerID]}
	if r.URL.RawQuery != "" {
		v.query, _ = url.ParseQuery(r.URL.RawQuery) // pairs that make no sense are dropped
	}
	return v, v.readBody()
}

// enter decides whose address the site has and finds the visitor's cookies.
func (v *visit) enter() error {
	var err error
	if v.origin, err = v.originOf(v.request); err != nil {
		return err
	}
	v.jar = cookie.Parse(v.request.Header)
	v.kinds = v.cookiesFor(v.origin)
	return nil
}

// readingVisit is a visit that only wants to know who is signed in.
func readingVisit(s *setup, r *Request) (*visit, error) {
	v := &visit{setup: s, request: r, action: "session"}
	return v, v.enter()
}

// parsePath splits a path below base into action and provider. Extra slashes
// are tolerated, escapes are not: a route has one spelling.
func parsePath(base, path string) (action, providerID string, ok bool) {
	rest, ok := strings.CutPrefix(path, base)
	if !ok || rest == "" || rest[0] != '/' {
		return "", "", false
	}
	action, rest = nextSegment(rest)
	providerID, rest = nextSegment(rest)
	if strings.Trim(rest, "/") != "" || !IsAction(action) {
		return "", "", false
	}
	if providerID != "" && action != "signin" && action != "callback" && action != "webauthn-options" {
		return "", "", false
	}
	if action == "signin" && providerID == "undefined" { // clients write a missing id as text
		providerID = ""
	}
	return action, providerID, true
}

func nextSegment(path string) (segment, rest string) {
	path = strings.TrimLeft(path, "/")
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// IsAction reports whether name is an action, the first segment below the base
// path, as the original's isAuthAction does. It knows one more, "account".
func IsAction(name string) bool {
	switch name {
	case "providers", "session", "csrf", "signin", "signout", "callback", "verify-request", "error", "webauthn-options", "account":
		return true
	}
	return false
}

// readBody parses the body of a POST by its declared type. A body of any other
// type is no body.
func (v *visit) readBody() error {
	r := v.request
	if r.Method != http.MethodPost || len(r.Body) == 0 {
		return nil
	}
	switch mediaType(r.Header.Get("Content-Type")) {
	case formType:
		values, _ := url.ParseQuery(string(r.Body))
		v.form = make(map[string]any, len(values))
		for name, all := range values {
			v.form[name] = all[len(all)-1]
		}
	case jsonType:
		if err := json.Unmarshal(r.Body, &v.form); err != nil || v.form == nil {
			return errBadRequest
		}
	}
	return nil
}

// mediaType is the type without parameters.
func mediaType(header string) string {
	switch header { // what browsers send
	case formType, jsonType:
		return header
	}
	t, _, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	return t
}

// field is a text field of the body.
func (v *visit) field(name string) string {
	text, _ := v.form[name].(string)
	return text
}

// isPost tells requests that may change something.
func (v *visit) isPost() bool { return v.request.Method == http.MethodPost }

// url is the absolute address of a route.
func (v *visit) url(route string) string { return v.origin.text + v.BasePath + "/" + route }

// tell remembers an event for when the work is done.
func (v *visit) tell(name string, f func(context.Context) error) {
	if f != nil {
		v.after = append(v.after, event{name, f})
	}
}

// tellAll tells what is waiting. A failing handler is logged and breaks nothing.
func (v *visit) tellAll(ctx context.Context) {
	waiting := v.after
	v.after = nil
	for _, e := range waiting {
		if err := contain(func() error { return e.tell(ctx) }); err != nil {
			v.log.error(v, ErrEvent.because(err), "event", e.name)
		}
	}
}
