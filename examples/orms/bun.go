package main

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
)

// newBunStore is newGormStore with Bun, on the same tables.
func newBunStore(ctx context.Context, db *bun.DB, join func(*Membership) error) (*sqladapter.Adapter, error) {
	return newStore(ctx, db.DB, func(ctx context.Context, tx sqladapter.Runner, u latchkey.User) error {
		m, err := membership(u, join)
		if err != nil {
			return err
		}
		_, err = db.NewInsert().Conn(tx).Model(m).Exec(ctx)
		return err
	})
}

// inviteByBun makes a user in a transaction of Bun's.
func inviteByBun(ctx context.Context, db *bun.DB, store *sqladapter.Adapter, email, plan string) (u latchkey.User, err error) {
	return u, db.RunInTx(ctx, &sql.TxOptions{}, func(ctx context.Context, tx bun.Tx) error {
		if u, err = store.Bind(tx.Tx).CreateUser(ctx, latchkey.User{Email: email}); err != nil {
			return err
		}
		_, err := tx.NewUpdate().Model((*User)(nil)).Set("plan = ?", plan).Where("id = ?", u.ID).Exec(ctx)
		return err
	})
}
