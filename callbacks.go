package latchkey

import (
	"context"

	"github.com/latchkeyhq/latchkey/storage"
)

// Callbacks are decisions of the application's own: who may sign in, where a
// browser is sent, what a session token and a session hold. Each may be nil, and
// has [Limits].CallbackTimeout; taking longer is an error. Token and Session run at each
// read of a session, which is once a request under a guard or [Auth.LoadSession]. They must
// heed their context: on a read, one that ignores it is not interrupted at the timeout.
//
// An error is logged. An error of SignIn refuses the sign-in, and an error of
// Redirect leads to the error page. If Token or Session fails while a session is
// read, [SessionFrom] returns nil, a guard answers with status 500, and the browser
// keeps its session.
type Callbacks struct {
	// SignIn decides whether a user may sign in. A nil SignIn, and a nil error, accept
	// the sign-in. An error refuses it, as ErrAccessDenied unless it is an [*Error] or
	// [ErrorType] of another kind, such as [CredentialsError]. [RedirectTo] and
	// [RespondWith] refuse it and answer in their way. For magic links SignIn is called
	// twice; see [SignInAttempt].VerificationRequest. It is called again if, before the
	// sign-in is written, it turns out to end in another stored user than the one that
	// SignIn was called with.
	SignIn func(ctx context.Context, a SignInAttempt) error
	// Redirect returns where a browser is sent after signing in or out, as a path or an http(s)
	// URL. Any other text, and base, mean the home page. to is the target that was asked for, a
	// path or an absolute URL. base is the site's origin. A nil Redirect accepts paths and URLs of
	// the same origin, and replaces any other target by the home page: base and [Site].Prefix.
	Redirect func(ctx context.Context, to, base string) (string, error)
	// Token changes the claims of a session token when it is made, read or
	// updated. A nil Token leaves them as they are. If it returns nil Claims and no
	// error, the session ends. A sign-in opens none then: the browser is led on as after
	// any other, and the observer and the log are told of a refusal. With
	// DatabaseSessions there is no token, and Token is never called; New logs a warning.
	Token func(ctx context.Context, t TokenInfo) (Claims, error)
	// Session changes what the browser sees of a session. A nil Session shows name,
	// email, image and expires. If the [Session] that it returns has a zero User, the
	// browser sees the session without a member user. Returning no session and no error
	// is an error.
	Session func(ctx context.Context, r SessionInfo) (*Session, error)
}

// SignInAttempt is what [Callbacks].SignIn decides about: a person who has
// proved who they are, or who asks for a magic link.
//
// User.Email may be an address that the user has never proved. Decide by User.ID,
// or by Account.Provider with Account.ProviderAccountID. An address may decide only
// where Account.EmailVouched is true, and then it is Account.Email. Passkeys and
// credentials bring no such address.
type SignInAttempt struct {
	hidden

	// User is the stored user that the sign-in ends in. A user that is not stored yet is as
	// the provider describes them. Such a user has a random ID that no stored user has. Do
	// not keep this ID, because the Adapter may replace it. The ID is empty while a visitor
	// signs up with a password and the address is only typed: see VerificationRequest. For
	// credentials User is what Authorize returned.
	User User
	// Account is as this sign-in brought it: Email and EmailVouched are not those that are
	// stored. For a magic link that is about to be sent EmailVouched is true, since the
	// user can only go on by opening the link: see VerificationRequest.
	Account     Account
	Profile     Claims            // what an OAuth provider said; nil: other kinds
	IDToken     Claims            // what the ID token said, verified, and never userinfo; nil: there is none
	Credentials map[string]string // typed for a [Credentials], password included, or at a [Password] sign-up without it; nil: neither
	// Invitation is the accepted invitation to the address that the user has proven, or
	// that a mail is about to be sent to. nil: there is none. The sign-in uses it up.
	Invitation *Invitation
	// VerificationRequest says that the address is only typed. Accepting the attempt mails a
	// link, or with [Password].AllowUnverified calls SignIn again at once to sign a new user in.
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
	Claims  Claims   // change and return these, or return others
	Trigger Trigger  // why
	User    *User    // on TriggerSignIn, TriggerSignUp and TriggerActAs; nil: a session is read or updated
	Account *Account // as User; on TriggerActAs it names no account
	Profile Claims   // at sign-in and sign-up: what an OAuth provider said; nil: other kinds
	IDToken Claims   // at sign-in and sign-up: what the ID token said, verified; nil: there is none
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
	Update  any                    // on TriggerUpdate: what the browser or UpdateSession sent. Check it before use
}
