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

// Detailed is a cause with the detail of the failure. Its text is the text of Err.
type Detailed struct {
	As  fault.Detail
	Err error
}

// Of returns the cause err as one with a detail.
func Of(d fault.Detail, err error) error { return &Detailed{d, err} }

// Detail returns the detail.
func (d *Detailed) Detail() fault.Detail { return d.As }

// Error returns the text of the cause.
func (d *Detailed) Error() string { return d.Err.Error() }

// Unwrap returns the cause.
func (d *Detailed) Unwrap() error { return d.Err }

// DetailOf returns the detail of err: that of the *fault.Error in its chain, or else
// that of the outermost error that names one. It is "" if there is none.
func DetailOf(err error) fault.Detail {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Detail != "" {
		return e.Detail
	}
	if named, ok := errors.AsType[detailed](err); ok {
		return named.Detail()
	}
	return ""
}
