package webauthn

import (
	"context"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/passkey"
)

// Passkey returns the provider for passkeys: id "passkey", name "Passkey",
// resident keys and user verification required. What p sets wins.
func Passkey(p latchkey.WebAuthn) *latchkey.WebAuthn {
	return p.Or(latchkey.WebAuthn{
		ID: "passkey", Name: "Passkey", Ceremony: Ceremony{},
		Registration:   passkey.RegistrationOptions{ResidentKey: passkey.Required, UserVerification: passkey.Required},
		Authentication: passkey.AuthenticationOptions{UserVerification: passkey.Required},
	})
}

// Provider returns the provider for passkeys and security keys: id "webauthn",
// name "WebAuthn", resident keys and user verification preferred. What p sets
// wins.
func Provider(p latchkey.WebAuthn) *latchkey.WebAuthn {
	return p.Or(latchkey.WebAuthn{Ceremony: Ceremony{}})
}

// Ceremony is a [passkey.Ceremony]. The zero value is right for nearly
// everyone, and may be used concurrently.
type Ceremony struct {
	// CheckAttestation judges the maker of an authenticator, for sites that must
	// know it: set Registration.Attestation to "direct" too. Its error refuses the
	// registration. The statement's own signature has been verified; who may
	// sign such is for CheckAttestation to say. nil: every statement will do, and
	// none too.
	CheckAttestation func(ctx context.Context, a Attestation) error
}

var _ passkey.Ceremony = Ceremony{}

// Attestation is what an authenticator says about itself (Web Authentication
// Level 3, section 6.5).
type Attestation struct {
	Format         string         // such as "packed"; "none": nothing is said
	Type           string         // such as "basic_full", in the words of the FIDO Metadata Service
	Statement      map[string]any // of the format
	Certificates   [][]byte       // x5c, the leaf first, in DER; nil: none
	AAGUID         string         // the model, as a UUID; empty: not said
	AuthData       []byte
	ClientDataHash []byte
}
