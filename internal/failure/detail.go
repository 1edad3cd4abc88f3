package failure

import (
	"errors"

	"github.com/latchkeyhq/latchkey/fault"
)

// detailed is an error that names its detail.
type detailed interface {
	error
	Detail() fault.Detail
}

// Detailed is an error that wraps Err and has the detail As. Its text is the text of Err.
type Detailed struct {
	As  fault.Detail
	Err error
}

// Of returns an error that wraps err, has its text and names the detail d. err must not
// be nil.
func Of(d fault.Detail, err error) error { return &Detailed{d, err} }

// Detail returns the detail.
func (d *Detailed) Detail() fault.Detail { return d.As }

// Error returns the text of the cause.
func (d *Detailed) Error() string { return d.Err.Error() }

// Unwrap returns the cause.
func (d *Detailed) Unwrap() error { return d.Err }

// DetailOf returns the detail of err. It is the Detail of the first *fault.Error in the
// chain of err. If there is none, or its Detail is empty, it is the detail of the first
// error in the chain with a method Detail. DetailOf returns "" if neither names one, and
// for a nil err.
func DetailOf(err error) fault.Detail {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Detail != "" {
		return e.Detail
	}
	if named, ok := errors.AsType[detailed](err); ok {
		return named.Detail()
	}
	return ""
}
