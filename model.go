package latchkey

import (
	"cmp"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/veil"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// Claims is a set of named facts: a provider's profile, or the content of a
// session token. Numbers read from the wire are [encoding/json.Number], so that
// large ones survive. Use [Value] for typed access.
type Claims = jwt.Claims

// User is a person known to the application: ID, Name, Email, EmailVerified,
// Image and Extra. ID is the application's own, Email is in lower case, and a
// zero EmailVerified means that the address was never proven. Its fields are
// documented in package storage.
type User = storage.User

// Account joins a [User] to their identity at one provider: UserID, Provider,
// ProviderAccountID, Type and Tokens. Its fields are documented in package
// storage.
type Account = storage.Account

// Tokens are what a provider's token endpoint returned: AccessToken,
// RefreshToken, IDToken, ExpiresAt and Scope. Printed or encoded they show
// nothing. Their fields are documented in package storage.
type Tokens = storage.Tokens

// ProviderType is the kind of a provider, spelled as on the wire.
type ProviderType = storage.ProviderType

// The kinds of provider.
const (
	TypeOAuth       = storage.TypeOAuth
	TypeOIDC        = storage.TypeOIDC
	TypeEmail       = storage.TypeEmail
	TypeCredentials = storage.TypeCredentials
	TypeWebAuthn    = storage.TypeWebAuthn
)

// Rate is a rate limit: Events at once, and then one more each Per/Events. It is a bucket
// (GCRA), not a window. In a field of [Limits] the zero Rate stands for the default.
type Rate = storage.Rate

// Session is who is signed in: what the browser may see, and what only the
// server knows.
//
// In JSON there are User, Expires, the members of Extra and, if an administrator acts as
// the user, the administrator's id. The other fields never leave the server. Neither
// [Callbacks].Session nor an update can change UserID or any field after it.
// [Callbacks].Token can set the UserID of a JWT session, as the claim sub, at the sign-in.
// All who ask [SessionFrom] in one request get the same Session: do not change it.
type Session struct {
	_ [0]func() // not comparable; literals name their fields

	User    SessionUser
	Expires time.Time
	Extra   Claims // members beside user and expires, put there by [Callbacks].Session

	// UserID is the application's id of the user. Empty: the token does not
	// say. Without an Adapter it is made up at each OAuth sign-in, and another sign-in of
	// the same user has another one: keep the provider's id with [Callbacks].Token.
	UserID string
	// ID is the same for the whole life of the session. A stored session has the ID that the
	// store gives it; empty: the store gives none. A JWT session has one where the site keeps
	// the time of its sign-in: see [Assurance].
	ID string

	Tenant   string     // name of the tenant, on sites made with [NewTenants]; empty: there is one site
	Provider string     // id of the provider that opened it; empty: unknown, as with JWTSessions unless a provider has a [Logout]
	Via      SessionVia // what the request proved the session with
	Assurance

	// Actor is the administrator who acts as the user: see [SessionConfig].ActAs. nil:
	// the session is the user's own. In JSON it is the member act, with the
	// administrator's id as sub. Such a session has no Assurance.
	Actor *Actor

	said *jwtclaims.Said // what the session token says in the fields of User that are empty; nil: there is none
}

// Actor names the cause of an event, or the administrator who acts as a user, by Kind and
// ID. Its kinds, such as event.ActorAdmin, are documented in package event. The zero Actor
// names none.
type Actor = event.Actor

// SessionUser is the user of a [Session], as the browser may see them. The id is
// [Session].UserID; a page that needs it in JSON gets it from
// [Callbacks].Session, as Extra["id"].
//
// In JSON the members of Extra stand beside name, email and image; Extra's own members of
// these names are ignored. An empty field is null, or absent where a session token left it
// out. A zero SessionUser is left out of the session.
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

// Assurance says how, and how recently, the user of a session proved their identity. A
// field that is not known is zero. The sign-in is not known in a session that another
// program made. AMR and ACR are not known without [Config].Factors. With JWTSessions the
// times are known only if the site has a [storage.RevocationStore] in use, Factors, an
// [AccountPage], SessionConfig.AbsoluteMaxAge, TokenConfig.Cookie or a provider with a
// [Logout]. All fields are zero in a session in which an administrator acts as the user.
type Assurance struct {
	AuthTime time.Time // when the user signed in
	Proved   time.Time // when the user last gave a proof; AuthTime if nothing later is kept
	AMR      []string  // the methods: names of RFC 8176, and fed (a provider), email, recovery and browser (a remembered one)
	ACR      string    // the level: aal1, aal2, or what OAuth.Assurance returned (OpenID Connect Core 1.0, section 2)
}

// hidden is embedded in every exported type that holds a secret, so that none
// of them can be printed, logged or encoded by accident. What is to
// leave the program on purpose has a form of its own: see [storage.AccountRecord].
type hidden = veil.Hidden

// nameOf returns the name of a user on pages: the e-mail address, else the name, else the
// id.
func nameOf(u *User) string { return cmp.Or(u.Email, u.Name, u.ID) }
