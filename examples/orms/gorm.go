package main

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"gorm.io/gorm"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
)

// The models of a program that has users already. Instants are milliseconds.
type (
	User struct {
		ID            int64
		Name, Image   *string
		Email         *string `gorm:"uniqueIndex"`
		EmailVerified *int64
		Plan          string `gorm:"not null;default:free"` // of the program's own
		UpdatedAt     int64  `gorm:"autoUpdateTime:milli;not null"`
	}
	Account struct {
		ID                                                                 int64
		UserID                                                             int64
		Type                                                               string
		Provider                                                           string `gorm:"uniqueIndex:of_provider"`
		ProviderAccountID                                                  string `gorm:"uniqueIndex:of_provider"`
		RefreshToken, AccessToken, IDToken, Scope, SessionState, TokenType *string
		ExpiresAt                                                          *int64
	}
	Session struct {
		ID           int64
		UserID       int64
		SessionToken string `gorm:"uniqueIndex"`
		Expires      int64
	}
	VerificationToken struct {
		Identifier string `gorm:"primaryKey"`
		Token      string `gorm:"primaryKey"`
		Expires    int64
	}
	Membership struct {
		UserID int64  `gorm:"primaryKey;autoIncrement:false"`
		Team   string `gorm:"not null"`
	}
)

// newGormStore keeps users in the tables of the models, and gives each new one a
// membership in the same transaction.
func newGormStore(ctx context.Context, db *gorm.DB, join func(*Membership) error) (*sqladapter.Adapter, error) {
	if err := db.AutoMigrate(&User{}, &Account{}, &Session{}, &VerificationToken{}, &Membership{}); err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	return newStore(ctx, pool, func(ctx context.Context, tx sqladapter.Runner, u latchkey.User) error {
		m, err := membership(u, join)
		if err != nil {
			return err
		}
		return gormIn(ctx, db, tx.(gorm.ConnPool)).Create(m).Error
	})
}

// newStore finds out how the tables are laid out. Tokens of sessions are hashed,
// since no other program reads them.
func newStore(ctx context.Context, db *sql.DB, newUser func(context.Context, sqladapter.Runner, latchkey.User) error) (*sqladapter.Adapter, error) {
	found, err := sqladapter.Detect(ctx, db, sqladapter.SQLite)
	if err != nil {
		return nil, err
	}
	if !found.Usable() {
		return nil, errors.Join(errors.New("the models do not fit"), sqladapter.Check(ctx, db, sqladapter.SQLite, sqladapter.Options{}))
	}
	found.Layout.PlainTokens = false
	return sqladapter.New(db, sqladapter.SQLite, sqladapter.Options{Layout: found.Layout, NewUser: newUser})
}

func membership(u latchkey.User, join func(*Membership) error) (*Membership, error) {
	id, err := strconv.ParseInt(u.ID, 10, 64)
	if err != nil {
		return nil, err
	}
	m := &Membership{UserID: id, Team: "newcomers"}
	return m, join(m)
}

// gormIn is GORM in a transaction that it did not begin.
func gormIn(ctx context.Context, db *gorm.DB, tx gorm.ConnPool) *gorm.DB {
	in := db.Session(&gorm.Session{NewDB: true, Context: ctx, SkipDefaultTransaction: true})
	in.Statement.ConnPool = tx
	return in
}

// invite makes a user in a transaction of GORM's.
func invite(ctx context.Context, db *gorm.DB, store *sqladapter.Adapter, email string, plan string) (u latchkey.User, err error) {
	return u, db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if u, err = store.Bind(tx.Statement.ConnPool.(*sql.Tx)).CreateUser(ctx, latchkey.User{Email: email}); err != nil {
			return err
		}
		return tx.Model(&User{}).Where("id = ?", u.ID).Update("plan", plan).Error
	})
}
