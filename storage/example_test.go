package storage_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/latchkeyhq/latchkey/storage"
)

// adapter begins an adapter for an SQL database.
type adapter struct {
	storage.Adapter // until the other five methods are written
	db              *sql.DB
}

// GetUser returns the user with the given id. NULL is read as the empty text or
// the zero time.
func (a *adapter) GetUser(ctx context.Context, id string) (storage.User, error) {
	u := storage.User{ID: id}
	var name, email, image sql.NullString
	var verified sql.NullTime
	row := a.db.QueryRowContext(ctx, `SELECT name, email, "emailVerified", image FROM users WHERE id = $1`, id)
	if err := row.Scan(&name, &email, &verified, &image); err != nil {
		return storage.User{}, translate(err)
	}
	u.Name, u.Email, u.Image = name.String, email.String, image.String
	if verified.Valid {
		u.EmailVerified = verified.Time.UTC()
	}
	return u, nil
}

// translate returns the error that tells the library what happened. Errors of the
// context and of package net stay as they are: the library knows them.
func translate(err error) error {
	var state interface{ SQLState() string }
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return storage.ErrNotFound
	case !errors.As(err, &state):
		return err
	case state.SQLState() == "23505": // unique_violation
		return storage.ErrConflict
	case state.SQLState() == "57P03": // cannot_connect_now
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return err
}

// sqlError stands for the error of a driver.
type sqlError string

func (e sqlError) Error() string    { return "SQLSTATE " + string(e) }
func (e sqlError) SQLState() string { return string(e) }

// An adapter translates the errors of its driver and returns records as they were
// stored.
func Example() {
	var _ storage.Adapter = new(adapter)
	for _, err := range []error{sql.ErrNoRows, sqlError("23505"), sqlError("57P03"), sqlError("42P01")} {
		fmt.Println(translate(err))
	}
	// Output:
	// latchkey: not found
	// latchkey: conflict
	// latchkey: the store does not answer for now: SQLSTATE 57P03
	// SQLSTATE 42P01
}
