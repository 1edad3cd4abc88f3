package guarded

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/health"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/redact"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// Bounds are what every call of a store is held to.
type Bounds struct {
	Timeout time.Duration
	Log     *journal.Logger // of single calls, at debug level; nil: none
	Health  *health.Board   // remembers which stores answer; nil: nothing does
	System  string          // of the database, for the tracer; empty: unknown
}

// Call runs one operation of a store, f, on the caller's goroutine. operation is the name of
// a method of the adapter, such as "CreateUser". For another store the field of the
// configuration comes first, as in "Limits.Replay: Use" (see [health.Board.OfOperation]).
//
// The context of f ends after b.Timeout, and a panic becomes an error. Call returns
// storage.ErrNotFound, storage.ErrConflict and an ErrAdapter as f does. Any other error
// becomes an ErrAdapter that names the operation and hides what URLs in the text of the
// error may carry. The result of f is returned even with an error. Call tells b.Health
// whether the store has answered, and b.Log the outcome. b must not be nil.
func Call[T any](ctx context.Context, b *Bounds, operation string, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, b.Timeout)
	defer cancel()
	ctx, step := b.Log.Begin(ctx, telemetry.OpStore, operation, b.System)
	result, err := ContainResult(func() (T, error) { return f(ctx) })
	part := b.Health.OfOperation(operation)
	switch {
	case err == nil, errors.Is(err, storage.ErrNotFound), errors.Is(err, storage.ErrConflict):
		part.Saw(true)
		step.End(err)
		return result, err
	}
	lacks := errors.Is(err, errors.ErrUnsupported)  // a table: the store has answered
	if lacks || !errors.Is(err, context.Canceled) { // which the client may have caused
		part.Saw(lacks)
	}
	step.EndWith(telemetry.OperationResult{Type: fault.ErrAdapter, Mend: !lacks}, err)
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Type == fault.ErrAdapter {
		return result, err
	}
	text := operation + ": " + redact.URLs(err.Error())
	if late := ctx.Err(); late != nil { // some drivers do not return it
		err = errors.Join(err, late)
	}
	return result, failure.Wrap(fault.ErrAdapter, &failure.Redacted{Text: text, Cause: err})
}

// Do calls an operation of a store, f, that has no result, as Call does. It returns
// storage.ErrNotFound, storage.ErrConflict and an ErrAdapter as f does. Any other error
// becomes an ErrAdapter that names the operation.
func Do(ctx context.Context, b *Bounds, operation string, f func(context.Context) error) error {
	_, err := Call(ctx, b, operation, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

// CallFor calls an operation as Call does, with the errors of Call, and checks that the
// answer belongs to the question. If fits returns false for an answer, CallFor returns a
// zero result and an ErrAdapter with the detail StoreAnswer: such an answer could sign a
// user in as another. fits is called only if f has returned no error.
func CallFor[T any](ctx context.Context, b *Bounds, operation string, fits func(T) bool, f func(context.Context) (T, error)) (T, error) {
	answer, err := Call(ctx, b, operation, f)
	if err == nil && !fits(answer) {
		var none T
		return none, failure.Wrap(fault.ErrAdapter, failure.Of(fault.StoreAnswer, errors.New(operation+" answered another question than it was asked")))
	}
	return answer, err
}

// CallForList calls an operation that returns a list, as CallFor does. If fits returns
// false for one element, CallForList returns an empty list and an ErrAdapter with the
// detail StoreAnswer. The other errors are those of Call. If f fails with
// [errors.ErrUnsupported] (a table is missing), it returns the list of f and no error.
func CallForList[T any](ctx context.Context, b *Bounds, operation string, fits func(T) bool, f func(context.Context) ([]T, error)) ([]T, error) {
	list, err := CallFor(ctx, b, operation, func(list []T) bool {
		return !slices.ContainsFunc(list, func(one T) bool { return !fits(one) })
	}, f)
	return list, failure.Ignoring(err, errors.ErrUnsupported)
}

// Optional turns the result of a call into a pointer: to a copy of record if err is nil,
// and nil otherwise. It returns nil, nil for storage.ErrNotFound, and every other err as
// it is.
func Optional[T any](record T, err error) (*T, error) {
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &record, nil
}
