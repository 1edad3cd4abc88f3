package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"strconv"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	_ "modernc.org/sqlite"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/examples/ent/ent"
)

// tables are those that the program has no models for.
//
//go:embed tables.sql
var tables string

func open(file string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+file+"?_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_txlock=immediate")
}

// newStore keeps users in the table of the model, and calls made for each new one,
// in the same transaction. Tokens of sessions are hashed, since no other program reads
// them.
func newStore(ctx context.Context, db *sql.DB, made func(context.Context, *ent.Client, int) error) (*sqladapter.Adapter, error) {
	if err := ent.NewClient(ent.Driver(entsql.OpenDB(dialect.SQLite, db))).Schema.Create(ctx); err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, tables); err != nil {
		return nil, err
	}
	found, err := sqladapter.Detect(ctx, db, sqladapter.SQLite)
	if err != nil {
		return nil, err
	}
	if !found.Usable() {
		return nil, errors.Join(errors.New("the models do not fit"), sqladapter.Check(ctx, db, sqladapter.SQLite, sqladapter.Options{}))
	}
	found.Layout.PlainTokens = false
	return sqladapter.New(db, sqladapter.SQLite, sqladapter.Options{
		Layout: found.Layout,
		NewUser: func(ctx context.Context, tx sqladapter.Runner, u latchkey.User) error {
			id, err := strconv.Atoi(u.ID)
			if err != nil {
				return err
			}
			return made(ctx, clientIn(tx), id)
		},
	})
}

// welcome gives a new user a place.
func welcome(ctx context.Context, tx *ent.Client, id int) error {
	return tx.Membership.Create().SetUserID(id).SetTeam("newcomers").Exec(ctx)
}

// invite makes a user and changes the model of it in one transaction.
func invite(ctx context.Context, db *sql.DB, store *sqladapter.Adapter, email, plan string) (u latchkey.User, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return u, err
	}
	defer func() { _ = tx.Rollback() }() // nothing to do after the commit
	if u, err = store.Bind(tx).CreateUser(ctx, latchkey.User{Email: email}); err != nil {
		return u, err
	}
	id, err := strconv.Atoi(u.ID)
	if err != nil {
		return u, err
	}
	if err := clientIn(tx).User.UpdateOneID(id).SetPlan(plan).Exec(ctx); err != nil {
		return u, err
	}
	return u, tx.Commit()
}

// clientIn is Ent in a transaction that it did not begin.
func clientIn(tx sqladapter.Runner) *ent.Client {
	return ent.NewClient(ent.Driver(within{entsql.NewDriver(dialect.SQLite, entsql.Conn{ExecQuerier: tx})}))
}

// within ends nothing: transactions that Ent begins are part of the one it is in.
type within struct{ *entsql.Driver }

// Tx implements dialect.Driver.
func (w within) Tx(context.Context) (dialect.Tx, error) { return dialect.NopTx(w), nil }
