package latchkey

import (
	"cmp"
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/passkey"
)

// The parts that an exchange plays with: a provider proves who the user is, a
// session strategy remembers it.

// preparedProvider is a [Provider] made ready. It never changes afterwards.
type preparedProvider interface {
	info() *providerInfo
	// begin answers POST /signin/:provider.
	begin(ctx context.Context, x *exchange) (outcome, error)
	// receive answers the callback, GET or POST: it returns the assertion of the user who
	// came back, or a response.
	receive(ctx context.Context, x *exchange) (outcome, error)
}

// outcome is what begin or receive of a provider ends in: an assertion, or a response.
type outcome struct {
	assertion *directory.Assertion
	proof     *browser.Flow // of a step-up, which the assertion answers; nil: a sign-in
	response  *Response     // for the browser, if no sign-in is completed by this request; nil: see assertion
}

// startedAt writes into the assertion, if there is one, when the handling of the request
// that proves the user started. It returns o.
func (o outcome) startedAt(t time.Time) outcome {
	if o.assertion != nil {
		o.assertion.Started = t
	}
	return o
}

// providerInfo is what other code may ask of a provider, whatever its kind.
type providerInfo struct {
	id, name string
	given    string // the name as the configuration has it; empty: pages use words for the kind
	kind     ProviderType
	style    Style
	fields   []Field
	account  string // the field that says whose credentials they are; empty: none
	secret   string // the operator's own, which must not be logged; empty: none

	start             string // the route that its form posts to: "signin/" or "callback/"
	linkable          bool   // an account of it can be linked on the account page
	postsCrossSite    bool   // its callback is a post from its own site
	provesNoEmail     bool   // it hands out e-mail addresses that are not proven
	provesEmail       bool   // a sign-in with it may be the first proof of an e-mail address
	signsUpByName     bool   // its form asks who signs up to say so
	offersWhileTyping bool   // its form has browsers offer passkeys in a field
	needs             []directory.Ability
	codeRoute         string          // the route that takes the codes of its mails; empty: they have none
	codeDigits        int             // of such a code
	withoutSessions   bool            // alone it cannot open a stored session
	formOrigins       func() []string // where the browser is led from its form; nil: nowhere else

	// options answers GET /webauthn-options/:provider. nil: it has none.
	options func(ctx context.Context, x *exchange) (*Response, error)
	// party is for whom passkeys are. nil: the provider has none.
	party func(r *Request, o weburl.Origin) passkey.RelyingParty
	// signedOut is told that a session it had opened was ended by a sign-out. A
	// response goes to the browser instead of the usual redirect. nil: it need
	// not know.
	signedOut func(ctx context.Context, x *exchange, ended endedSession) (*Response, error)
}

// mark returns a reference to the session, for a sign-in that is begun in it to keep. Since is
// the later of the session's sign-in and its last proof; 0: not known.
func (u *currentUser) mark() sessionref.Ref {
	m := sessionref.Ref{UserID: u.user.ID, SessionID: cmp.Or(u.sessionID, u.tokenHash)}
	switch {
	case u.Proved.After(u.since):
		m.Since = u.Proved.UnixMilli()
	case !u.since.IsZero():
		m.Since = u.since.UnixMilli()
	}
	return m
}

// provedAt returns when the user last proved their identity; zero: unknown.
func (u *currentUser) provedAt() time.Time { return cmp.Or(u.Proved, u.since) }

// ownUser returns here if no administrator acts as the user, or if the request only shows a
// page (v.looks). Otherwise it adds the event of the refusal and returns directory.ErrActing,
// because only the user may make changes.
func ownUser(v *visit, here *currentUser) (*currentUser, error) {
	if here.actor == "" || v.looks {
		return here, nil
	}
	v.events.Add(Event{
		Type: event.ImpersonationRefused, Outcome: event.Failed, Reason: ErrAccessDenied, Detail: fault.SignInDenied, UserID: here.user.ID, SessionID: here.sessionID,
		By: Actor{Kind: event.ActorAdmin, ID: here.actor},
	}, nil)
	return nil, directory.ErrActing
}

// isAdopted reports whether other software, such as Auth.js, made the session. The time of its
// sign-in is not known then: since is when its token was last renewed there.
func (u *currentUser) isAdopted() bool { return jwtclaims.IsAdopted(u.sessionID) }

// isMarked reports whether this is the session of the reference. A reference without a
// session stands for all sessions of its user.
func (u *currentUser) isMarked(m sessionref.Ref) bool {
	return u.user.ID == m.UserID && (m.SessionID == "" || m.SessionID == u.mark().SessionID)
}

// sessionStrategy keeps sessions: in the cookie itself, or in a row behind it.
// Which one is chosen once, by prepare.
type sessionStrategy interface {
	// plan returns the session that is stored together with a sign-in. nil: none is.
	plan(v *visit) *directory.SessionPlan
	// open puts the session of a sign-in into the cookie of the response.
	open(ctx context.Context, v *visit, who *directory.SignIn) error
	// revokeFormer ends the session that the browser brought to a sign-in, unless that was
	// done when the sign-in was stored. Nothing that can fail follows it.
	revokeFormer(ctx context.Context, v *visit) error
	// read returns the session, keeps it alive and queues its event.
	// A nil reading means signed out. An error is a fault: it neither signs in nor
	// out.
	read(ctx context.Context, v *visit, change *change) (*reading, error)
	// current returns the signed-in user; nil: signed out, or no stored user to
	// name. It extends nothing and sets no cookie. Everything that changes a user
	// asks it: it returns directory.ErrActing if an administrator acts as the user,
	// unless the visit only looks.
	current(ctx context.Context, v *visit) (*currentUser, error)
	// visitor returns the user that a page says is signed in; nil: signed out. Like
	// current it sets no cookie, and it asks no store for more than the session.
	visitor(ctx context.Context, v *visit) (*User, error)
	// acts reports whether an administrator acts as the user in a live session.
	acts(ctx context.Context, v *visit) bool
	// markOf returns a reference to the session that a sign-in has just opened.
	markOf(ctx context.Context, who *directory.SignIn) (sessionref.Ref, error)
	// isNamed reports whether the session of the browser is one to which the provider
	// with the id gives the name.
	isNamed(ctx context.Context, v *visit, provider, name string) (bool, error)
	// close ends the session and returns which one that was: the zero value if there was
	// none. With an error it ends the session later.
	close(ctx context.Context, v *visit) (endedSession, error)
	// renewal prepares a new token for the session of the request, whose user has just
	// proven who they are. The caller calls stored in the transaction that the proof is
	// part of, with the earliest time of a proof that no end of the user's sessions
	// voids, and done after the commit: it hands the token out.
	renewal(v *visit, here *currentUser, p directory.Proof) renewal
	// branch opens a session for an app beside the one that a token opens, and
	// hands it out as a bearer token. It returns the zero openedSession if that session
	// is not alive, and directory.ErrActing if an administrator acts in it.
	branch(ctx context.Context, v *visit, from browser.Token) (openedSession, error)
}

// renewal is a new token for the session of a request.
type renewal struct {
	stored func(ctx context.Context, s *directory.Store, after time.Time) error
	done   func(ctx context.Context) error
}

// principal returns the session that a request proves in another way than by the session
// cookie. A nil reading: it proves none in this way. An error is a fault, and fails the
// request.
type principal func(ctx context.Context, x *exchange) (*reading, error)

// pause is asked about a sign-in that was allowed, before anything of it is written. If
// it returns a response, the browser gets that instead of a session. The function then
// keeps the assertion, and a later request passes it to exchange.finishSignIn. It may write
// into the assertion.
type pause func(ctx context.Context, x *exchange, in *directory.Assertion, known *User) (*Response, error)

// providerProof takes the answer of a provider that was asked who the user of a session
// is: complete takes a right one, failed a wrong one.
type providerProof struct {
	complete func(ctx context.Context, x *exchange, f *browser.Flow, in *directory.Assertion) (*Response, error)
	failed   func(ctx context.Context, x *exchange, f *browser.Flow, why error) (*Response, error)
}

// change is an update of a session that a browser or the application asks for.
type change struct{ data any }

// reading is a session that was read: its JSON for the browser, and the [Session].
type reading struct {
	json    []byte
	session *Session
	user    *User // the stored user, where reading brought them along
}

// currentUser is the signed-in user of a request, with the session.
type currentUser struct {
	user      User
	sessionID string                    // one for life; empty: a token that keeps none
	provider  string                    // that opened the session; empty: unknown
	since     time.Time                 // when they signed in; zero: unknown
	actor     string                    // the administrator who acts as the user; empty: it is the user
	tokenHash string                    // of a stored session whose store has no ids
	names     []directory.ProviderNames // by which its providers end the session
	Assurance                           // without AuthTime; Proved is zero where nothing later than since is kept
}

// openedSession is a session that was opened beside another one.
type openedSession struct {
	endedSession // which one it is

	token   string
	expires time.Time
}

// endedSession is a session that has just been ended. The zero value: there was none.
type endedSession struct {
	id       string
	userID   string
	provider string         // that opened it; empty: unknown
	hint     directory.Hint // for a logout there; zero: none is kept
}

// isNil reports whether p is nil, or holds a nil pointer.
func isNil(p Provider) bool {
	v := reflect.ValueOf(p)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// validProviderID reports whether id has 1 to 64 letters, digits, and - _ . only. It
// returns false for "undefined", and for points alone.
func validProviderID(id string) bool {
	if id == "" || len(id) > 64 || id == "undefined" || strings.Trim(id, ".") == "" {
		return false
	}
	return strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}
