package mongoadapter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/latchkeyhq/latchkey/storage"
)

// ErrNotMigrated is the error of additions to a collection that lacks its unique index.
// Without the index two users could have one e-mail address. [Migrate] makes it. An
// index that leaves out some of the documents, or has a collation, does not count.
var ErrNotMigrated = errors.New("a unique index is missing: was Migrate forgotten?")

// Violation is a rule that documents break. Values counts those that several documents have.
type Violation struct {
	Collection, Rule string
	Values           int
}

// ViolationError has every rule that an existing database breaks. Its text has no
// values of documents.
type ViolationError struct{ Violations []Violation }

// Error lists the rules with their collections and numbers of values.
func (e *ViolationError) Error() string {
	list := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		list[i] = fmt.Sprintf("%s: %s (%d)", v.Collection, v.Rule, v.Values)
	}
	return "mongo: documents break rules, nothing was changed: " + strings.Join(list, "; ")
}

// failure is an error that can be logged: its text has the operation and a code,
// nothing else. The cause is for errors.As.
type failure struct {
	operation, code string
	cause           error
}

func (f *failure) Error() string { return "mongo: " + f.operation + ": " + f.code }
func (f *failure) Unwrap() error { return f.cause }

// Is reports whether target is [storage.ErrUnavailable] and the error is temporary. The
// library then asks users to try again.
func (f *failure) Is(target error) bool {
	return target == storage.ErrUnavailable && (mongo.IsTimeout(f.cause) || mongo.IsNetworkError(f.cause) || isElecting(f.cause))
}

// isElecting reports whether the member that answered is not, or no longer, the primary.
func isElecting(err error) bool {
	answer, is := errors.AsType[mongo.ServerError](err)
	return is && slices.ContainsFunc(answer.ErrorCodes(), func(code int) bool { return slices.Contains(notServing, code) })
}

// notServing has the codes InterruptedAtShutdown, ShutdownInProgress, NotWritablePrimary,
// NotPrimaryNoSecondaryOk, InterruptedDueToReplStateChange, PrimarySteppedDown and
// NotPrimaryOrSecondary.
var notServing = []int{11600, 91, 10107, 13435, 11602, 189, 13436}

// fail returns what a caller may see of an error. It returns nil for nil. If ctx has
// ended, the result wraps the error of ctx, whatever the driver says. Otherwise it
// returns ErrNotFound or ErrConflict alone if err wraps one of them, and a failure that
// wraps err for any other error.
func fail(ctx context.Context, operation string, err error) error {
	if err == nil {
		return nil
	}
	if done := ctx.Err(); done != nil {
		return &failure{operation: operation, code: done.Error(), cause: errors.Join(done, err)}
	}
	for _, word := range []error{storage.ErrNotFound, storage.ErrConflict} {
		if errors.Is(err, word) {
			return word
		}
	}
	return &failure{operation: operation, code: reason(err), cause: err}
}

// reason returns the text of a failure: what went wrong. It never repeats the driver's
// own sentences, which quote values.
func reason(err error) string {
	for _, plain := range []error{errText, errValue, errBusy, ErrNotMigrated} {
		if errors.Is(err, plain) {
			return err.Error()
		}
	}
	if broken, is := errors.AsType[*ViolationError](err); is {
		return broken.Error()
	}
	if answer, is := errors.AsType[mongo.ServerError](err); is {
		if codes := answer.ErrorCodes(); len(codes) > 0 {
			return fmt.Sprintf("code %d", codes[0])
		}
	}
	switch {
	case mongo.IsTimeout(err):
		return "the database did not answer in time"
	case mongo.IsNetworkError(err):
		return "the connection broke: whether it was done is unknown"
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return fmt.Sprintf("a %T", err)
}
