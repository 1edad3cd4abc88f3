// Package failure makes and classifies the errors of package fault.
package failure

import (
	"errors"
	"fmt"

	"github.com/latchkeyhq/latchkey/fault"
)

// Wrap returns a *fault.Error of type t with the cause err. The result is never nil: with
// a nil err it is an error without a cause.
func Wrap(t fault.ErrorType, err error) error { return &fault.Error{Type: t, Err: err} }

// WrapFor does what Wrap does, and names the provider with the given id in the error.
func WrapFor(t fault.ErrorType, provider string, err error) error {
	return &fault.Error{Type: t, Provider: provider, Err: err}
}

// Public returns err as it is if it has a *fault.Error in its chain, and Whole(err)
// otherwise. The result is never nil.
func Public(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return Whole(err)
}

// Whole returns err as a *fault.Error, which is never nil. If err is one itself, Whole
// returns err. If err is a bare ErrorType, Whole returns an error of that type without a
// cause. Otherwise it returns a new error with the type that TypeOf returns, and with all
// of err as its cause: what was wrapped around a typed error and what was joined with it
// stay in the text. The new error has the provider, the code, the detail and the
// reference of the first *fault.Error in the chain of err.
func Whole(err error) *fault.Error {
	if e, ok := err.(*fault.Error); ok {
		return e
	}
	if t, ok := err.(fault.ErrorType); ok {
		return &fault.Error{Type: t}
	}
	whole := &fault.Error{Type: TypeOf(err)}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		*whole = *e
	}
	whole.Err = err
	return whole
}

// IsTyped reports whether err has an ErrorType in its chain.
func IsTyped(err error) bool {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return true
	}
	_, ok := errors.AsType[fault.ErrorType](err)
	return ok
}

// TypeOf returns the type of the first *fault.Error in err's chain. If there is none, it
// returns the first bare ErrorType in the chain, or else ErrCallbackRoute, also for a nil
// err.
func TypeOf(err error) fault.ErrorType {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Type
	}
	if t, ok := errors.AsType[fault.ErrorType](err); ok {
		return t
	}
	return fault.ErrCallbackRoute
}

// Ignoring returns nil if err is harmless, as [errors.Is] reports it, and err otherwise.
func Ignoring(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}

// Redacted hides the text of a cause: errors.Is and errors.As find the cause, and Error
// returns Text.
type Redacted struct {
	Text  string // in place of the cause's own
	Cause error
}

// Error returns Text.
func (e *Redacted) Error() string { return e.Text }

// Is reports whether the cause is target.
func (e *Redacted) Is(target error) bool { return errors.Is(e.Cause, target) }

// As finds the first error in the cause's chain that matches target.
func (e *Redacted) As(target any) bool { return errors.As(e.Cause, target) }

// Mistake marks a failure that the client has caused: the operator has nothing to
// mend.
type Mistake struct{ Err error }

// Error returns the text of the cause.
func (m *Mistake) Error() string { return m.Err.Error() }

// Unwrap returns the cause.
func (m *Mistake) Unwrap() error { return m.Err }

// List gathers everything that is wrong with a configuration.
type List []error

// Add appends an error of type t with a formatted cause.
func (l *List) Add(t fault.ErrorType, format string, args ...any) {
	*l = append(*l, Wrap(t, fmt.Errorf(format, args...)))
}
