package latchkey

import (
	"cmp"
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// The parts that an exchange plays with: a provider proves who somebody is, a
// session strategy remembers it.

// preparedProvider is a [Provider] made ready. It never changes afterwards.
type preparedProvider interface {
	info() *providerInfo
	// begin answers POST /signin/:provider.
	begin(ctx context.Context, x *exchange) (outcome, error)
	// receive says who came back.
	receive(ctx context.Context, x *exchange) (outcome, error)
}

// outcome is what a provider's part ends in: one of the two.
type outcome struct {
	assertion *assertion
	response  *Response // for the browser, which has to come again
}

// providerInfo is what everybody else may ask of a provider, whatever its kind.
type providerInfo struct {
	id, name string
	kind     ProviderType
	style    Style
	fields   []Field
	account  string // the field that says whose credentials they are; empty: none
	secret   string // the operator's own, which must not be logged; empty: none

	start             string // the route that its form posts to: "signin/" or "callback/"
	linkable          bool   // an account of it can be linked on the account page
	postsCrossSite    bool   // its callback is a post from its own site
	provesNoEmail     bool   // it hands out e-mail addresses that nobody has proven
	provesEmail       bool   // a sign-in with it may be the first proof of an e-mail address
	signsUpByName     bool   // its form asks who signs up to say so
	offersWhileTyping bool   // its form has browsers offer passkeys in a field
	needs             []ability
	withoutSessions   bool            // alone it cannot open a stored session
	formOrigins       func() []string // where the browser is led from its form; nil: nowhere else

	// options answers GET /webauthn-options/:provider. nil: it has none.
	options func(ctx context.Context, x *exchange) (*Response, error)
	// news is what a browser can be told of passkeys. nil: the provider has none.
	news func(x *exchange, u *User, keys []storage.Authenticator, gone string) string
	// party is for whom passkeys are. nil: the provider has none.
	party func(x *exchange) passkey.RelyingParty
	// signedOut is told that a session it had opened was ended by a sign-out. A
	// response goes to the browser instead of the usual redirect. nil: it need
	// not know.
	signedOut func(ctx context.Context, x *exchange, ended endedSession) (*Response, error)
}

// assertion is what a provider says about a person.
type assertion struct {
	person      User            // as the provider describes them
	said        *jwtclaims.Said // what the provider said in the fields of person that are empty; nil: nothing, or the user is stored
	account     Account         // as callbacks and events get it
	keep        Tokens          // what is stored of the account's tokens
	profile     Claims
	credentials map[string]string

	vouched       bool                   // the application itself says who this is
	provesEmail   bool                   // opening the link proved the e-mail address
	emailVerified bool                   // the provider says that the e-mail address is verified
	owner         string                 // id of the user that it must turn out to be; empty: it may be anybody
	passkey       *storage.Authenticator // that was registered with it; nil: none
	link          linking                // what a matching e-mail address is worth
	countedAs     string                 // what its tries or mails were counted under; empty: nothing
	begunIn       *sessionref.Ref        // the session it was begun in; nil: nothing says so, and who is signed in now has begun it
	begunFresh    bool                   // … by a user who had just signed in
	joined        time.Time              // when the user signed in whose session it is completed in; zero: unknown, or in none
	isStale       bool                   // … too long ago to gain an account on a site where they change their own
}

// mark is how a sign-in that begins now names its session.
func (u *currentUser) mark() sessionref.Ref {
	m := sessionref.Ref{UserID: u.user.ID, SessionID: cmp.Or(u.sessionID, u.tokenHash)}
	if !u.since.IsZero() {
		m.Since = u.since.UnixMilli()
	}
	return m
}

// isMarked: this is the session of the mark.
func (u *currentUser) isMarked(m sessionref.Ref) bool {
	return u.user.ID == m.UserID && (m.SessionID == "" || m.SessionID == u.mark().SessionID)
}

// linking is what a provider's word about an e-mail address is worth.
type linking int

const (
	neverLink    linking = iota // it is no proof
	linkVerified                // it is, if the provider says it is verified
	linkAnything                // it is, whatever the provider says
)

// mayLink: the provider is trusted with e-mail addresses, and vouches for this
// one.
func (in *assertion) mayLink() bool {
	return in.link == linkAnything || (in.link == linkVerified && in.emailVerified)
}

// contradicts: it is not the user that it must be. A new passkey is nobody's
// yet, whatever its id is.
func (in *assertion) contradicts(owner, here *User) bool {
	switch {
	case owner != nil && in.passkey != nil:
		return true
	case in.owner == "":
		return false
	case owner != nil:
		return owner.ID != in.owner
	}
	return in.passkey == nil || here == nil || here.ID != in.owner
}

// sessionStrategy keeps sessions: in the cookie itself, or in a row behind it.
// Which one is chosen once, by prepare.
type sessionStrategy interface {
	// plan is what has to be stored together with a sign-in. nil: nothing.
	plan(x *exchange) *sessionPlan
	// open gives the browser its session cookie.
	open(ctx context.Context, x *exchange, who *signInResult) error
	// read says who is signed in, keeps the session alive and queues its event.
	// A nil reading is nobody. An error is a fault: it neither signs in nor
	// out.
	read(ctx context.Context, x *exchange, change *change) (*reading, error)
	// current is the user who is signed in; nil: nobody, or no stored user to
	// name. It extends nothing and sets no cookie.
	current(ctx context.Context, x *exchange) (*currentUser, error)
	// visitor is who a page says is signed in; nil: nobody. Like current it
	// sets no cookie, and it asks no store for more than the session.
	visitor(ctx context.Context, x *exchange) (*User, error)
	// markOf names the session that a sign-in has just opened.
	markOf(ctx context.Context, who *signInResult) (sessionref.Ref, error)
	// close ends the session, and says which one that was.
	close(ctx context.Context, x *exchange) (endedSession, error)
	// branch opens a session for an app beside the one of the request, which
	// shows it as a bearer token. One without a token: nobody is signed in.
	branch(ctx context.Context, x *exchange) (openedSession, error)
}

// principal is another proof of who asks than the session cookie. A nil
// reading: the request has none of the kind. An error is a fault, and fails the
// request.
type principal func(ctx context.Context, x *exchange) (*reading, error)

// pause is asked about a sign-in that was allowed, before anything of it is
// written. A response goes to the browser instead of a session; whoever gave it
// remembers the assertion, and ends with completeSignIn's second half, admit.
type pause func(ctx context.Context, x *exchange, in assertion, known *User) (*Response, error)

// change is what a browser, or the application, wants to be different.
type change struct{ data any }

// reading is a session that was read: as the browser gets it, and as Go sees
// it.
type reading struct {
	json    []byte
	session *Session
	user    *User // the stored user, where reading brought them along
}

// currentUser is who is signed in, and by which session.
type currentUser struct {
	user      User
	sessionID string    // one for life; empty: a token that keeps none
	provider  string    // that opened the session; empty: unknown
	since     time.Time // when they signed in; zero: unknown
	tokenHash string    // of a stored session whose store has no ids
}

// openedSession is a session that was opened beside another one.
type openedSession struct {
	endedSession // which one it is

	token   string
	expires time.Time
}

// endedSession is a session that has just been ended. The zero value: there was
// none.
type endedSession struct {
	id       string
	userID   string
	provider string // that opened it; empty: unknown
}
