package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/latchkeyhq/latchkey/storage"
)

// CreateUser implements [storage.Adapter]. It returns ErrConflict if the e-mail address
// or the id is taken. It replaces an id that the layout does not take, and always with
// DatabaseIDs. It calls the function of [Store.OnNewUser] in the same transaction.
func (s *Store) CreateUser(ctx context.Context, u storage.User) (storage.User, error) {
	u, err := s.users.create(ctx, u)
	return u, fail(ctx, "create user", err)
}

// GetUser implements [storage.Adapter]. It returns ErrNotFound for an unknown id, also
// for a text that can be no id. The user has the suspension, if there is one.
func (s *Store) GetUser(ctx context.Context, id string) (storage.User, error) {
	if !s.db.findableID(id) {
		return storage.User{}, storage.ErrNotFound
	}
	u, err := s.users.find(ctx, s.db.q.userByID, id)
	return u, fail(ctx, "get user", err)
}

// GetUserByEmail implements [storage.Adapter]. It returns ErrNotFound for an unknown and
// for an empty address. The user has the suspension, if there is one.
func (s *Store) GetUserByEmail(ctx context.Context, email string) (storage.User, error) {
	if email == "" { // other programs may have stored an empty text instead of null
		return storage.User{}, storage.ErrNotFound
	}
	u, err := s.users.find(ctx, s.db.q.userByEmail, email)
	return u, fail(ctx, "get user by email", err)
}

// GetUserByAccount implements [storage.Adapter]. It returns ErrNotFound for an unknown
// account. The user has the suspension, if there is one.
func (s *Store) GetUserByAccount(ctx context.Context, provider, providerAccountID string) (storage.User, error) {
	u, err := s.users.find(ctx, s.db.q.userByAccount, provider, providerAccountID)
	return u, fail(ctx, "get user by account", err)
}

// UpdateUser implements [storage.Adapter]. It returns the user without the suspension. It
// returns ErrNotFound for an unknown user, and ErrConflict if the e-mail address is
// another user's. Fields without a column are ignored.
func (s *Store) UpdateUser(ctx context.Context, id string, c storage.UserChange) (storage.User, error) {
	u, err := s.users.update(ctx, id, c)
	return u, fail(ctx, "update user", err)
}

// DeleteUser implements [storage.UserDeletionAdapter]. It returns the user as deleted,
// without the suspension, or ErrNotFound for an unknown user. It deletes the rows that
// the user owns by statements of its own, so that the database needs no foreign keys for
// that.
func (s *Store) DeleteUser(ctx context.Context, id string) (storage.User, error) {
	u, err := s.users.delete(ctx, id)
	return u, fail(ctx, "delete user", err)
}

// newUserFunc is called in the transaction that stores a new user.
type newUserFunc = func(ctx context.Context, tx Conn, u storage.User) error

// users stores users.
type users struct {
	db      *database
	created newUserFunc // nil: nothing is called
}

// userRow is what a row of users is read into.
type userRow struct {
	user                           storage.User
	verified, created, provisioned instant
	extra, nameKey                 string

	suspension   storage.Suspension
	since, until instant // of the suspension
}

// dest returns a destination in r for each column of users, in the order of package
// model. The caller passes the list to database.into.
func (r *userRow) dest() []any {
	return []any{&r.user.ID, &r.user.Name, &r.user.Email, &r.verified, &r.user.Image, &r.extra, &r.created, &r.nameKey, &r.provisioned}
}

// read returns the user of the row, with the suspension if there is one. It
// returns errJSON if the column extra has no JSON.
func (r *userRow) read() (storage.User, error) {
	r.user.EmailVerified, r.user.Created, r.user.Provisioned = r.verified.t, r.created.t, r.provisioned.t
	if !r.since.t.IsZero() {
		r.suspension.Since, r.suspension.Until = r.since.t, r.until.t
		r.user.Suspension = &r.suspension
	}
	return r.user, fromJSON(r.extra, &r.user.Extra)
}

// intoPerson returns the destinations in r for the columns that grammar.person selects.
func (db *database) intoPerson(r *userRow) []any {
	to := db.into("users", r.dest())
	if db.layout.has("suspensions") {
		to = append(to, &r.since, &r.until, &r.suspension.Reason, &r.suspension.By)
	}
	return to
}

// find returns the user that a statement finds by the texts of key, which may come from
// outside. The statement selects the columns of grammar.person. find returns ErrNotFound
// if there is no such user, and errors of the driver as they are.
func (s users) find(ctx context.Context, statement string, key ...string) (storage.User, error) {
	var row userRow
	if err := s.db.find(ctx, statement, key, s.db.intoPerson(&row)...); err != nil {
		return storage.User{}, err
	}
	return row.read()
}

// create stores a user, calls s.created in the same transaction unless that is nil, and
// returns the user as stored. An error of s.created rolls the transaction back, and is
// returned as refusal returns it. Other errors are those of insert.
func (s users) create(ctx context.Context, u storage.User) (storage.User, error) {
	if s.created == nil {
		return s.insert(ctx, u)
	}
	var stored storage.User // u stays as it came: the transaction may be run again
	err := s.db.tx(ctx, func(tx *database) (err error) {
		if stored, err = (users{db: tx}).insert(ctx, u); err != nil {
			return err
		}
		if err := s.created(ctx, bare(tx.conn), stored); err != nil {
			return refusal(err)
		}
		return nil
	})
	if err != nil {
		return storage.User{}, err
	}
	return stored, nil
}

// refusal returns a *failure with the text of err, an error of the function of OnNewUser.
// It wraps err, unless err is an ErrConflict or ErrNotFound: these would tell the caller
// of CreateUser something wrong about the user.
func refusal(err error) error {
	if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrNotFound) {
		return &failure{"create user", fmt.Sprintf("NewUser: %v", err), nil}
	}
	return &failure{"create user", fmt.Sprintf("NewUser: %v", err), err}
}

// insert adds a user and returns the user as a later read would. It makes the id unless
// the layout takes the given one. It returns ErrConflict if the e-mail address or the id
// is taken, and errJSON if Extra cannot be encoded.
func (s users) insert(ctx context.Context, u storage.User) (storage.User, error) {
	extra, err := toJSON(u.Extra)
	if err != nil {
		return storage.User{}, err
	}
	l := s.db.layout
	if l.ownIDs {
		u.ID = l.newID(u.ID)
	}
	row := []any{u.ID, null(u.Name), null(u.Email), l.arg(u.EmailVerified), null(u.Image), extra, l.arg(u.Created), nameKey(u.Name), l.arg(u.Provisioned)}
	insert := func(db *database) error { return (users{db: db}).insertRow(ctx, row, &u.ID) }
	if u.Email == "" {
		err = insert(s.db)
	} else {
		err = s.db.claim(ctx, insert, claimed("users.email", u.Email), s.db.q.userByEmail, u.Email)
	}
	if err != nil {
		return storage.User{}, err
	}
	stored := userRow{user: storage.User{ID: u.ID, Name: u.Name, Email: u.Email, Image: u.Image}}
	stored.verified.t = l.kept(u.EmailVerified)
	if l.has("users.created") {
		stored.created.t = l.kept(u.Created)
	}
	if l.has("users.provisioned") {
		stored.provisioned.t = l.kept(u.Provisioned)
	}
	if text, kept := extra.(string); kept && l.has("users.extra") {
		stored.extra = text
	}
	return stored.read()
}

// errID does not repeat the id, which may be an account's.
var errID = errors.New("the database takes no such id: is its column of another type?")

// insertRow adds a row to the table of users. If the database makes the ids, it sets *id.
// It returns ErrConflict if a unique key is taken, and errID for an id of another type
// than the column's.
func (s users) insertRow(ctx context.Context, row []any, id *string) error {
	in, l := s.db.q.insertUser, s.db.layout
	if l.ownIDs {
		err := s.db.add(ctx, in, row...)
		if errors.Is(err, storage.ErrNotFound) { // a user refers to no other
			return errID
		}
		return err
	}
	if l.dialect == MySQL { // which makes numbers, and tells them only afterwards
		return s.db.tx(ctx, func(tx *database) error {
			if err := tx.add(ctx, in, row...); err != nil {
				return err
			}
			return tx.conn.One(ctx, "SELECT LAST_INSERT_ID()", nil, id)
		})
	}
	if err := s.db.fits(ctx, in, row); err != nil {
		return err
	}
	err := s.db.conn.One(ctx, in.sql+" RETURNING "+l.readID("users.id"), l.args(in, row), id)
	if errors.Is(err, storage.ErrNotFound) || is(err, unique) {
		return storage.ErrConflict
	}
	return err
}

// nameKey returns the folded form of a name, a string that searches compare. It returns
// nil for a name with an empty folded form, and for one that the database cannot hold.
func nameKey(name string) any {
	if !findable(name) { // the name is refused, too
		return nil
	}
	return null(storage.FoldName(name))
}
