package latchkey

import (
	"context"

	"github.com/latchkeyhq/latchkey/storage"
)

// Callbacks are decisions of the application's own: who may sign in, where a
// browser is sent, what a session token and a session hold. Each may be nil, and
// has [Limits].CallbackTimeout; taking longer is an error. Token and Session run at
// each read of a session, once a request under a guard or [Auth.LoadSession], and
// have to heed their context for that.
//
// An error is logged. An error of SignIn refuses the sign-in, and an error of
// Redirect leads to the error page. If Token or Session fails while a session is
// read, [SessionFrom] returns nil, a guard answers with status 500, and the browser
// keeps its session.
type Callbacks struct {
	// SignIn decides whether somebody may come in. nil, or a nil error: yes. An
	// error: no, as ErrAccessDenied unless it is an [*Error] or [ErrorType] of
	// another kind, such as [CredentialsError]. [RedirectTo] and [RespondWith]:
	// no, and this instead. For magic links it is asked twice; see
	// [SignInAttempt].VerificationRequest. It is asked again if the user changes
	// before the sign-in is written.
	SignIn func(ctx context.Context, a SignInAttempt) error
	// Redirect decides where a browser may be sent after signing in or out. to
	// is what was asked for, an absolute URL or a path; base is the site's
	// origin. nil: paths and URLs of the same origin; anything else becomes
	// base.
	Redirect func(ctx context.Context, to, base string) (string, error)
	// Token shapes the claims of a session token when it is made, read or
	// updated. nil: they stay as they are. Nil Claims: the session ends, and a
	// sign-in is refused as [ErrAccessDenied]. With DatabaseSessions there is no token, and it is never called; New logs a
	// warning.
	Token func(ctx context.Context, t TokenInfo) (Claims, error)
	// Session shapes what the browser sees. nil: name, email, image and
	// expires. Without a user, in a [Session] whose User is zero, the browser
	// sees none.
	Session func(ctx context.Context, r SessionInfo) (*Session, error)
}

// SignInAttempt is what [Callbacks].SignIn decides about: somebody who has
// proved who they are, or who asks for a magic link.
//
// User.Email may be an address that the user has never proved. Decide by User.ID,
// or by Account.Provider with Account.ProviderAccountID. An address may decide only
// where Account.EmailVouched is true, and then it is Account.Email. Passkeys and
// credentials bring no such address.
type SignInAttempt struct {
	hidden

	User        User // the stored user that the sign-in ends in; one who is created now as the provider describes them, with an ID that the Adapter may change
	Account     Account
	Profile     Claims            // what an OAuth provider said; nil: other kinds
	IDToken     Claims            // what the ID token said, verified, and never userinfo; nil: there is none
	Credentials map[string]string // what was typed; nil: other kinds
	// Invitation is the accepted one to the address that the sign-in proves, or that a
	// link is about to be sent to. nil: there is none. The sign-in takes it.
	Invitation *Invitation
	// VerificationRequest: a magic link is about to be sent; it has not been
	// opened yet.
	VerificationRequest bool
}

// TokenInfo holds the arguments of [Callbacks].Token: the claims of a JWT
// session that is made, read or updated.
//
// User.Email and the claim "email" may hold an address that the user has never
// proved. Give rights by User.ID, or without an adapter by Account.Provider with
// Account.ProviderAccountID. An address may decide only where Account.EmailVouched
// is true, and then it is Account.Email.
type TokenInfo struct {
	Claims  Claims  // change and return these, or return others
	Trigger Trigger // why
	User    *User   // at sign-in and sign-up
	Account *Account
	Profile Claims
	IDToken Claims // at sign-in and sign-up: what the ID token said, verified; nil: there is none
	// Update is what the browser sent, as JSON decodes it, on TriggerUpdate.
	// Check it before use.
	Update any
}

// Trigger says why [Callbacks].Token or [Callbacks].Session runs.
type Trigger string

// The triggers. Callbacks.Session gets TriggerRead and TriggerUpdate.
const (
	TriggerRead   Trigger = "" // a session is read
	TriggerSignIn Trigger = "signIn"
	TriggerSignUp Trigger = "signUp" // the user was created just now
	TriggerUpdate Trigger = "update" // the browser, or UpdateSession, asks for a change
	TriggerActAs  Trigger = "actAs"  // an administrator begins to act as the user
)

// SessionInfo holds the arguments of [Callbacks].Session: a session that a
// browser or a handler is about to get.
type SessionInfo struct {
	Session *Session               // the default answer, with UserID; its Extra is nil. Change and return it, or return another
	Claims  Claims                 // of the token; nil with DatabaseSessions
	User    *User                  // the stored user; nil with JWTSessions
	Stored  *storage.StoredSession // the stored row; nil with JWTSessions
	Trigger Trigger                // TriggerRead or TriggerUpdate
	Update  any                    // with DatabaseSessions: what the browser sent. Check it before use
}
