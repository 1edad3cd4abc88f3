// Package webauthn lets Latchkey take passkeys and security keys. It is a
// module of its own, on go-webauthn.
//
//	auth, err := latchkey.New(latchkey.Config{
//		Providers: []latchkey.Provider{webauthn.Passkey(latchkey.WebAuthn{})},
//		Adapter:   store,
//	})
//
// [Passkey] is for signing in with passkeys alone: browsers find them without an
// e-mail address. [Provider] also takes security keys that have to be asked for.
// Both require that the authenticator verifies its user, by a PIN or biometrics.
//
// A [Ceremony] checks what Web Authentication Level 3, sections 7.1 and 7.2, has
// a site check of one answer. Challenges, replays, counters and whose a passkey
// is are the library's.
package webauthn
