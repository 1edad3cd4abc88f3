package sqlstore

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// On MySQL the collations of other programs' tables take different texts for the
// same, and so find another row than the one that was asked for. There a
// comparison is made twice: once in a way that an index helps with, and once byte
// by byte.

// repeated marks the argument that repeats the one before it.
const repeated = "/*again*/"

// equality finds the comparisons of a condition.
var equality = regexp.MustCompile(`((?:\w+\.)?\{(\w+)\.(\w+)\}) (=|<>) \?`)

// comparedExactly returns a statement whose comparisons (= and <>) after WHERE are made byte
// by byte. In statement, names are still in braces, such as {users.email}. It changes only
// columns that rows are found by, in tables that adapters of Auth.js have too. An = becomes
// two comparisons, and the argument of the second has the mark repeated.
func comparedExactly(statement string) string {
	changes, condition, has := strings.Cut(statement, "WHERE ")
	if !has {
		return statement
	}
	condition = equality.ReplaceAllStringFunc(condition, func(found string) string {
		m := equality.FindStringSubmatch(found)
		column, table, name, operator := m[1], m[2], m[3], m[4]
		if !model.Of(table).Shared || !isCompared(name) {
			return found
		}
		bytes := "CAST(CONVERT(" + column + " USING utf8mb4) AS BINARY) " + operator + " ?"
		if operator == "<>" {
			return bytes
		}
		return found + " AND " + bytes + repeated
	})
	return changes + "WHERE " + condition
}

// repeatedArgs remembers which arguments a statement takes twice. It is safe for
// concurrent use.
type repeatedArgs struct{ known sync.Map } // of each statement a map[int]bool

// in returns the arguments that a statement really takes: args, with each argument
// repeated that the statement takes twice. It may return args itself.
func (r *repeatedArgs) in(statement string, args []any) []any {
	known, has := r.known.Load(statement)
	if !has {
		known, _ = r.known.LoadOrStore(statement, takenTwice(statement))
	}
	twice := known.(map[int]bool)
	if len(twice) == 0 {
		return args
	}
	all := make([]any, 0, len(args)+len(twice))
	for i, arg := range args {
		all = append(all, arg)
		if twice[i] {
			all = append(all, arg)
		}
	}
	return all
}

// takenTwice returns the set of arguments that a statement takes twice, by their indexes
// in the list without repetitions.
func takenTwice(statement string) map[int]bool {
	twice := map[int]bool{}
	n := -1
	for _, after := range strings.Split(statement, "?")[1:] {
		if strings.HasPrefix(after, repeated) {
			twice[n] = true
			continue
		}
		n++
	}
	return twice
}

// repeatingConn is a Conn that repeats the arguments that a statement takes twice.
type repeatingConn struct {
	Conn
	repeated *repeatedArgs
}

// repeating returns c, wrapped so that it sends an argument twice where a statement
// compares it twice. If no statement of the layout does, it returns c as it is.
func (db *database) repeating(c Conn) Conn {
	if db.repeated == nil {
		return c
	}
	return repeatingConn{c, db.repeated}
}

// bare returns the Conn that was given to repeating, or c if c is not wrapped.
func bare(c Conn) Conn {
	if r, is := c.(repeatingConn); is {
		return r.Conn
	}
	return c
}

// Exec implements Conn. args has each argument once.
func (c repeatingConn) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	return c.Conn.Exec(ctx, statement, c.repeated.in(statement, args)...)
}

// One implements Conn. args has each argument once.
func (c repeatingConn) One(ctx context.Context, statement string, args []any, dest ...any) error {
	return c.Conn.One(ctx, statement, c.repeated.in(statement, args), dest...)
}

// Each implements Conn. args has each argument once.
func (c repeatingConn) Each(ctx context.Context, statement string, args []any, row func(func(...any) error) error) error {
	return c.Conn.Each(ctx, statement, c.repeated.in(statement, args), row)
}
