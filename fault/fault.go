// Package fault has the error that the calls of Latchkey return: an [Error] with
// its [ErrorType]. Package latchkey repeats all of these names; this package is
// for code that must not import it, such as an adapter of package storage.
package fault

import (
	"errors"
	"strings"
)

// ErrorType names what went wrong, spelled as on the wire and in logs. Every
// ErrorType is itself an error: errors.Is(err, fault.ErrAccessDenied) asks
// the question directly, however err was wrapped.
type ErrorType string

// The kinds of failure. What a browser is told of each stands in
// docs/protocol.md.
const (
	ErrAccessDenied                ErrorType = "AccessDenied"                // not allowed: Callbacks.SignIn or a guard said no, the user is suspended, or a proof is too old
	ErrAccountNotLinked            ErrorType = "AccountNotLinked"            // of passkeys alone: the passkey belongs to another user; see ErrOAuthAccountNotLinked
	ErrAdapter                     ErrorType = "AdapterError"                // the Adapter failed; the text names the operation
	ErrAudit                       ErrorType = "AuditError"                  // what was asked for could not be recorded, and was not done
	ErrCallbackRoute               ErrorType = "CallbackRouteError"          // any failure without a type of its own, on any route; the name is that of Auth.js
	ErrCredentialsSignin           ErrorType = "CredentialsSignin"           // what was typed is not right, or was tried too often
	ErrDuplicateConditionalUI      ErrorType = "DuplicateConditionalUI"      // several providers offer passkeys while a visitor types
	ErrEmailSignIn                 ErrorType = "EmailSignInError"            // a mail with a link could not be made or sent, or is one too many: Code is limit then
	ErrErrorPageLoop               ErrorType = "ErrorPageLoop"               // Pages.Error itself asks for a sign-in
	ErrEvent                       ErrorType = "EventError"                  // a function of Events failed
	ErrInvalidCallbackURL          ErrorType = "InvalidCallbackUrl"          // callbackUrl is neither a path nor an http(s) URL
	ErrInvalidCheck                ErrorType = "InvalidCheck"                // a callback does not belong to a sign-in that this browser began
	ErrInvalidEndpoints            ErrorType = "InvalidEndpoints"            // a provider's issuer or endpoints make no sense
	ErrInvalidProvider             ErrorType = "InvalidProvider"             // a provider is not configured, or wrongly
	ErrJWTSession                  ErrorType = "JWTSessionError"             // a session token could not be read or made
	ErrMissingAdapter              ErrorType = "MissingAdapter"              // a feature needs an Adapter
	ErrMissingAdapterMethods       ErrorType = "MissingAdapterMethods"       // a feature needs more of the Adapter than it has
	ErrMissingAuthorize            ErrorType = "MissingAuthorize"            // Credentials.Authorize is nil
	ErrMissingCSRF                 ErrorType = "MissingCSRF"                 // a form has no valid CSRF token
	ErrMissingSecret               ErrorType = "MissingSecret"               // there is no secret, or one that is known to all
	ErrMissingWebAuthnAutocomplete ErrorType = "MissingWebAuthnAutocomplete" // no field of a passkey form is marked for passkeys
	ErrOAuthAccountNotLinked       ErrorType = "OAuthAccountNotLinked"       // of accounts at providers and of links in mails: the account, or its e-mail address, belongs to another user
	ErrOAuthCallback               ErrorType = "OAuthCallbackError"          // the provider refused, or the visitor pressed Cancel there
	ErrOAuthProfileParse           ErrorType = "OAuthProfileParseError"      // Identify failed, or its Identity is of no use, such as one without a Subject
	ErrOAuthSignIn                 ErrorType = "OAuthSignInError"            // a sign-in could not be begun
	ErrFactor                      ErrorType = "FactorError"                 // a second factor could not be asked for, set up or removed; a wrong code is ErrSecondFactor
	ErrReauth                      ErrorType = "Reauth"                      // the user of a session has not proven who they are once more
	ErrSecondFactor                ErrorType = "SecondFactor"                // a second factor, such as a code, was wrong
	ErrPassword                    ErrorType = "PasswordError"               // a new password is refused: Code is short, long, common, context, repeated, breached or control
	ErrSessionToken                ErrorType = "SessionTokenError"           // a stored session could not be read or extended
	ErrSignOut                     ErrorType = "SignOutError"                // a session could not be ended
	ErrUnknownAction               ErrorType = "UnknownAction"               // no such route
	ErrUnsupportedStrategy         ErrorType = "UnsupportedStrategy"         // the session strategy does not go with the rest
	ErrUntrustedHost               ErrorType = "UntrustedHost"               // nothing says which host to believe, or the request names another
	ErrVerification                ErrorType = "Verification"                // a magic link is unknown, used, expired or of another browser
	ErrWebAuthnVerification        ErrorType = "WebAuthnVerificationError"   // a passkey's answer is not right, or was given before
	ErrReconnect                   ErrorType = "ReconnectRequired"           // the account has no usable tokens: send the user through Auth.Link, or let them sign in with the provider again
	ErrScopeMissing                ErrorType = "MissingScope"                // the user has not granted a scope that the call needs
	ErrRefresh                     ErrorType = "TokenRefreshError"           // a provider token could not be renewed for now
	ErrTokenKey                    ErrorType = "TokenKeyError"               // a stored token is encrypted under a key that is not configured
	ErrInvalidConfig               ErrorType = "InvalidConfiguration"        // a field of Config, or an argument, makes no sense; never on the wire
)

// Error implements error.
func (t ErrorType) Error() string { return "latchkey: " + string(t) }

// Error is a failure: its [ErrorType], the provider it happened at, and the
// cause.
type Error struct {
	Type     ErrorType
	Provider string // the provider involved; empty: none
	Code     string // says more, such as "limit"; the page that follows has it in its query after credentials or a passkey that failed; empty: nothing more
	Err      error  // the cause; logged, never sent to a browser

	Detail    Detail // names the failure more closely; empty: Type says it all
	Reference string // the reference code under which the log has it; empty: none
}

// Error returns the type, the provider and the text of the cause. It is for logs.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Type.Error())
	if e.Provider != "" {
		b.WriteString(" (" + e.Provider + ")")
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the error's type.
func (e *Error) Is(target error) bool { return target == e.Type }

// Errors without an ErrorType. A program asks for them with [errors.Is].
var (
	// ErrLastAccount reports that an account, a passkey or a password was not removed because
	// it is the last way to sign in that its user has.
	ErrLastAccount = errors.New("latchkey: this is the only way to sign in that is left")
	// ErrLastFactor reports that a second factor was not removed because it is the
	// last one of a user who has to have one.
	ErrLastFactor = errors.New("latchkey: this is the last second factor of a user who has to have one")
	// ErrSessionsNotEnded reports that a user was deleted or suspended, and that this is
	// done, while their JWT sessions go on until they expire: no revocation store is
	// configured, or it failed.
	ErrSessionsNotEnded = errors.New("latchkey: the user is deleted or suspended, but JWT sessions go on until they expire (set Session.Revocations)")
	// ErrAmbiguousAccount reports that a user has several accounts at a provider, and
	// the call named none of them.
	ErrAmbiguousAccount = errors.New("latchkey: the user has several accounts at this provider: name one by ProviderAccountID")
)

// InputError reports an argument that makes no sense. errors.As finds a *InputError, and
// errors.Is says that it is ErrInvalidConfig.
type InputError struct {
	Field   string // the field of the argument, such as "Limit", or the argument, such as "holder"
	Problem string // what is wrong with it; it repeats no value
}

// Error implements error.
func (e *InputError) Error() string { return "latchkey: " + e.Field + ": " + e.Problem }

// Unwrap returns ErrInvalidConfig.
func (e *InputError) Unwrap() error { return ErrInvalidConfig }
