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
		Registration: passkey.RegistrationOptions{ResidentKey: passkey.Required},
	})
}

// Provider returns the provider for passkeys and security keys: id "webauthn", name
// "WebAuthn", resident keys preferred and user verification required. What p sets wins:
// if UserVerification is passkey.Preferred in both p.Registration and p.Authentication,
// security keys that do not verify their user are accepted.
func Provider(p latchkey.WebAuthn) *latchkey.WebAuthn {
	return p.Or(latchkey.WebAuthn{Ceremony: Ceremony{}})
}

// Ceremony is a [passkey.Ceremony]. The zero value is right for nearly
// everyone, and may be used concurrently.
type Ceremony struct {
	// CheckAttestation judges the maker of an authenticator, for sites that must
	// know it. Such a site sets Registration.Attestation to "direct" as well:
	// without that, no statement is verified, and CheckAttestation gets the format
	// "none" for every registration. An error refuses the registration. The
	// signature of the statement has been verified before the call; CheckAttestation
	// says whose certificates it trusts. nil: a registration needs no trusted statement.
	CheckAttestation func(ctx context.Context, a Attestation) error
}

var _ passkey.Ceremony = Ceremony{}

// Attestation is what an authenticator says about itself (Web Authentication
// Level 3, section 6.5).
type Attestation struct {
	Format         string         // such as "packed"; "none": nothing is said, or was asked for
	Type           string         // such as "basic_full", in the words of the FIDO Metadata Service
	Statement      map[string]any // of the format
	Certificates   [][]byte       // x5c, the leaf first, in DER; nil: none
	AAGUID         string         // the model, as a UUID; empty: not said
	AuthData       []byte
	ClientDataHash []byte
}
