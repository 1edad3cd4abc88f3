package storage

import "errors"

// The errors by which a store tells the library what happened. An adapter returns
// them as they are or wraps them.
var (
	// ErrNotFound reports that there is no such record.
	ErrNotFound = errors.New("latchkey: not found")
	// ErrConflict reports that a unique key is taken, or that a concurrent
	// transaction has changed the same rows. The call has changed nothing.
	ErrConflict = errors.New("latchkey: conflict")
	// ErrUnavailable reports that the store cannot answer for now: it is starting,
	// accepts no more connections, or has lost its leader. The end of a context,
	// the errors of package net and io.EOF need no wrapping: they say the same.
	ErrUnavailable = errors.New("latchkey: the store does not answer for now")
	// ErrSchema reports that tables or columns are missing or do not fit. A migration
	// makes them.
	ErrSchema = errors.New("latchkey: the tables are not those that the store needs")
	// ErrUnfinished reports that a sweep has used up its time and left expired rows.
	// What it has removed is counted, and another call goes on.
	ErrUnfinished = errors.New("latchkey: not finished: expired rows are left for another call")
)
