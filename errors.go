package latchkey

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrorType names what went wrong, spelled as on the wire and in logs. Every
// ErrorType is itself an error: errors.Is(err, latchkey.ErrAccessDenied) asks
// the question directly, however err was wrapped.
type ErrorType string

// The kinds of failure. What a browser is told of each stands in
// docs/protocol.md.
const (
	ErrAccessDenied                  ErrorType = "AccessDenied"                  // the sign-in callback said no
	ErrAccountNotLinked              ErrorType = "AccountNotLinked"              // a passkey belongs to another user
	ErrAdapter                       ErrorType = "AdapterError"                  // the Adapter failed; the text names the operation
	ErrCallbackRoute                 ErrorType = "CallbackRouteError"            // anything without a type of its own
	ErrCredentialsSignin             ErrorType = "CredentialsSignin"             // what was typed is not right, or was tried too often
	ErrDuplicateConditionalUI        ErrorType = "DuplicateConditionalUI"        // several providers offer passkeys while somebody types
	ErrEmailSignIn                   ErrorType = "EmailSignInError"              // a magic link could not be made or sent
	ErrErrorPageLoop                 ErrorType = "ErrorPageLoop"                 // Pages.Error itself asks for a sign-in
	ErrEvent                         ErrorType = "EventError"                    // a function of Events failed
	ErrExperimentalFeatureNotEnabled ErrorType = "ExperimentalFeatureNotEnabled" // a feature is experimental, and not switched on
	ErrInvalidCallbackURL            ErrorType = "InvalidCallbackUrl"            // callbackUrl is no path and no http(s) URL
	ErrInvalidCheck                  ErrorType = "InvalidCheck"                  // a callback does not belong to a sign-in that this browser began
	ErrInvalidEndpoints              ErrorType = "InvalidEndpoints"              // a provider's issuer or endpoints make no sense
	ErrInvalidProvider               ErrorType = "InvalidProvider"               // a provider is not configured, or wrongly
	ErrJWTSession                    ErrorType = "JWTSessionError"               // a session token could not be read or made
	ErrMissingAdapter                ErrorType = "MissingAdapter"                // a feature needs an Adapter
	ErrMissingAdapterMethods         ErrorType = "MissingAdapterMethods"         // a feature needs more of the Adapter than it has
	ErrMissingAuthorize              ErrorType = "MissingAuthorize"              // Credentials.Authorize is nil
	ErrMissingCSRF                   ErrorType = "MissingCSRF"                   // a form has no valid CSRF token
	ErrMissingSecret                 ErrorType = "MissingSecret"                 // there is no secret, or one that is known to all
	ErrMissingWebAuthnAutocomplete   ErrorType = "MissingWebAuthnAutocomplete"   // no field of a passkey form is marked for passkeys
	ErrOAuthAccountNotLinked         ErrorType = "OAuthAccountNotLinked"         // the account, or its e-mail address, belongs to another user
	ErrOAuthCallback                 ErrorType = "OAuthCallbackError"            // the provider refused, or somebody pressed Cancel there
	ErrOAuthProfileParse             ErrorType = "OAuthProfileParseError"        // Identify failed, or found no Subject
	ErrOAuthSignIn                   ErrorType = "OAuthSignInError"              // a sign-in could not be begun
	ErrSessionToken                  ErrorType = "SessionTokenError"             // a stored session could not be read or extended
	ErrSignOut                       ErrorType = "SignOutError"                  // a session could not be ended
	ErrUnknownAction                 ErrorType = "UnknownAction"                 // no such route
	ErrUnsupportedStrategy           ErrorType = "UnsupportedStrategy"           // the session strategy does not go with the rest
	ErrUntrustedHost                 ErrorType = "UntrustedHost"                 // nothing says which host to believe, or the request names another
	ErrVerification                  ErrorType = "Verification"                  // a magic link is unknown, used, expired or of another browser
	ErrWebAuthnVerification          ErrorType = "WebAuthnVerificationError"     // a passkey's answer is not right, or was given before
	ErrInvalidConfig                 ErrorType = "InvalidConfiguration"          // a field of Config, or an argument, makes no sense; never on the wire
)

// Error implements error.
func (t ErrorType) Error() string { return "latchkey: " + string(t) }

// Error is a failure: its [ErrorType], the provider it happened at, and the
// cause.
type Error struct {
	Type     ErrorType
	Provider string // the provider involved; empty: none
	Code     string // in the query of the page that follows, after credentials or a passkey that failed
	Err      error  // the cause; logged, never sent to a browser
}

// Error implements error.
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

// wrap is an error of this type with the cause err; nil: none.
func (t ErrorType) wrap(err error) error { return &Error{Type: t, Err: err} }

// wrapFor is wrap with the id of the provider it happened at.
func (t ErrorType) wrapFor(provider string, err error) error {
	return &Error{Type: t, Provider: provider, Err: err}
}

// CredentialsError returns an error by which [Credentials].Authorize refuses
// what was typed: the browser goes back to the sign-in page, with code in its
// query. The code is public: it must not tell a wrong name from a wrong
// password. Empty: "credentials".
func CredentialsError(code string) error { return &Error{Type: ErrCredentialsSignin, Code: code} }

// RedirectTo returns an error that sends the browser to url instead of going
// on. It is for [Callbacks].SignIn, [Credentials].Authorize and the guards. The
// URL goes through [Callbacks].Redirect.
func RedirectTo(url string) error { return &redirect{url} }

type redirect struct{ to string }

func (r *redirect) Error() string { return "latchkey: redirect" }

// RespondWith returns an error that answers the request with res. It is for
// [Callbacks].SignIn, [Credentials].Authorize and the guards.
func RespondWith(res *Response) error { return &ownResponse{res} }

type ownResponse struct{ res *Response }

func (*ownResponse) Error() string { return "latchkey: the application answers itself" }

// isSteering: the application wants the browser elsewhere. Nothing has failed.
func isSteering(err error) bool {
	if _, ok := errors.AsType[*redirect](err); ok {
		return true
	}
	_, ok := errors.AsType[*ownResponse](err)
	return ok
}

var (
	// ErrNoSession reports that a request carries no live session.
	ErrNoSession = errors.New("latchkey: no session")
	// ErrNotFound is what an [Adapter] returns for a record it does not have.
	ErrNotFound = errors.New("latchkey: not found")
	// ErrNoValue is what [Value] returns for a member that is absent: a claim of
	// a token that was made before the application added it, say.
	ErrNoValue = errors.New("latchkey: no such value")
	// ErrConflict is what an [Adapter] returns when a unique key is taken.
	ErrConflict = errors.New("latchkey: conflict")
	// ErrUnavailable is what an [Adapter] wraps when its store cannot answer for
	// now: it is starting, takes no more connections, or has lost its leader. Ends
	// of a context, errors of package net and io.EOF say so by themselves.
	ErrUnavailable = errors.New("latchkey: the store does not answer for now")
	// ErrLastAccount reports that an account was not unlinked because it is the
	// last way to sign in that its user has.
	ErrLastAccount = errors.New("latchkey: this is the only way to sign in that is left")
	// ErrSessionsNotEnded reports that a user was deleted while their JWT
	// sessions go on until they expire, since nothing remembers that these have
	// ended: see [SessionConfig].Revocations.
	ErrSessionsNotEnded = errors.New("latchkey: the user is deleted, but JWT sessions go on without Session.Revocations")
	// ErrBodyTooLarge is returned by [FromHTTP] for a body over the limit;
	// answer it with status 413.
	ErrBodyTooLarge = errors.New("latchkey: request body too large")
)

// tooManyTries looks like a wrong password on the wire. The built-in page
// and scripts are told when to come back.
type tooManyTries struct{ wait time.Duration }

func (*tooManyTries) Error() string { return "too many tries" }

// unusable is what was typed where an e-mail address should be.
type unusable struct{ cause error }

func (u *unusable) Error() string { return u.cause.Error() }
func (u *unusable) Unwrap() error { return u.cause }

// mistake marks the cause of a failure that whoever sent the request has made:
// there is nothing for the operator to mend.
type mistake struct{ err error }

func (m *mistake) Error() string { return m.err.Error() }
func (m *mistake) Unwrap() error { return m.err }

// ignoring is err, unless it is one that makes no difference.
func ignoring(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}

// publicError is err as an *Error, whatever it was.
func publicError(err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if t, ok := errors.AsType[ErrorType](err); ok {
		return t.wrap(nil)
	}
	return ErrCallbackRoute.wrap(err)
}

// redactedError is a cause that can be recognized but not read.
type redactedError struct {
	text  string
	cause error
}

func (e *redactedError) Error() string        { return e.text }
func (e *redactedError) Is(target error) bool { return errors.Is(e.cause, target) }
func (e *redactedError) As(target any) bool   { return errors.As(e.cause, target) }

// shown is the error type a browser may be told.
func (t ErrorType) shown() ErrorType {
	switch t {
	case ErrCredentialsSignin, ErrOAuthAccountNotLinked, ErrOAuthCallback, ErrAccessDenied,
		ErrVerification, ErrMissingCSRF, ErrAccountNotLinked, ErrWebAuthnVerification:
		return t
	}
	return "Configuration"
}

// onSignInPage tells the errors that people can mend by signing in another way.
func (t ErrorType) onSignInPage() bool {
	switch t {
	case ErrCredentialsSignin, ErrOAuthAccountNotLinked, ErrOAuthCallback, ErrAccountNotLinked, ErrMissingCSRF:
		return true
	}
	return false
}

// isTyped: whoever made the error has said what kind it is.
func isTyped(err error) bool {
	if _, ok := errors.AsType[*Error](err); ok {
		return true
	}
	_, ok := errors.AsType[ErrorType](err)
	return ok
}

// typeOf finds the outermost type in err's chain.
func typeOf(err error) ErrorType {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Type
	}
	if t, ok := errors.AsType[ErrorType](err); ok {
		return t
	}
	return ErrCallbackRoute
}

// faults gathers everything that is wrong with a configuration.
type faults []error

func (f *faults) add(t ErrorType, format string, args ...any) {
	*f = append(*f, t.wrap(fmt.Errorf(format, args...)))
}
