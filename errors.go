package latchkey

import (
	"errors"
	"fmt"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/storage"
)

// ErrorType names what went wrong, spelled as on the wire and in logs. Every
// ErrorType is itself an error: errors.Is(err, latchkey.ErrAccessDenied) asks
// the question directly, however err was wrapped. It is the type of package
// fault.
type ErrorType = fault.ErrorType

// The kinds of failure. What a browser is told of each stands in
// docs/protocol.md.
const (
	ErrAccessDenied                = fault.ErrAccessDenied                // not allowed: Callbacks.SignIn or a guard said no, the user is suspended, or a proof is too old
	ErrAccountNotLinked            = fault.ErrAccountNotLinked            // of passkeys alone: the passkey belongs to another user; see ErrOAuthAccountNotLinked
	ErrAdapter                     = fault.ErrAdapter                     // the Adapter failed; the text names the operation
	ErrAudit                       = fault.ErrAudit                       // what was asked for could not be recorded, and was not done
	ErrCallbackRoute               = fault.ErrCallbackRoute               // any failure without a type of its own, on any route; the name is that of Auth.js
	ErrCredentialsSignin           = fault.ErrCredentialsSignin           // what was typed is not right, or was tried too often
	ErrDuplicateConditionalUI      = fault.ErrDuplicateConditionalUI      // several providers offer passkeys while a visitor types
	ErrEmailSignIn                 = fault.ErrEmailSignIn                 // a magic link could not be made or sent
	ErrErrorPageLoop               = fault.ErrErrorPageLoop               // Pages.Error itself asks for a sign-in
	ErrEvent                       = fault.ErrEvent                       // a function of Events failed
	ErrInvalidCallbackURL          = fault.ErrInvalidCallbackURL          // callbackUrl is neither a path nor an http(s) URL
	ErrInvalidCheck                = fault.ErrInvalidCheck                // a callback does not belong to a sign-in that this browser began
	ErrInvalidEndpoints            = fault.ErrInvalidEndpoints            // a provider's issuer or endpoints make no sense
	ErrInvalidProvider             = fault.ErrInvalidProvider             // a provider is not configured, or wrongly
	ErrJWTSession                  = fault.ErrJWTSession                  // a session token could not be read or made
	ErrMissingAdapter              = fault.ErrMissingAdapter              // a feature needs an Adapter
	ErrMissingAdapterMethods       = fault.ErrMissingAdapterMethods       // a feature needs more of the Adapter than it has
	ErrMissingAuthorize            = fault.ErrMissingAuthorize            // Credentials.Authorize is nil
	ErrMissingCSRF                 = fault.ErrMissingCSRF                 // a form has no valid CSRF token
	ErrMissingSecret               = fault.ErrMissingSecret               // there is no secret, or one that is known to all
	ErrMissingWebAuthnAutocomplete = fault.ErrMissingWebAuthnAutocomplete // no field of a passkey form is marked for passkeys
	ErrOAuthAccountNotLinked       = fault.ErrOAuthAccountNotLinked       // of accounts at providers and of links in mails: the account, or its e-mail address, belongs to another user
	ErrOAuthCallback               = fault.ErrOAuthCallback               // the provider refused, or the visitor pressed Cancel there
	ErrOAuthProfileParse           = fault.ErrOAuthProfileParse           // Identify failed, or its Identity is of no use, such as one without a Subject
	ErrOAuthSignIn                 = fault.ErrOAuthSignIn                 // a sign-in could not be begun
	ErrFactor                      = fault.ErrFactor                      // a second factor could not be asked for, set up or removed; a wrong code is ErrSecondFactor
	ErrReauth                      = fault.ErrReauth                      // the user of a session has not proven who they are once more
	ErrSecondFactor                = fault.ErrSecondFactor                // a second factor, such as a code, was wrong
	ErrPassword                    = fault.ErrPassword                    // a new password is refused; Error.Code says why
	ErrSessionToken                = fault.ErrSessionToken                // a stored session could not be read or extended
	ErrSignOut                     = fault.ErrSignOut                     // a session could not be ended
	ErrUnknownAction               = fault.ErrUnknownAction               // no such route
	ErrUnsupportedStrategy         = fault.ErrUnsupportedStrategy         // the session strategy does not go with the rest
	ErrUntrustedHost               = fault.ErrUntrustedHost               // nothing says which host to believe, or the request names another
	ErrVerification                = fault.ErrVerification                // a magic link is unknown, used, expired or of another browser
	ErrWebAuthnVerification        = fault.ErrWebAuthnVerification        // a passkey's answer is not right, or was given before
	ErrReconnect                   = fault.ErrReconnect                   // the account has no usable tokens: send the user through Auth.Link, or let them sign in with the provider again
	ErrScopeMissing                = fault.ErrScopeMissing                // the user has not granted a scope that the call needs
	ErrRefresh                     = fault.ErrRefresh                     // a provider token could not be renewed for now
	ErrTokenKey                    = fault.ErrTokenKey                    // a stored token is encrypted under a key that is not configured
	ErrInvalidConfig               = fault.ErrInvalidConfig               // a field of Config, or an argument, makes no sense; never on the wire
)

// Error is a failure. Type is its [ErrorType]. Provider is the id of the provider that it
// happened at. Code is public, for the query of the page that follows. Err is the cause:
// it is logged and never sent to a browser. Error is the type of package fault.
type Error = fault.Error

// TokenError is what an OAuth provider said when it refused: Code, such as
// login_required after Prompt none, Missing scopes, and RetryAfter. Find it in the
// error of [Core].Do and in [Event].Err. It is the type of package fault.
type TokenError = fault.TokenError

// CredentialsError returns an error by which [Credentials].Authorize refuses
// what was typed: the browser goes back to the sign-in page, with code in its
// query. The code is public: it must not tell a wrong name from a wrong
// password. Empty: "credentials".
func CredentialsError(code string) error { return &Error{Type: ErrCredentialsSignin, Code: code} }

// RedirectTo returns an error that sends the browser to url instead of going on. Return it
// from [Callbacks].SignIn, [Credentials].Authorize or the function of a guard, or hand it to
// [Auth.WriteError]: url then goes through [Callbacks].Redirect. Without that function, another
// site becomes the home page, but status 500 in a guard and in WriteError. The functions of
// [Tenants] and [Func] may return it as well: their url does not go through Callbacks.Redirect.
func RedirectTo(url string) error { return &redirect{url} }

type redirect struct{ to string }

func (r *redirect) Error() string { return "latchkey: redirect" }

// RespondWith returns an error that answers the request with a copy of res. Return it where
// [RedirectTo] can be returned, such as from [Callbacks].SignIn. It may be returned for
// several requests at once: Body and cookies of res must not change. A nil res is a fault.
func RespondWith(res *Response) error { return &ownResponse{res} }

type ownResponse struct{ res *Response }

func (*ownResponse) Error() string { return "latchkey: the application answers itself" }

// errNilResponse is the fault of an application that answers with nothing.
var errNilResponse = errors.New("RespondWith was given no response (give it one, or return ErrAccessDenied)")

// unknownTenant says that a request is for no tenant. It hides its cause from errors.Is,
// because callers take an ErrNotFound for a missing record.
type unknownTenant struct{ cause error }

func (u *unknownTenant) Error() string { return u.cause.Error() }

// Detail implements the interface of errors that name their detail.
func (u *unknownTenant) Detail() fault.Detail { return fault.TenantUnknown }

// ReferenceFrom returns the reference code of an error of [Core] or [Auth]. The log has
// the error under that code, and the command latchkey explain looks it up. It returns ""
// for an error without one.
func ReferenceFrom(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reference
	}
	return ""
}

// isSteering reports whether err is a redirect or a response of the
// application. Nothing has failed then.
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
	// ErrSessionExpired reports that the session of a request has expired. It is an
	// ErrNoSession.
	ErrSessionExpired = fmt.Errorf("%w: it has expired", ErrNoSession)
	// ErrSessionEnded reports that the session of a request was ended or is not known any
	// more: a sign-out, a logout at a provider, or an end of the user's sessions. It is an
	// ErrNoSession.
	ErrSessionEnded = fmt.Errorf("%w: it was ended", ErrNoSession)
	// ErrNotFound reports that there is no such record: it comes from the Adapter.
	ErrNotFound = storage.ErrNotFound
	// ErrConflict reports that a unique key is taken: it comes from the Adapter.
	ErrConflict = storage.ErrConflict
	// ErrUnavailable reports that a store cannot answer for now. The same request
	// may succeed in a moment.
	ErrUnavailable = storage.ErrUnavailable
	// ErrNoValue reports that [Value] was asked for a member that is absent, such as a
	// claim of a token that was made before the application added the claim.
	ErrNoValue = errors.New("latchkey: no such value")

	// ErrLastAccount reports that an account, a passkey or a password was not removed because
	// it is the last way to sign in that its user has.
	ErrLastAccount = fault.ErrLastAccount
	// ErrLastFactor reports that a second factor was not removed because it is the
	// last one of a user who has to have one.
	ErrLastFactor = fault.ErrLastFactor
	// ErrSessionsNotEnded reports that a user was deleted or suspended, and that this is
	// done, while their JWT sessions go on until they expire: no revocation store is
	// configured, or it failed. See [SessionConfig].Revocations.
	ErrSessionsNotEnded = fault.ErrSessionsNotEnded
	// ErrBodyTooLarge is returned by [FromHTTP] for a body over the limit;
	// answer it with status 413.
	ErrBodyTooLarge = errors.New("latchkey: request body too large")
)

// tooManyTries looks like a wrong password on the wire. The built-in page
// and scripts are told when to come back.
type tooManyTries struct{ wait time.Duration }

func (*tooManyTries) Error() string { return "too many tries" }

// Detail implements the interface of errors that name their detail.
func (*tooManyTries) Detail() fault.Detail { return fault.LimitClient }

// unusable is the error for a typed e-mail address that is none.
type unusable struct{ cause error }

func (u *unusable) Error() string { return u.cause.Error() }
func (u *unusable) Unwrap() error { return u.cause }

// shownType returns the error type that a browser may be told in place of t: t itself, or
// Configuration for all types that tell visitors nothing, as in Auth.js.
func shownType(t ErrorType) ErrorType {
	switch t {
	case ErrCredentialsSignin, ErrOAuthAccountNotLinked, ErrOAuthCallback, ErrAccessDenied,
		ErrVerification, ErrMissingCSRF, ErrAccountNotLinked, ErrWebAuthnVerification:
		return t
	}
	return "Configuration"
}

// isForSignInPage reports whether the sign-in page shows an error of type t, because the
// user can mend it there by signing in another way.
func isForSignInPage(t ErrorType) bool {
	switch t {
	case ErrCredentialsSignin, ErrOAuthAccountNotLinked, ErrOAuthCallback, ErrAccountNotLinked, ErrMissingCSRF:
		return true
	}
	return false
}
