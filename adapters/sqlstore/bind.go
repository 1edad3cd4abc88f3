package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/latchkeyhq/latchkey"
)

// What a store and the application do in one transaction.

// Bind returns the store in a transaction of the caller's. It commits nothing
// and rolls nothing back: its own transactions are savepoints. It is good until
// the transaction ends, and for one goroutine at a time.
func (s *Store) Bind(tx Conn) *Store {
	in := *s
	in.conn, in.bound = s.comparing(tx), true
	return &in
}

// OnNewUser returns a store that calls f in the transaction that stores a new
// user. An error of f undoes it, and is what the caller of CreateUser gets. u is
// as it was stored.
func (s *Store) OnNewUser(f func(ctx context.Context, tx Conn, u latchkey.User) error) *Store {
	told := *s
	told.newUser = f
	return &told
}

// createUser stores a user, and tells the application.
func (s *Store) createUser(ctx context.Context, u latchkey.User) (latchkey.User, error) {
	if s.newUser == nil {
		return s.insertUser(ctx, u)
	}
	var stored latchkey.User // u stays as it came: the transaction may be run again
	err := s.tx(ctx, func(tx *Store) (err error) {
		if stored, err = tx.insertUser(ctx, u); err != nil {
			return err
		}
		if err := s.newUser(ctx, bare(tx.conn), stored); err != nil {
			return refusal(err)
		}
		return nil
	})
	if err != nil {
		return latchkey.User{}, err
	}
	return stored, nil
}

// refusal is an error of the application's, in its own words. A conflict of its
// own, or something it did not find, says nothing about the user.
func refusal(err error) error {
	if errors.Is(err, latchkey.ErrConflict) || errors.Is(err, latchkey.ErrNotFound) {
		return &failure{"create user", fmt.Sprintf("NewUser: %v", err), nil}
	}
	return &failure{"create user", fmt.Sprintf("NewUser: %v", err), err}
}
