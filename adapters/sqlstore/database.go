package sqlstore

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/storage"
)

// database runs the statements of one layout, in a database or in one transaction
// of it. It turns the errors that mean something to a store into those of package
// storage.
type database struct {
	conn      Conn
	layout    grammar
	q         *queries
	inspector *inspector
	repeated  *repeatedArgs // nil: no statement takes an argument twice
	unindexed bool          // unique indexes may be missing
	bound     bool          // conn is a transaction
}

// newDatabase returns the database behind conn, which is no transaction. It sends nothing
// to the database. Its Conn retries deadlocks and serialization failures, and compares
// the tables with the layout before the first statement.
func newDatabase(conn Conn, l grammar, unindexed bool) *database {
	db := &database{layout: l, q: l.queries(), unindexed: unindexed, inspector: &inspector{layout: l, unindexed: unindexed}}
	if l.exact {
		db.repeated = &repeatedArgs{}
	}
	db.conn = db.repeating(&inspectedConn{
		Conn:    retryConn{conn},
		inspect: func(ctx context.Context, all bool) error { return db.inspector.inspect(ctx, conn, all) },
	})
	return db
}

// in returns a copy of db that runs its statements in the transaction tx. The copy does
// not retry, and sends statements without comparing the tables first.
func (db *database) in(tx Conn) *database {
	in := *db
	in.conn, in.bound = db.repeating(tx), true
	return &in
}

// tx calls f with a copy of db that is bound to a new transaction, or to a savepoint if db is
// bound already. If f returns an error, all that f did is rolled back, and tx returns the
// error. If tx began a transaction, it may call f again after a deadlock or a serialization
// failure.
func (db *database) tx(ctx context.Context, f func(*database) error) error {
	return db.conn.Tx(ctx, func(c Conn) error { return f(db.in(c)) })
}

// guarded calls f so that a transaction can go on after a statement of f has failed, and
// returns the error of f. PostgreSQL refuses every statement after a failed one, unless
// the failed one had a savepoint. f must use the database that it gets.
func (db *database) guarded(ctx context.Context, f func(*database) error) error {
	if db.bound && db.layout.dialect == Postgres {
		return db.tx(ctx, f)
	}
	return f(db)
}

// byID calls f, which compares an id with a text. Where ids may be of another type than text,
// it calls f by guarded, so that a transaction can go on after an error. If the database says
// that the text is no value of the type, byID returns ErrNotFound, and otherwise the error of
// f. f must use the database that it gets.
func (db *database) byID(ctx context.Context, f func(*database) error) (err error) {
	if db.layout.ownIDs && !db.layout.uuids {
		err = f(db)
	} else {
		err = db.guarded(ctx, f)
	}
	if is(err, malformed) {
		return storage.ErrNotFound
	}
	return err
}

// find runs a statement with the arguments key and reads one row into dest. The texts of
// key may come from outside, such as from a request. find returns ErrNotFound if there is
// no row, or if the database cannot hold a text of key or compare it. It returns errors
// of the driver as they are.
func (db *database) find(ctx context.Context, statement string, key []string, dest ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !findable(key...) {
		return storage.ErrNotFound
	}
	args := make([]any, len(key))
	for i, text := range key {
		args[i] = text
	}
	return db.byID(ctx, func(db *database) error { return db.conn.One(ctx, statement, args, dest...) })
}

// each calls row for each row that the statement finds for a user. The id is its only
// argument. An id that no user can have has no rows, and is no error. An error of row
// ends it and is returned.
func (db *database) each(ctx context.Context, statement, userID string, row func(scan func(...any) error) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !db.findableID(userID) {
		return nil
	}
	err := db.byID(ctx, func(db *database) error { return db.conn.Each(ctx, statement, []any{userID}, row) })
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// into returns the destinations of row for the columns that the layout has. row has a
// destination for each column of the table, in the order of package model. into
// overwrites row, and sets the form in which each instant is read.
func (db *database) into(table string, row []any) []any {
	places := row[:0]
	for i, present := range db.q.present[table] {
		if at, is := row[i].(*instant); is {
			at.of = db.q.forms[table]
		}
		if present {
			places = append(places, row[i])
		}
	}
	return places
}

// add inserts a row, which has a value for each column of the table. It returns
// [storage.ErrConflict] if a unique key refuses the row. It returns [storage.ErrNotFound]
// if a foreign key refuses the row because its user does not exist, or if an id is of
// another type than its column. It returns an *unfitValue or errText for a value that a
// column does not take.
func (db *database) add(ctx context.Context, in insert, row ...any) error {
	if err := db.fits(ctx, in, row); err != nil {
		return err
	}
	n, err := db.conn.Exec(ctx, in.sql, db.layout.args(in, row)...)
	switch {
	case err == nil && n == 0, is(err, unique):
		return storage.ErrConflict
	case is(err, orphan), is(err, malformed):
		return storage.ErrNotFound
	}
	return err
}

// take removes one row and reads it into dest. The statements read and remove both take
// key as arguments. take returns [storage.ErrNotFound] if there is no row, or if another
// caller removed it first. It needs one statement where the database can return what it
// deletes. On MySQL it reads the row and then deletes it, so that dest may lack a change
// that another caller made in between: see takeLocked. An error after the read leaves
// dest set.
func (db *database) take(ctx context.Context, table, read, remove string, key []any, dest ...any) error {
	if db.layout.dialect.returning() {
		return db.conn.One(ctx, remove+" RETURNING "+db.layout.read(table, ""), key, dest...)
	}
	if err := db.conn.One(ctx, read, key, dest...); err != nil {
		return err
	}
	n, err := db.conn.Exec(ctx, remove, key...)
	if err == nil && n == 0 {
		return storage.ErrNotFound // another caller was faster
	}
	return err
}

// affects runs a statement and reports whether it added, changed or removed a row. It
// returns false and no error if a unique key refuses the row.
func (db *database) affects(ctx context.Context, statement string, args ...any) (bool, error) {
	n, err := db.conn.Exec(ctx, statement, args...)
	if is(err, unique) {
		return false, nil
	}
	return n > 0, err
}

// needs returns errAbsent, an [errors.ErrUnsupported], if the layout lacks the
// table.
func (db *database) needs(table string) error {
	if !db.layout.has(table) {
		return errAbsent
	}
	return nil
}

// findableID reports whether all texts can be ids. On MySQL and SQLite with DatabaseIDs
// only numbers can, in their usual form: MySQL would find user 12 by "12th", and SQLite
// by "12.0". Elsewhere it does what findable does. It sends nothing to the database.
func (db *database) findableID(texts ...string) bool {
	if !findable(texts...) {
		return false
	}
	if db.layout.ownIDs || db.layout.dialect == Postgres {
		return true
	}
	for _, text := range texts {
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || strconv.FormatInt(n, 10) != text {
			return false
		}
	}
	return true
}

// findable reports whether a database can hold all the texts: they are UTF-8 without NUL.
// A database would answer with an error to any other text.
func findable(texts ...string) bool {
	for _, text := range texts {
		if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// errText does not repeat the text, which may be a token.
var errText = errors.New("a text has characters that the database cannot hold")
