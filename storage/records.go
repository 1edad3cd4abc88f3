package storage

import (
	"time"

	"github.com/latchkeyhq/latchkey/internal/veil"
)

// hidden is embedded in every record that holds a secret, so that no record is
// printed, logged or encoded by accident. A record that leaves the
// program on purpose has a form of its own: see [AccountRecord].
type hidden = veil.Hidden

// User is a person known to the application.
//
// Its JSON is that of Auth.js: the members id, name, email, image and emailVerified, and
// beside them those of Extra. An empty Name, Email or Image is null.
//
// Created, Provisioned and Suspension are optional in a store. They are never in the
// user's JSON, in a token or in a browser.
type User struct {
	ID            string         // the application's own id, never a provider's
	Name          string         // empty: unknown
	Email         string         // in lower case, its domain in ASCII; empty: unknown
	EmailVerified time.Time      // when Email was first proven; zero: never
	Image         string         // URL of a picture, never fetched; empty: none
	Extra         map[string]any // what else the application or its database knows; optional

	Created time.Time // when the record was made; zero: unknown
	// Provisioned is when an administrator created the user, if the e-mail address was
	// not proven since. Zero: the user came by a sign-in, or has proven the address.
	Provisioned time.Time
	// Suspension keeps the user out. nil: there is none, or it was not read. UpdateUser,
	// DeleteUser and GetSessionAndUser need not read it, so that it may be missing from what
	// latchkey.Users.Update and latchkey.Auth.CurrentUser return. All other calls of a
	// [SuspensionAdapter] read it.
	Suspension *Suspension
}

// ProviderType is the kind of a provider, spelled as on the wire.
type ProviderType string

// The kinds of provider.
const (
	TypeOAuth       ProviderType = "oauth"
	TypeOIDC        ProviderType = "oidc"
	TypeEmail       ProviderType = "email"
	TypeCredentials ProviderType = "credentials"
	TypeWebAuthn    ProviderType = "webauthn"
)

// Account joins a [User] to their identity at one provider.
type Account struct {
	hidden

	ID                string // the row's own id, chosen by the store; optional
	UserID            string
	Provider          string // the provider's id, such as "github"
	ProviderAccountID string // the person's immutable id at that provider; on a site with tenants it also stands for the issuer
	Type              ProviderType
	Tokens            Tokens
	Extra             map[string]any // other members that an Auth.js row may hold; optional

	// Email is the address that the account brought when it was linked, in the
	// form of [User].Email. Empty: none. It is optional.
	Email string
	// EmailVouched reports whether the provider vouched for Email then. It is
	// optional.
	EmailVouched bool
}

// Tokens are what a provider's token endpoint returned at the end of a sign-in.
// Callbacks and events get all of it. A store gets what latchkey.OAuth.KeepTokens
// has kept.
type Tokens struct {
	hidden

	AccessToken  string
	RefreshToken string
	IDToken      string
	TokenType    string // in lower case, such as "bearer"
	Scope        string
	SessionState string    // OpenID Connect Session Management
	ExpiresAt    time.Time // of AccessToken, to the second; zero: the provider did not say

	// ExpiresIn is expires_in: the life of AccessToken in whole seconds, at most
	// ten years. It is for callbacks and events, and optional in a store.
	ExpiresIn time.Duration

	// AuthorizationDetails is authorization_details of RFC 9396.
	AuthorizationDetails []map[string]any
	// Extra holds the members of the answer that have no field of their own. It also
	// holds those whose value has another type than their field, such as a session_state
	// that is a number.
	Extra map[string]any
}

// StoredSession is a session in a store. The cookie of the browser holds Token. All fields
// but Token, UserID and Expires are optional in a store. A site with tenants accepts no
// session that reads back without its Tenant. A store without Actor and ActorSession says
// so: see [ActorAdapter]. A [SessionListAdapter] keeps ID, and a [ProviderLogoutAdapter]
// ProviderSID, ProviderSub and ProviderIssued.
type StoredSession struct {
	hidden

	ID      string    // the row's own id, safe to show
	Token   string    // the secret in the cookie
	UserID  string    // the user who is signed in
	Expires time.Time // absolute
	Created time.Time // when the session began; zero: unknown

	// UserAgent is the browser's description of itself, for a list of devices.
	UserAgent string

	Tenant   string // the tenant that the session belongs to; empty: none
	Provider string // id of the provider that opened it

	// ProviderSID, ProviderSub and ProviderIssued are for a logout that begins at an OpenID
	// Provider. The first two are hashes of its sid and sub, made without a key. The last
	// is when its ID token was issued. They are empty where no logout is configured.
	ProviderSID    string
	ProviderSub    string
	ProviderIssued time.Time
	// Sealed is what a logout at the provider needs. The library encrypts it, and appends
	// hashes of further names. It is opaque to a store.
	Sealed string

	Proved time.Time // the latest proof of the user's identity; zero: the sign-in
	AMR    []string  // the methods of that proof: RFC 8176 names, each without a space
	ACR    string    // the level that it reached; empty: none was asked for

	Actor        string // id of the administrator who acts as the user; empty: the session is the user's own
	ActorSession string // ID of the administrator's own session; this session ends with it
}

// VerificationToken is what a store keeps of a magic link: a hash of the secret,
// never the secret.
type VerificationToken struct {
	hidden

	Identifier string // the e-mail address that the link was sent to
	Token      string // a hash of the secret in the link
	Expires    time.Time
	Purpose    string // what the link is for; empty: signing in. It is optional
}

// Authenticator is a passkey of a user. See Web Authentication Level 3, section 4. Name,
// AAGUID, Created, Used and UserHandle are optional in a store.
type Authenticator struct {
	CredentialID      []byte
	UserID            string
	ProviderAccountID string // of the account that stands for it
	PublicKey         []byte // COSE
	Counter           uint32 // signature counter
	DeviceType        string // "singleDevice" or "multiDevice"
	BackedUp          bool
	Transports        []string // such as "internal" or "usb"; no element has a comma

	Name    string    // the name that the user gave it; empty: none
	AAGUID  string    // the authenticator's model, as a UUID
	Created time.Time // when it was registered
	Used    time.Time // the latest sign-in with it

	// UserHandle is the name of the user in authenticators: the same random bytes
	// for all passkeys of a user (section 5.4.3). nil: Auth.js has registered it
	// and keeps none.
	UserHandle []byte
}
