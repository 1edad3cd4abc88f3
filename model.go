package latchkey

import (
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

// Claims is a set of named facts: a provider's profile, or the content of a
// session token. Numbers read from the wire are [encoding/json.Number], so that
// large ones survive. Use [Value] for typed access.
type Claims = jwt.Claims

// User is a person known to the application.
//
// In JSON an empty Name, Email or Image is null, and the members of Extra stand
// beside the others.
type User struct {
	ID            string         // the application's own id, never a provider's
	Name          string         // empty: unknown
	Email         string         // lower-cased, its domain in ASCII; empty: unknown
	EmailVerified time.Time      // when Email was first proven; zero: never
	Image         string         // URL of a picture, never fetched; empty: none
	Extra         map[string]any // what else the application or its database knows
}

// Account joins a [User] to their identity at one provider.
type Account struct {
	hidden

	ID                string // the row's own, given by the store; empty: it has none, or the account is not stored yet
	UserID            string
	Provider          string // the provider's id, such as "github"
	ProviderAccountID string // the person's immutable id at that provider
	Type              ProviderType
	Tokens            Tokens
	Extra             map[string]any // other members an Auth.js row may hold

	// Email is the address that the account brought when it was linked, in the
	// form of [User].Email. Empty: none, or the store does not keep it.
	Email string
	// EmailVouched says that the provider vouched for Email then.
	EmailVouched bool
}

// Tokens are what a provider's token endpoint answered at the end of a sign-in.
// Callbacks and events get all of it; a store has what [OAuth].KeepTokens kept.
type Tokens struct {
	hidden

	AccessToken  string
	RefreshToken string
	IDToken      string
	TokenType    string // lower-cased, such as "bearer"
	Scope        string
	SessionState string    // OpenID Connect Session Management
	ExpiresAt    time.Time // of AccessToken, to the second; zero: the provider did not say

	// ExpiresIn is expires_in, the life of AccessToken in whole seconds and ten
	// years at most. It is for callbacks and events: stores need not keep it.
	ExpiresIn time.Duration

	// AuthorizationDetails is what RFC 9396 calls authorization_details.
	AuthorizationDetails []map[string]any
	// Extra holds the members of the answer that have no field of their own, and
	// those whose value does not fit theirs, such as a session_state that is no
	// text.
	Extra map[string]any
}

// Session is who is signed in: what the browser may see, and what only the
// server knows.
//
// In JSON there are User, Expires and the members of Extra. The other fields
// never leave the server; no callback and no update can change them. All who
// ask [SessionFrom] in one request get the same Session: do not change it.
type Session struct {
	User    SessionUser
	Expires time.Time
	Extra   map[string]any // members beside user and expires, put there by [Callbacks].Session

	// UserID is the application's id of the user. Empty: the token does not
	// say. Without an Adapter it is made up at each OAuth sign-in and names
	// nobody afterwards: keep the provider's id with [Callbacks].Token.
	UserID string
	// ID is the same for the whole life of the session. Empty with JWTSessions,
	// unless there are [SessionConfig].Revocations, as with most Adapters, or an
	// AbsoluteMaxAge.
	ID string

	Tenant   string     // name of the tenant, on sites made with [NewTenants]; empty: there is one site
	Provider string     // id of the provider that opened it; empty: unknown, as with JWTSessions
	Via      SessionVia // what the request proved the session with
	Assurance

	said *claimed // what the session token says in the fields of User that are empty; nil: there is none
}

// SessionUser is the user of a [Session], as the browser may see them. The id is
// [Session].UserID; a page that needs it in JSON gets it from
// [Callbacks].Session, as Extra["id"].
//
// In JSON the members of Extra stand beside name, email and image. An empty
// field is null, or absent where a session token left it out. A zero SessionUser
// is left out of the session.
type SessionUser struct {
	Name  string
	Email string
	Image string
	Extra Claims
}

// SessionVia is how a session came with its request, such as in a cookie.
type SessionVia string

// The ways a session comes with a request.
const (
	ViaCookie SessionVia = "cookie" // the session cookie
	ViaBearer SessionVia = "bearer" // the Authorization header, with [SessionConfig].Bearer
)

// Assurance is how, and how recently, the user of a session proved who they
// are. What is unknown is zero: in sessions made elsewhere, and in JWTSessions
// without [SessionConfig].Revocations and AbsoluteMaxAge.
type Assurance struct {
	AuthTime time.Time // the sign-in
	Proved   time.Time // the latest proof: AuthTime, where nothing later is kept
	AMR      []string  // the methods, in the names of RFC 8176
	ACR      string    // the level reached (OpenID Connect Core 1.0, section 2)
}

// StoredSession is a session kept by an [Adapter]; the cookie holds its Token.
type StoredSession struct {
	hidden

	ID      string    // the row's own id, safe to show; empty: the store has none
	Token   string    // the secret in the cookie
	UserID  string    // whose session it is
	Expires time.Time // absolute
	Created time.Time // zero: the store does not keep it

	// UserAgent is the browser's own description, for a list of devices.
	UserAgent string

	// What follows stays empty in stores that do not keep it.

	Tenant   string // the tenant it belongs to; empty: none
	Provider string // id of the provider that opened it

	// ProviderSID, ProviderSub and ProviderIssued are kept for logout that
	// begins at the provider, and are empty for now: what an OpenID Provider
	// calls the session: keyed hashes of its sid and sub, and when its ID token
	// was issued.
	ProviderSID    string
	ProviderSub    string
	ProviderIssued time.Time
	Sealed         string // what else is remembered of it, encrypted by the library; empty for now

	Proved time.Time // the latest proof of who the user is; zero: the sign-in was it
	AMR    []string  // how: RFC 8176 names, each without a space
	ACR    string    // the level reached; empty: none was asked for
}

// VerificationToken is what a store keeps of a magic link: a hash of its
// secret, never the secret.
type VerificationToken struct {
	hidden

	Identifier string // the e-mail address the link was sent to
	Token      string // a hash of the secret in the link
	Expires    time.Time
	Purpose    string // what the link is for; empty: to sign in, as all are for now
}

// Authenticator is a passkey registered to a user. See Web Authentication Level
// 3, section 4.
type Authenticator struct {
	CredentialID      []byte
	UserID            string
	ProviderAccountID string // of the account it belongs to
	PublicKey         []byte // COSE
	Counter           uint32 // signature counter
	DeviceType        string // "singleDevice" or "multiDevice"
	BackedUp          bool
	Transports        []string

	// What follows stays empty in stores that do not keep it.

	Name    string    // the user's own name for it
	AAGUID  string    // the authenticator's model, as a UUID
	Created time.Time // when it was registered
	Used    time.Time // the latest sign-in with it

	// UserHandle is what authenticators call the user: the same random bytes for
	// all passkeys of one (section 5.4.3). nil: registered by Auth.js, which keeps
	// none.
	UserHandle []byte
}
