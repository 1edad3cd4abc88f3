package latchkey

import (
	"errors"
	"strings"
)

// ErrorType names what went wrong, spelled as on the wire and in logs. Every
// ErrorType is itself an error: errors.Is(err, latchkey.ErrAccessDenied) asks
// the question directly, however err was wrapped.
type ErrorType string

// The kinds of failure Latchkey reports.
const (
	ErrAccessDenied                  ErrorType = "AccessDenied"
	ErrAccountNotLinked              ErrorType = "AccountNotLinked"
	ErrAdapter                       ErrorType = "AdapterError"
	ErrCallbackRoute                 ErrorType = "CallbackRouteError"
	ErrCredentialsSignin             ErrorType = "CredentialsSignin"
	ErrDuplicateConditionalUI        ErrorType = "DuplicateConditionalUI"
	ErrEmailSignIn                   ErrorType = "EmailSignInError"
	ErrErrorPageLoop                 ErrorType = "ErrorPageLoop"
	ErrEvent                         ErrorType = "EventError"
	ErrExperimentalFeatureNotEnabled ErrorType = "ExperimentalFeatureNotEnabled"
	ErrInvalidCallbackURL            ErrorType = "InvalidCallbackUrl"
	ErrInvalidCheck                  ErrorType = "InvalidCheck"
	ErrInvalidEndpoints              ErrorType = "InvalidEndpoints"
	ErrInvalidProvider               ErrorType = "InvalidProvider"
	ErrJWTSession                    ErrorType = "JWTSessionError"
	ErrMissingAdapter                ErrorType = "MissingAdapter"
	ErrMissingAdapterMethods         ErrorType = "MissingAdapterMethods"
	ErrMissingAuthorize              ErrorType = "MissingAuthorize"
	ErrMissingCSRF                   ErrorType = "MissingCSRF"
	ErrMissingSecret                 ErrorType = "MissingSecret"
	ErrMissingWebAuthnAutocomplete   ErrorType = "MissingWebAuthnAutocomplete"
	ErrOAuthAccountNotLinked         ErrorType = "OAuthAccountNotLinked"
	ErrOAuthCallback                 ErrorType = "OAuthCallbackError"
	ErrOAuthProfileParse             ErrorType = "OAuthProfileParseError"
	ErrOAuthSignIn                   ErrorType = "OAuthSignInError"
	ErrSessionToken                  ErrorType = "SessionTokenError"
	ErrSignOut                       ErrorType = "SignOutError"
	ErrUnknownAction                 ErrorType = "UnknownAction"
	ErrUnsupportedStrategy           ErrorType = "UnsupportedStrategy"
	ErrUntrustedHost                 ErrorType = "UntrustedHost"
	ErrVerification                  ErrorType = "Verification"
	ErrWebAuthnVerification          ErrorType = "WebAuthnVerificationError"
	ErrInvalidConfig                 ErrorType = "InvalidConfiguration" // never on the wire: a field of Config that makes no sense
)

// Error implements error.
func (t ErrorType) Error() string { return "latchkey: " + string(t) }

// Error adds to an [ErrorType] where it happened and why.
type Error struct {
	Type     ErrorType
	Provider string // the provider involved; empty: none
	Code     string // shown to the visitor beside a failed credentials sign-in
	Err      error  // the cause; logged, never shown to a visitor
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

// because wraps the cause err.
func (t ErrorType) because(err error) error { return &Error{Type: t, Err: err} }

// at is because with the provider it happened at.
func (t ErrorType) at(provider string, err error) error {
	return &Error{Type: t, Provider: provider, Err: err}
}

// CredentialsError returns an error for [Credentials].Authorize that sends the
// visitor back to the sign-in page with code beside the message. The code is
// public: it must not tell a wrong name from a wrong password. Empty: "credentials".
func CredentialsError(code string) error { return &Error{Type: ErrCredentialsSignin, Code: code} }

// RedirectTo returns an error that sends the visitor to url instead of going
// on. [Callbacks].SignIn and the guards understand it. The address goes through
// [Callbacks].Redirect.
func RedirectTo(url string) error { return &redirect{url} }

type redirect struct{ to string }

func (r *redirect) Error() string { return "latchkey: redirect" }

// RespondWith returns an error that answers the request with res. The function
// given to [Auth.Authorize] and [Callbacks].SignIn may return it.
func RespondWith(res *Response) error { return &ownResponse{res} }

type ownResponse struct{ res *Response }

func (*ownResponse) Error() string { return "latchkey: the application answers itself" }

var (
	// ErrNoSession reports that a request carries no live session.
	ErrNoSession = errors.New("latchkey: no session")
	// ErrNotFound is what an [Adapter] returns for a record it does not have.
	ErrNotFound = errors.New("latchkey: not found")
	// ErrConflict is what an [Adapter] returns when a unique key is taken.
	ErrConflict = errors.New("latchkey: conflict")
	// ErrBodyTooLarge is returned by [FromHTTP] for a body over the limit; answer it with status 413.
	ErrBodyTooLarge = errors.New("latchkey: request body too large")
)

// shown is the error type a browser may be told.
func (t ErrorType) shown() ErrorType {
	switch t {
	case ErrCredentialsSignin, ErrOAuthAccountNotLinked, ErrOAuthCallback, ErrAccessDenied,
		ErrVerification, ErrMissingCSRF, ErrAccountNotLinked, ErrWebAuthnVerification:
		return t
	}
	return "Configuration"
}

// onSignInPage tells the errors that the visitor can mend by signing in another way.
func (t ErrorType) onSignInPage() bool {
	switch t {
	case ErrCredentialsSignin, ErrOAuthAccountNotLinked, ErrOAuthCallback, ErrAccountNotLinked, ErrMissingCSRF:
		return true
	}
	return false
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
