package latchkey

import (
	"context"

	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/passkey"
)

// WebAuthn signs people in with passkeys and security keys (Web Authentication
// Level 3). It needs an Adapter that is a [storage.AuthenticatorAdapter] and a
// [storage.AccountAdapter], and a Ceremony. Module webauthn has
// the Ceremony, and makes a provider of the type with it.
//
// The browser gets the options for navigator.credentials from
// /webauthn-options/{ID} below the base path. It posts the result of that call to
// /callback/{ID}.
type WebAuthn struct {
	ID   string // part of routes and stored accounts; empty: webauthn
	Name string // empty: WebAuthn

	// Ceremony makes the options and checks the answers.
	Ceremony passkey.Ceremony
	// RelyingParty returns the site that passkeys are for. With a nil RelyingParty, and
	// for fields that it leaves empty, that is the site as the browser sees it. Its result
	// must not depend on anything that a visitor may choose.
	RelyingParty func(r *Request) passkey.RelyingParty

	Registration   passkey.RegistrationOptions   // how passkeys are made
	Authentication passkey.AuthenticationOptions // how they are used

	// Fields of the form on the sign-in page. nil: an e-mail address.
	Fields []Field
	// SkipConditionalUI keeps the sign-in page from offering passkeys while a visitor
	// types, in a field whose Autocomplete has the word webauthn. Of several WebAuthn
	// providers at most one can leave it false.
	SkipConditionalUI bool

	// UserInfo returns the user that a visitor who is not signed in names in a request: a
	// user that exists in the Adapter (exists is true, and u has an ID), or one to be
	// created with this Name, Email and Image. A nil u with a nil error says that the
	// request names no user. A nil UserInfo takes the e-mail address in the query
	// parameter email.
	UserInfo func(ctx context.Context, r *Request) (u *User, exists bool, err error)
	// ListCredentials says what an unauthenticated client that asks for the passkeys of
	// an e-mail address learns. Empty: passkey.ListKnown, or when Hardened
	// passkey.ListNone.
	ListCredentials passkey.CredentialList

	Style Style
}

// Or returns a copy of p with every field that p leaves empty taken from defaults, inside
// nested structs too. A default of true cannot be turned off.
func (p WebAuthn) Or(defaults WebAuthn) *WebAuthn {
	fill.From(&p, defaults)
	return &p
}
