package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey/storage"
)

// fault is a kind of database error that a store handles.
type fault int

const (
	other     fault = iota
	unique          // a unique key is taken
	orphan          // the row that is referred to does not exist
	malformed       // the text is no value of the column's type, so no row has it
	absent          // there is no such table or column
	locked          // SQLite: another connection is writing
	conflict        // a deadlock or serialization failure: the transaction may be retried
	unfit           // the connection leads to a server that does not serve: a former primary, one that ends, a node outside of its cluster
)

// Codes are, by dialect in turn: SQLSTATE, MySQL's error numbers, SQLite's
// extended codes.
var (
	sqlStates = map[string]fault{
		"23505": unique, "23503": orphan, "42P01": absent, "42703": absent, "40P01": conflict, "40001": conflict,
		"25006": unfit, "57P01": unfit, "57P02": unfit, "57P03": unfit,
		"22P02": malformed, "22003": malformed, "22021": malformed, "22P05": malformed,
	}
	mysqlNumbers = map[int]fault{
		1062: unique, 1586: unique, 1452: orphan, 1216: orphan, 1146: absent, 1054: absent, 1213: conflict, 1205: conflict,
		1290: unfit, 1836: unfit, 1047: unfit,
	}
	sqliteCodes = map[int]fault{2067: unique, 1555: unique, 787: orphan, 5: locked, 6: locked, 261: locked, 262: locked, 517: locked}
	sqliteTexts = map[string]fault{
		"UNIQUE constraint failed": unique, "FOREIGN KEY constraint failed": orphan,
		"database is locked": locked, "database table is locked": locked, "no such table": absent, "no such column": absent, "has no column named": absent,
	}
)

// is reports whether a driver's error is of a kind. It works without knowing the driver.
// It returns false for nil.
func is(err error, want fault) bool {
	if err == nil {
		return false
	}
	kind, _ := diagnose(err)
	return kind == want
}

// Busy reports whether err says that another connection was writing to the file of an
// SQLite database. The statement that failed with err had no effect. Busy returns false
// for nil and for errors of other databases.
func Busy(err error) bool { return is(err, locked) }

// Unfit reports whether err says that the connection works but the server behind it
// cannot serve, such as a primary that has become a standby. Until the connection is
// closed, every caller that gets it from the pool fails. Unfit returns false for nil.
func Unfit(err error) bool { return is(err, unfit) }

// The prefixes of codes.
const (
	sqlState   = "SQLSTATE "
	mysqlError = "MySQL error "
	sqliteCode = "SQLite code "
)

// diagnose returns the kind of an error and its code for the log, such as "SQLSTATE
// 23505". For an error without a code it returns a text in place of the code. It never
// repeats the driver's text, which quotes values and connection settings. err must not be
// nil.
func diagnose(err error) (fault, string) {
	err = causeOf(err)
	if state, has := errors.AsType[interface {
		error
		SQLState() string
	}](err); has {
		return sqlStates[state.SQLState()], sqlState + state.SQLState()
	}
	if code, has := errors.AsType[interface {
		error
		Code() int
	}](err); has {
		return sqliteKind(code.Code(), err), sqliteCode + strconv.Itoa(code.Code())
	}
	if number := mysqlNumber(err); number != 0 {
		return mysqlNumbers[number], mysqlError + strconv.Itoa(number)
	}
	return sqliteKind(0, err), reason(err)
}

// causeOf returns the cause of the *failure that err is or wraps. If there is none, or it
// has no cause, causeOf returns err.
func causeOf(err error) error {
	if wrapped, has := errors.AsType[*failure](err); has && wrapped.cause != nil {
		return wrapped.cause
	}
	return err
}

// sqliteKind returns the kind of an SQLite error by its extended code or, if the code
// tells none, by its text. It returns other if neither tells one.
func sqliteKind(code int, err error) fault {
	if kind := sqliteCodes[code]; kind != other {
		return kind
	}
	message := err.Error()
	for text, kind := range sqliteTexts {
		if strings.Contains(message, text) {
			return kind
		}
	}
	return other
}

// mysqlNumber returns the number in a text such as "Error 1062 (23000): …", which errors
// of MySQL's drivers have. It looks at err and at all errors that err wraps. It returns 0
// if none has a number.
func mysqlNumber(err error) int {
	for each := range chain(err) {
		if after, found := strings.CutPrefix(each.Error(), "Error "); found {
			digits, _, _ := strings.Cut(after, " ")
			number, _ := strconv.Atoi(strings.TrimSuffix(digits, ":"))
			return number
		}
	}
	return 0
}

// reason returns a text for the log that says why an error without a code happened. The
// text repeats no value and no connection setting. For an unknown error it has the type
// alone.
func reason(err error) string {
	if misfit, is := errors.AsType[*MisfitError](err); is {
		return misfit.text()
	}
	if value, is := errors.AsType[*unfitValue](err); is {
		return value.Error()
	}
	if text := tlsReason(err); text != "" {
		return text
	}
	if network, is := errors.AsType[net.Error](err); is {
		if network.Timeout() {
			return "the database did not answer in time"
		}
		return unreached(err)
	}
	for _, plain := range []error{errUnreadable, errText, errNoLocker, errJSON, errAbsent, errID, ErrUnreadableTime, sql.ErrConnDone, sql.ErrTxDone, driver.ErrBadConn} {
		if errors.Is(err, plain) {
			return plain.Error()
		}
	}
	for each := range chain(err) {
		if _, joined := each.(interface{ Unwrap() []error }); joined { // what drivers make of several hosts
			return unreached(err)
		}
		err = each
	}
	if message := err.Error(); message == "sql: database is closed" || message == "closed pool" { // which have no names
		return "the database is closed"
	}
	return fmt.Sprintf("a %T", err)
}

// errAbsent reports a layout without a table. It is an [errors.ErrUnsupported].
var errAbsent error = unsupported{}

type unsupported struct{}

func (unsupported) Error() string        { return "the layout has no table for this" }
func (unsupported) Is(target error) bool { return target == errors.ErrUnsupported }

// failure is a database error that can be logged: its text has only the operation
// and a code. The cause is for errors.As.
type failure struct {
	operation, code string
	cause           error
}

func (f *failure) Error() string { return "sql: " + f.operation + ": " + f.code }
func (f *failure) Unwrap() error { return f.cause }

// Is reports whether target is [storage.ErrUnavailable] and the same call may succeed
// later. The library then asks the user to try again.
func (f *failure) Is(target error) bool {
	return target == storage.ErrUnavailable && f.cause != nil && passes(f.cause)
}

// fail turns an error into one that a caller of the package may see. It returns nil for
// nil. If ctx has ended, it returns a *failure that wraps the error of ctx and err,
// whatever err is. Otherwise it returns ErrNotFound or ErrConflict bare if err is one of
// them, and err itself if err is or wraps a *failure. For all other errors it returns a
// *failure with the operation, the code and, where it is known, what to do.
func fail(ctx context.Context, operation string, err error) error {
	if err == nil {
		return nil
	}
	if done := ctx.Err(); done != nil {
		return &failure{operation, done.Error(), errors.Join(done, err)}
	}
	for _, word := range []error{storage.ErrNotFound, storage.ErrConflict} {
		if errors.Is(err, word) {
			return word
		}
	}
	if _, wrapped := errors.AsType[*failure](err); wrapped {
		return err
	}
	_, code := diagnose(err)
	if cure := cureOf(code); cure != "" {
		code += ": " + cure
	} else if what := unfitText(code, causeOf(err).Error()); what != "" {
		code += ": " + what
	}
	return &failure{operation, code, err}
}
