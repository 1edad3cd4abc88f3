package sqlstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/latchkeyhq/latchkey"
)

// userRow is where a row of users is read to.
type userRow struct {
	user     latchkey.User
	verified instant
	extra    string
}

func (r *userRow) dest() []any {
	return []any{&r.user.ID, &r.user.Name, &r.user.Email, &r.verified, &r.user.Image, &r.extra}
}

func (r *userRow) read() (latchkey.User, error) {
	r.user.EmailVerified = r.verified.Time
	return r.user, fromJSON(r.extra, &r.user.Extra)
}

// CreateUser implements [latchkey.Adapter].
func (s *Store) CreateUser(ctx context.Context, u latchkey.User) (latchkey.User, error) {
	u, err := s.createUser(ctx, u)
	return u, fail(ctx, "create user", err)
}

func (s *Store) insertUser(ctx context.Context, u latchkey.User) (latchkey.User, error) {
	extra, err := toJSON(u.Extra)
	if err != nil {
		return latchkey.User{}, err
	}
	if s.ownIDs {
		u.ID = s.newID(u.ID)
	}
	row := []any{u.ID, null(u.Name), null(u.Email), s.arg(u.EmailVerified), null(u.Image), extra}
	insert := func(s *Store) error { return s.addUser(ctx, row, &u.ID) }
	if u.Email == "" {
		err = insert(s)
	} else {
		err = s.claim(ctx, insert, claimed("users.email", u.Email), s.q.userByEmail, u.Email)
	}
	if err != nil {
		return latchkey.User{}, err
	}
	stored := userRow{user: latchkey.User{ID: u.ID, Name: u.Name, Email: u.Email, Image: u.Image}}
	stored.verified.Time = s.kept(u.EmailVerified)
	if text, kept := extra.(string); kept && s.has("users.extra") {
		stored.extra = text
	}
	return stored.read()
}

// addUser is add, but that the database may choose the id.
func (s *Store) addUser(ctx context.Context, row []any, id *string) error {
	if s.ownIDs {
		err := s.add(ctx, s.q.insertUser, row...)
		if errors.Is(err, latchkey.ErrNotFound) { // a user refers to nobody
			return errID
		}
		return err
	}
	if s.dialect == MySQL { // which makes numbers, and says so only afterwards
		return s.tx(ctx, func(tx *Store) error {
			if err := tx.add(ctx, tx.q.insertUser, row...); err != nil {
				return err
			}
			return tx.conn.One(ctx, "SELECT LAST_INSERT_ID()", nil, id)
		})
	}
	if err := s.fits(ctx, s.q.insertUser, row); err != nil {
		return err
	}
	err := s.conn.One(ctx, s.q.insertUser.sql+" RETURNING "+s.readID("users.id"), s.args(s.q.insertUser, row), id)
	if errors.Is(err, latchkey.ErrNotFound) || is(err, unique) {
		return latchkey.ErrConflict
	}
	return err
}

// GetUser implements [latchkey.Adapter].
func (s *Store) GetUser(ctx context.Context, id string) (latchkey.User, error) {
	if !s.findableID(id) {
		return latchkey.User{}, latchkey.ErrNotFound
	}
	u, err := s.findUser(ctx, s.q.userByID, id)
	return u, fail(ctx, "get user", err)
}

// GetUserByEmail implements [latchkey.Adapter].
func (s *Store) GetUserByEmail(ctx context.Context, email string) (latchkey.User, error) {
	if email == "" { // others may have stored an empty text instead of null
		return latchkey.User{}, latchkey.ErrNotFound
	}
	u, err := s.findUser(ctx, s.q.userByEmail, email)
	return u, fail(ctx, "get user by email", err)
}

// GetUserByAccount implements [latchkey.Adapter].
func (s *Store) GetUserByAccount(ctx context.Context, provider, providerAccountID string) (latchkey.User, error) {
	u, err := s.findUser(ctx, s.q.userByAccount, provider, providerAccountID)
	return u, fail(ctx, "get user by account", err)
}

func (s *Store) findUser(ctx context.Context, statement string, key ...string) (latchkey.User, error) {
	var row userRow
	if err := s.find(ctx, statement, key, s.into("users", row.dest())...); err != nil {
		return latchkey.User{}, err
	}
	return row.read()
}

// find reads one row by texts that anybody may have made up.
func (s *Store) find(ctx context.Context, statement string, key []string, dest ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !findable(key...) {
		return latchkey.ErrNotFound
	}
	args := make([]any, len(key))
	for i, text := range key {
		args[i] = text
	}
	return s.byID(ctx, func(s *Store) error { return s.conn.One(ctx, statement, args, dest...) })
}

// byID runs a statement that compares an id. Text that is no value of the id's
// type in the database is nobody's id.
func (s *Store) byID(ctx context.Context, f func(*Store) error) (err error) {
	if s.ownIDs && !s.uuids {
		err = f(s)
	} else {
		err = s.guarded(ctx, f)
	}
	if is(err, malformed) {
		return latchkey.ErrNotFound
	}
	return err
}

// UpdateUser implements [latchkey.Adapter].
func (s *Store) UpdateUser(ctx context.Context, id string, c latchkey.UserChange) (latchkey.User, error) {
	u, err := s.changeUser(ctx, id, c)
	return u, fail(ctx, "update user", err)
}

func (s *Store) changeUser(ctx context.Context, id string, c latchkey.UserChange) (u latchkey.User, err error) {
	if err := ctx.Err(); err != nil {
		return u, err
	}
	if !s.findableID(id) {
		return u, latchkey.ErrNotFound
	}
	args, err := s.changes(ctx, c)
	if err != nil {
		return u, err
	}
	args = append(s.touches("users"), args...)
	change := func(s *Store) error { u, err = s.change(ctx, id, append(args, id)); return err }
	return u, s.byID(ctx, func(s *Store) error {
		if c.Email == nil || *c.Email == "" {
			return change(s)
		}
		return s.claimEmail(ctx, *c.Email, id, change)
	})
}

// changes are the arguments of an update: for each column whether it changes,
// and to what.
func (s *Store) changes(ctx context.Context, c latchkey.UserChange) (args []any, err error) {
	for i, to := range []*string{c.Name, c.Email, nil, c.Image} {
		if i == 2 {
			args = append(args, c.EmailVerified != nil, nil)
			if c.EmailVerified != nil {
				args[len(args)-1] = s.arg(*c.EmailVerified)
			}
			continue
		}
		args = append(args, to != nil, nil)
		if to == nil {
			continue
		}
		args[len(args)-1] = null(*to)
		if err := s.fitsColumn(ctx, "users", []string{"name", "email", "", "image"}[i], null(*to)); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// change runs the update and reads what became of the user.
func (s *Store) change(ctx context.Context, id string, args []any) (latchkey.User, error) {
	var row userRow
	err := s.guarded(ctx, func(s *Store) error {
		if s.dialect.returning() {
			return s.conn.One(ctx, s.q.updateUser+" RETURNING "+s.read("users", ""), args, s.into("users", row.dest())...)
		}
		n, err := s.conn.Exec(ctx, s.q.updateUser, args...)
		if err != nil {
			return err
		}
		if err := s.conn.One(ctx, s.q.userByID, []any{id}, s.into("users", row.dest())...); err != nil || n > 0 {
			return err
		}
		return s.mark(ctx, id)
	})
	if is(err, unique) {
		err = latchkey.ErrConflict
	}
	if err != nil {
		return latchkey.User{}, err
	}
	return row.read()
}

// mark writes a row for a user that a transaction locks without a change. The
// nodes of a Galera cluster know no locks of each other's: of two transactions
// they give up the later only where both have written the same row.
func (s *Store) mark(ctx context.Context, id string) error {
	if !s.bound || !s.has("used_values") {
		return nil
	}
	_, err := s.conn.Exec(ctx, s.q.mark, storedKey("user "+id))
	if is(err, absent) { // tables of an earlier version
		return nil
	}
	return err
}

// claimEmail is claim, but one's own e-mail address is not taken.
func (s *Store) claimEmail(ctx context.Context, email, id string, f func(*Store) error) error {
	others := s.sql(`SELECT 1 FROM {users} WHERE {users.email} = ? AND {users.id} <> ?`)
	return s.claim(ctx, f, claimed("users.email", email), others, email, id)
}

// DeleteUser implements [latchkey.UserDeletionAdapter]. What belongs to the
// user goes too, whether or not the database sees to that.
func (s *Store) DeleteUser(ctx context.Context, id string) (latchkey.User, error) {
	u, err := s.removeUser(ctx, id)
	return u, fail(ctx, "delete user", err)
}

func (s *Store) removeUser(ctx context.Context, id string) (u latchkey.User, err error) {
	if err := ctx.Err(); err != nil {
		return u, err
	}
	if !s.findableID(id) {
		return u, latchkey.ErrNotFound
	}
	return u, s.byID(ctx, func(s *Store) error {
		return s.tx(ctx, func(tx *Store) error {
			var row userRow
			if err := tx.conn.One(ctx, tx.q.holdUser, []any{id}, s.into("users", row.dest())...); err != nil {
				return err
			}
			if err := tx.deleteBelongings(ctx, id); err != nil { // first: the tables of others may ask for it
				return err
			}
			if _, err := tx.conn.Exec(ctx, tx.q.deleteUser, id); err != nil {
				return err
			}
			u, err = row.read()
			return err
		})
	})
}

func (s *Store) deleteBelongings(ctx context.Context, id string) error {
	for _, statement := range []string{s.q.deleteSessions, s.q.deleteAccountsOf} {
		if _, err := s.conn.Exec(ctx, statement, id); err != nil {
			return err
		}
	}
	if !s.has("authenticators") {
		return nil
	}
	err := s.guarded(ctx, func(s *Store) error {
		_, err := s.conn.Exec(ctx, s.q.deleteAuthenticatorsOf, id)
		return err
	})
	if is(err, absent) { // an Auth.js that never had passkeys
		return nil
	}
	return err
}

// null is v, or null for an empty text and for false.
func null[T string | bool](v T) any {
	var none T
	if v == none {
		return nil
	}
	return v
}

// errID says nothing of the id, which may be an account's.
var errID = errors.New("the database takes no such id: is its column of another type?")

var errJSON = errors.New("a member is no JSON")

// toJSON is null for nothing.
func toJSON[T map[string]any | []map[string]any](v T) (any, error) {
	if len(v) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, errJSON // the cause may quote a value
	}
	return string(raw), nil
}

func fromJSON(text string, to any) error {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber() // a float64 would round large ids
	if d.Decode(to) != nil {
		return errJSON
	}
	return nil
}
