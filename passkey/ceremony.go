package passkey

import (
	"context"
	"encoding/json"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Requirement says how strongly a relying party wants a property of an
// authenticator.
type Requirement string

// The requirements.
const (
	Required    Requirement = "required"
	Preferred   Requirement = "preferred"
	Discouraged Requirement = "discouraged"
)

// RegistrationOptions configure how passkeys are made (Web Authentication Level
// 3, section 5.4).
type RegistrationOptions struct {
	Timeout          time.Duration // of the browser's dialog; 0: 5 minutes
	UserVerification Requirement   // by PIN or biometrics; empty: Required, which is checked
	ResidentKey      Requirement   // that the browser finds it without an e-mail address; empty: Preferred
	Attachment       string        // "platform" or "cross-platform"; empty: either
	Attestation      string        // "none", "indirect", "direct" or "enterprise"; empty: none
	Algorithms       []int         // COSE identifiers in order of preference; nil: ES256, Ed25519, RS256
	Hints            []string      // such as "security-key"; nil: none
	Extensions       map[string]any
}

// AuthenticationOptions configure how passkeys are used (Web Authentication Level
// 3, section 5.5).
type AuthenticationOptions struct {
	Timeout          time.Duration // of the browser's dialog; 0: 5 minutes
	UserVerification Requirement   // by PIN or biometrics; empty: Required, which is checked
	Hints            []string      // such as "client-device"; nil: none
	Extensions       map[string]any
}

// RelyingParty is the site for which passkeys are made.
type RelyingParty struct {
	ID      string   // a domain; empty: the host name of the site
	Name    string   // shown by some browsers; empty: Theme.Name, else the host
	Origins []string // of pages that may use its passkeys, exactly as browsers write them; nil: the site's own
}

// Registration is a passkey to be made.
type Registration struct {
	RelyingParty RelyingParty
	Options      RegistrationOptions
	Challenge    []byte
	UserHandle   []byte // what the authenticator calls the user
	UserName     string // shown where the user chooses among passkeys
	DisplayName  string
	Exclude      []storage.Authenticator // passkeys that the user has already
	// Conditional allows the browser to make the passkey right after another
	// sign-in without asking, so the user need not be present.
	Conditional bool
}

// Authentication is a passkey to be used.
type Authentication struct {
	RelyingParty RelyingParty
	Options      AuthenticationOptions
	Challenge    []byte
	Allow        []storage.Authenticator // passkeys that are accepted; nil: any
}

// Presentation is what a passkey proved.
type Presentation struct {
	UserHandle   []byte // nil: the authenticator did not say
	Counter      uint32 // signature counter; 0: the authenticator does not count
	BackedUp     bool   // the passkey is synced now
	UserVerified bool   // by PIN or biometrics
}

// Ceremony speaks WebAuthn. It makes options for browsers and checks their
// answers byte for byte. It keeps no state and decides nothing about users: the
// library handles challenges, replays, counters and the owner of a passkey. The library fills
// in the defaults of empty fields before it calls a method, except those of Attachment,
// Algorithms, Hints and Extensions. An implementation must be safe for concurrent use.
// Module webauthn has one.
type Ceremony interface {
	// CreationOptions returns a PublicKeyCredentialCreationOptionsJSON (section
	// 5.1.8).
	CreationOptions(ctx context.Context, r Registration) (json.RawMessage, error)
	// Register checks a RegistrationResponseJSON (section 7.1) and returns the new
	// passkey. An error refuses it. The library sets UserID, ProviderAccountID,
	// UserHandle and the dates.
	Register(ctx context.Context, r Registration, answer []byte) (storage.Authenticator, error)
	// RequestOptions returns a PublicKeyCredentialRequestOptionsJSON (section 5.1.9).
	RequestOptions(ctx context.Context, a Authentication) (json.RawMessage, error)
	// Authenticate checks an AuthenticationResponseJSON made with key (section
	// 7.2), except for the counter. An error refuses it.
	Authenticate(ctx context.Context, a Authentication, key storage.Authenticator, answer []byte) (Presentation, error)
}

// CredentialList says what an unauthenticated client learns about the passkeys of
// an e-mail address that it names (Web Authentication Level 3, section 14.6.2).
type CredentialList string

// The choices of a [CredentialList].
const (
	ListKnown  CredentialList = "known"  // the ids of its passkeys, and whether a user has the address, as with Auth.js
	ListDecoys CredentialList = "decoys" // ids for every address: those of its passkeys, or invented ones that are always the same
	ListNone   CredentialList = "none"   // nothing; browsers offer the passkeys that they have
)
