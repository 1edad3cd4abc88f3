package passkey

import (
	"context"
	"encoding/json"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
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

// CredentialList is what an unauthenticated client learns that names an e-mail
// address (Web Authentication Level 3, section 14.6.2).
type CredentialList string

// What such a client learns.
const (
	ListKnown  CredentialList = "known"  // the ids of its passkeys, and whether there is such a user, as with Auth.js
	ListDecoys CredentialList = "decoys" // ids for every address: of its passkeys, or made up and always the same
	ListNone   CredentialList = "none"   // nothing: browsers offer the passkeys that they have
)
