package browser

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
)

// Check is a value that ties a callback to the sign-in that began it. Each check
// is sealed into a cookie of its own, as Auth.js does it: {"value", "provider"}.
// Beside the newest sign-in a cookie carries those begun shortly before, so that
// two tabs do not destroy each other. Auth.js reads the newest.
type Check string

// The checks of a flow, and the challenge that a passkey has to answer.
const (
	PKCE      Check = "pkce"
	State     Check = "state"
	Nonce     Check = "nonce"
	Challenge Check = "challenge"
)

const (
	maxFlows = 4 // sign-ins under way in one browser

	// CheckMaxAge is the life of the cookies of checks.
	CheckMaxAge = 15 * time.Minute
)

// flowChecks are in the order in which a flow is written: the first check that it
// has also keeps its origin.
var flowChecks = [...]Check{PKCE, State, Nonce}

// allChecks are all that a browser keeps.
var allChecks = [...]Check{PKCE, State, Nonce, Challenge}

// Flow is one sign-in under way: the values that were sent with its authorization
// request, and its origin. The answer has to bring all of them back.
type Flow struct {
	ID                     string // joins the cookies of a flow; empty: Auth.js began it
	Provider               string
	Verifier, State, Nonce string
	Expires                int64 // Unix seconds
	FlowOrigin
}

// FlowOrigin is what a flow remembers of its beginning.
type FlowOrigin struct {
	CallbackURL string `json:"callbackUrl,omitempty"` // where this browser goes in the end; empty: the callback cookie says
	Demands
	StepUp    string   `json:"stepUp,omitempty"`  // the proof that the user of the session is asked for, "recent" or "factor"; empty: it is a sign-in
	Connect   *Connect `json:"connect,omitempty"` // nil: a sign-in
	CrossSite bool     `json:"posted,omitempty"`  // the provider will post from its own site
	Fresh     bool     `json:"fresh,omitempty"`   // the user had just signed in, and may change how they sign in
	Begun     int64    `json:"begun,omitempty"`   // Unix milliseconds; 0: made by Auth.js, or the cookie of another check says
	Sent      Sent     `json:"sent,omitzero"`     // what else was sent; zero: Auth.js began the flow
	sessionref.Ref
}

// Connect says that a flow links an account to the user of the session that it begins
// in, or grants an account of that user more scopes.
type Connect struct {
	Account string `json:"account,omitempty"` // id of the account that is meant; empty: any
}

// Demands is what the ID token of the answer has to say because the request asked for
// it. The zero Demands demand nothing.
type Demands struct {
	MaxAge *int64   `json:"maxAge,omitempty"` // the max_age that was sent, in seconds; nil: none
	ACR    []string `json:"acr,omitempty"`    // one of these is the acr; nil: any
}

// BegunAt returns when the flow began. expires is when its cookies end, in Unix seconds. A
// flow that does not say when it began, such as one of Auth.js, began CheckMaxAge before
// expires. If expires is 0 too, BegunAt returns the zero time.
func (o *FlowOrigin) BegunAt(expires int64) time.Time {
	switch {
	case o.Begun != 0:
		return time.UnixMilli(o.Begun)
	case expires != 0:
		return time.Unix(expires, 0).Add(-CheckMaxAge)
	}
	return time.Time{}
}

// Sent is what an authorization request carried beside the values of its checks.
type Sent struct {
	Checks []Check `json:"checks,omitempty"` // the checks that had a value
	To     string  `json:"to,omitempty"`     // HashURL of the redirect URI
}

// Answer is what a callback brings back of what was sent. The nonce comes later, in
// the ID token.
type Answer struct {
	State       string // empty: none
	RedirectURI string // of the route that was asked
	Posted      bool   // the provider's page has posted it (response_mode form_post)
}

// Value returns a pointer to the value of a check, which the caller may change. c is
// PKCE, State or Nonce.
func (f *Flow) Value(c Check) *string {
	switch c {
	case PKCE:
		return &f.Verifier
	case State:
		return &f.State
	}
	return &f.Nonce
}

// Key returns a check value, which belongs to this flow alone, or "" if the flow has
// none.
func (f *Flow) Key() string { return cmp.Or(f.State, f.Verifier, f.Nonce) }

// Checks returns the checks that the flow has a value for, in order of name.
func (f *Flow) Checks() []Check {
	checks := make([]Check, 0, len(flowChecks))
	for _, c := range flowChecks {
		if *f.Value(c) != "" {
			checks = append(checks, c)
		}
	}
	slices.Sort(checks)
	return checks
}

// StateParam returns the state that is sent to the provider and that the callback has to
// bring back. If the flow has no check State, the state is derived from the value of
// another check, so that no cookie has to hold it. StateParam returns "" only for a flow
// without checks, and for one that Auth.js began without a state.
func (f *Flow) StateParam() string {
	if key := cmp.Or(f.Verifier, f.Nonce); f.State == "" && f.ID != "" && key != "" {
		return derivedState(key)
	}
	return f.State
}

// IsNamedBy reports whether an answer with this state belongs to the flow. An empty state
// names no flow.
func (f *Flow) IsNamedBy(state string) bool {
	return state != "" && secret.Equal(f.StateParam(), state)
}

// IsStateless reports whether Auth.js began the flow, and without a state. The callback
// of such a flow comes without a state.
func (f *Flow) IsStateless() bool { return f.ID == "" && f.State == "" }

// Record sets f.Sent and f.Demands from what is about to be sent with the values of f.
func (f *Flow) Record(redirectURI string, d Demands) {
	f.Sent = Sent{Checks: f.Checks(), To: HashURL(redirectURI)}
	f.Demands = d
}

// Mismatch returns an error if an answer does not fit the flow, or nil. The caller has found
// the flow by the state of the answer, which Mismatch does not compare. For a flow of ours
// the browser must have kept the value of each check that was sent. The answer must come
// to the redirect URI that was sent, and in the response mode that was asked for (RFC
// 9700, section 4.4.2.2). Auth.js does not record what it sent. So a flow of Auth.js
// needs the values of the configured checks, and nothing else.
func (f *Flow) Mismatch(a Answer, configured []Check) error {
	demanded := f.Sent.Checks
	if f.ID == "" {
		demanded = configured
	}
	for _, c := range demanded {
		if *f.Value(c) == "" {
			return failure.Of(fault.FlowIncomplete, errors.New("the "+string(c)+" cookie is missing, or belongs to another sign-in"))
		}
	}
	switch {
	case f.ID == "":
		return nil
	case len(demanded) == 0:
		return failure.Of(fault.FlowIncomplete, errors.New("the cookie that says what was sent is missing"))
	case f.Sent.To != HashURL(a.RedirectURI):
		return failure.Of(fault.FlowRedirect, errors.New("the answer came to another redirect URI than the one that was sent"))
	case f.CrossSite != a.Posted:
		return failure.Of(fault.FlowMode, errors.New("the answer came in another response mode than the one that was asked for"))
	}
	return nil
}

// derivedState hashes a check value under a label, so that it is neither the value
// nor its PKCE challenge.
func derivedState(value string) string {
	sum := sha256.Sum256([]byte("latchkey state\x00" + value))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// HashURL returns a hash of a URL in 16 characters, so that a cookie need not hold the
// whole URL.
func HashURL(u string) string {
	sum := sha256.Sum256([]byte(u))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
