package latchkey

import (
	"context"
	"encoding/json"
	"time"

	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/storage"
)

// WebAuthn signs people in with passkeys and security keys (Web Authentication
// Level 3). It needs an Adapter that is an [storage.AuthenticatorAdapter] and an
// [storage.AccountAdapter], and a Ceremony. Module webauthn has
// the Ceremony, and makes a provider of the type with it.
//
// The browser gets what navigator.credentials wants from
// /webauthn-options/{ID} below the base path, and posts what that answers to
// /callback/{ID}.
type WebAuthn struct {
	ID   string // part of routes and stored accounts; empty: webauthn
	Name string // empty: WebAuthn

	// Ceremony makes the options and checks the answers.
	Ceremony Ceremony
	// RelyingParty says for whom passkeys are. nil, and fields that it leaves
	// empty: the site as the browser sees it. What it returns must not depend on
	// anything that a visitor may choose.
	RelyingParty func(r *Request) RelyingParty

	Registration   RegistrationOptions   // how passkeys are made
	Authentication AuthenticationOptions // how they are used

	// Fields of the form on the sign-in page. nil: an e-mail address.
	Fields []Field
	// SkipConditionalUI switches off that the sign-in page offers passkeys while
	// somebody types, in a field whose Autocomplete has the word webauthn. One
	// provider at most can have it.
	SkipConditionalUI bool

	// UserInfo says whom a visitor, who is not signed in, wants to be: a user
	// who exists in the Adapter, or one to be created with this Name, Email and
	// Image. nil, nil: they did not say. nil: what the query has as email.
	UserInfo func(ctx context.Context, r *Request) (u *User, exists bool, err error)
	// ListCredentials says what strangers learn who ask for the passkeys of an
	// e-mail address. Empty: ListKnown, and ListNone when Hardened.
	ListCredentials CredentialList

	Style Style
}

// Or returns p with every field it leaves empty taken from defaults, inside
// nested structs too. A default of true cannot be turned off.
func (p WebAuthn) Or(defaults WebAuthn) *WebAuthn {
	fill.From(&p, defaults)
	return &p
}

// CredentialList is what strangers learn who name an e-mail address (Web
// Authentication Level 3, section 14.6.2).
type CredentialList string

// What strangers learn.
const (
	ListKnown  CredentialList = "known"  // the ids of its passkeys, and whether there is such a user, as with Auth.js
	ListDecoys CredentialList = "decoys" // ids for every e-mail address: of its passkeys, else made up ones that stay the same
	ListNone   CredentialList = "none"   // nothing: browsers offer the passkeys that they have
)

// Requirement says how much something is wanted of an authenticator.
type Requirement string

// How much something is wanted.
const (
	Required    Requirement = "required"
	Preferred   Requirement = "preferred"
	Discouraged Requirement = "discouraged"
)

// RegistrationOptions are how passkeys are made (Web Authentication Level 3,
// section 5.4).
type RegistrationOptions struct {
	Timeout          time.Duration // of the browser's dialog; 0: 5 minutes
	UserVerification Requirement   // by PIN or biometrics; empty: Preferred. What is Required is checked
	ResidentKey      Requirement   // that it can be found without an e-mail address; empty: Preferred
	Attachment       string        // "platform" or "cross-platform"; empty: either
	Attestation      string        // "none", "indirect", "direct" or "enterprise"; empty: none
	Algorithms       []int         // COSE identifiers in order of preference; nil: ES256, Ed25519, RS256
	Hints            []string      // such as "security-key"; nil: none
	Extensions       map[string]any
}

// AuthenticationOptions are how passkeys are used (Web Authentication Level 3,
// section 5.5).
type AuthenticationOptions struct {
	Timeout          time.Duration // of the browser's dialog; 0: 5 minutes
	UserVerification Requirement   // by PIN or biometrics; empty: Preferred. What is Required is checked
	Hints            []string      // such as "client-device"; nil: none
	Extensions       map[string]any
}

// RelyingParty is for whom passkeys are.
type RelyingParty struct {
	ID      string   // a domain; empty: the host name of the site
	Name    string   // shown by some browsers; empty: Theme.Name, else the host
	Origins []string // exactly as browsers write them, of pages that may use its passkeys; nil: the site's own
}

// Registration is a passkey to be made.
type Registration struct {
	RelyingParty RelyingParty
	Options      RegistrationOptions
	Challenge    []byte
	UserHandle   []byte // what the authenticator calls the user
	UserName     string // shown where people choose among passkeys
	DisplayName  string
	Exclude      []storage.Authenticator // that the user has already
	// Conditional: it may be made without asking, right after another sign-in, so
	// nobody need be present.
	Conditional bool
}

// Authentication is a passkey to be used.
type Authentication struct {
	RelyingParty RelyingParty
	Options      AuthenticationOptions
	Challenge    []byte
	Allow        []storage.Authenticator // nil: any
}

// Presentation is what a passkey proved.
type Presentation struct {
	UserHandle   []byte // nil: the authenticator did not say
	Counter      uint32
	BackedUp     bool
	UserVerified bool
}

// Ceremony speaks WebAuthn: it makes options for browsers and checks what they
// answer, byte for byte. It keeps nothing, and decides nothing about users:
// challenges, replays, counters and whose a passkey is are the library's. It is
// called concurrently. Module webauthn has one.
type Ceremony interface {
	// CreationOptions are PublicKeyCredentialCreationOptionsJSON (section 5.1.8).
	CreationOptions(ctx context.Context, r Registration) (json.RawMessage, error)
	// Register checks a RegistrationResponseJSON (section 7.1). An error refuses
	// it. Of what it returns, UserID, ProviderAccountID, UserHandle and the dates
	// are set by the library.
	Register(ctx context.Context, r Registration, answer []byte) (storage.Authenticator, error)
	// RequestOptions are PublicKeyCredentialRequestOptionsJSON (section 5.1.9).
	RequestOptions(ctx context.Context, a Authentication) (json.RawMessage, error)
	// Authenticate checks an AuthenticationResponseJSON made with key (section
	// 7.2), except for the counter. An error refuses it.
	Authenticate(ctx context.Context, a Authentication, key storage.Authenticator, answer []byte) (Presentation, error)
}
