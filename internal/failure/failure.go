// Package failure makes and classifies the errors of package fault.
package failure

import (
	"errors"
	"fmt"

	"github.com/latchkeyhq/latchkey/fault"
)

// Wrap returns an error of type t with the cause err. A nil err means that there
// is no cause.
func Wrap(t fault.ErrorType, err error) error { return &fault.Error{Type: t, Err: err} }

// WrapFor returns an error of type t with the cause err, at the provider with the
// given id.
func WrapFor(t fault.ErrorType, provider string, err error) error {
	return &fault.Error{Type: t, Provider: provider, Err: err}
}

// Public returns err if it has a *fault.Error in its chain, and Whole(err) otherwise.
func Public(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return Whole(err)
}

// Whole returns err as a *fault.Error of its type. The cause is all of err, with what was
// wrapped around the typed error and what was joined with it. An error without a
// type becomes an ErrCallbackRoute.
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

// TypeOf returns the outermost ErrorType in err's chain, and ErrCallbackRoute if
// there is none.
func TypeOf(err error) fault.ErrorType {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Type
	}
	if t, ok := errors.AsType[fault.ErrorType](err); ok {
		return t
	}
	return fault.ErrCallbackRoute
}

// Ignoring returns err, or nil if err is the harmless one.
func Ignoring(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}

// Redacted is a cause that a program can recognize and that does not repeat its
// text.
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
