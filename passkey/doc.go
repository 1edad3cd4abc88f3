// Package passkey is the contract between Latchkey and a WebAuthn implementation:
// the options and answers of a [Ceremony]. Module webauthn implements it. An
// application meets these types in the fields of latchkey.WebAuthn.
package passkey
