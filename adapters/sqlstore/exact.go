package sqlstore

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// On MySQL the collations of other people's tables take different texts for the
// same, and one that is stored for another that is asked for. There a comparison
// is made twice: once in a way that an index helps with, once byte by byte.

// repeated marks the argument that repeats the one before it.
const repeated = "/*again*/"

// equality finds the comparisons of a condition.
var equality = regexp.MustCompile(`((?:\w+\.)?\{(\w+)\.(\w+)\}) (=|<>) \?`)

// comparedExactly makes the comparisons after WHERE exact.
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

// exactConn is a Conn for such statements.
type exactConn struct {
	Conn
	repeats *sync.Map // of each statement, the arguments that it takes twice: map[int]bool
}

// comparing gives a store's Conn the arguments that its statements take.
func (s *Store) comparing(c Conn) Conn {
	if !s.exact {
		return c
	}
	return exactConn{c, s.repeats}
}

// bare is the Conn as it was given.
func bare(c Conn) Conn {
	if e, is := c.(exactConn); is {
		return e.Conn
	}
	return c
}

// Exec implements Conn.
func (e exactConn) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	return e.Conn.Exec(ctx, statement, e.args(statement, args)...)
}

// One implements Conn.
func (e exactConn) One(ctx context.Context, statement string, args []any, dest ...any) error {
	return e.Conn.One(ctx, statement, e.args(statement, args), dest...)
}

// Each implements Conn.
func (e exactConn) Each(ctx context.Context, statement string, args []any, row func(func(...any) error) error) error {
	return e.Conn.Each(ctx, statement, e.args(statement, args), row)
}

// args repeats what is compared twice.
func (e exactConn) args(statement string, args []any) []any {
	known, has := e.repeats.Load(statement)
	if !has {
		twice := map[int]bool{}
		parts := strings.Split(statement, "?")[1:]
		n := -1
		for _, after := range parts {
			if strings.HasPrefix(after, repeated) {
				twice[n] = true
				continue
			}
			n++
		}
		known, _ = e.repeats.LoadOrStore(statement, twice)
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
