package fault

import (
	"strings"
	"time"
)

// TokenError is the cause of an [ErrReconnect], [ErrScopeMissing] or [ErrRefresh].
// Find it with [errors.AsType].
type TokenError struct {
	Code       string        // the provider's error code, such as "invalid_grant"; empty: there was no answer
	Missing    []string      // the scopes that were not granted
	RetryAfter time.Duration // when to try again; 0: not known
	Err        error         // the cause; nil: none
}

// Error implements error.
func (e *TokenError) Error() string {
	var parts []string
	if len(e.Missing) > 0 {
		parts = append(parts, "not granted: "+strings.Join(e.Missing, " "))
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	} else if e.Code != "" {
		parts = append(parts, e.Code)
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
