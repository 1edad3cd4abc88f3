package fault

import (
	"strings"
	"time"
)

// TokenError is what an OAuth provider said when it refused a sign-in or a token, or
// what a token lacks. It is the cause of an [Error]: find it with [errors.AsType].
type TokenError struct {
	Code       string        // of the provider, such as login_required (OpenID Connect Core 1.0, section 3.1.2.6); empty: none
	Missing    []string      // the scopes that the token lacks; nil: none
	RetryAfter time.Duration // how long to wait before the next call; 0: not said
	Err        error         // the cause, for the log; may be nil
}

// Error implements error. The zero TokenError says that there is no refresh token.
func (e *TokenError) Error() string {
	var parts []string
	if len(e.Missing) > 0 {
		parts = append(parts, "not granted: "+strings.Join(e.Missing, " "))
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	} else if e.Code != "" {
		parts = append(parts, "the provider refused "+e.Code)
	}
	if e.RetryAfter > 0 {
		parts = append(parts, "try again in "+e.RetryAfter.Round(time.Second).String())
	}
	if len(parts) == 0 {
		return "there is no refresh token"
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns the cause.
func (e *TokenError) Unwrap() error { return e.Err }
