package latchkey

import (
	"context"

	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/passkey"
)

// WebAuthn signs people in with passkeys and security keys (Web Authentication
// Level 3). It needs an Adapter that is a [storage.AuthenticatorAdapter] and an
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
	Ceremony passkey.Ceremony
	// RelyingParty says for whom passkeys are. nil, and fields that it leaves
	// empty: the site as the browser sees it. What it returns must not depend on
	// anything that a visitor may choose.
	RelyingParty func(r *Request) passkey.RelyingParty

	Registration   passkey.RegistrationOptions   // how passkeys are made
	Authentication passkey.AuthenticationOptions // how they are used

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
	// e-mail address. Empty: passkey.ListKnown, and passkey.ListNone when Hardened.
	ListCredentials passkey.CredentialList

	Style Style
}

// Or returns p with every field it leaves empty taken from defaults, inside
// nested structs too. A default of true cannot be turned off.
func (p WebAuthn) Or(defaults WebAuthn) *WebAuthn {
	fill.From(&p, defaults)
	return &p
}
