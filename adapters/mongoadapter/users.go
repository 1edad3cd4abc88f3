package mongoadapter

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkeyhq/latchkey/storage"
)

// userDoc is the document of a user. A user without an e-mail address has no field email: a
// unique index that counts null as a value would refuse a second such user.
type userDoc struct {
	ID            bson.ObjectID `bson:"_id"`
	Name          string        `bson:"name,omitempty"`
	Email         string        `bson:"email,omitempty"`
	EmailVerified time.Time     `bson:"emailVerified,omitempty"`
	Image         string        `bson:"image,omitempty"`
	Leaving       bool          `bson:"latchkeyLeaving,omitempty"` // DeleteUser has begun: other calls find no user
	Extra         bson.M        `bson:",inline"`
}

// userFields are the names that a member of [storage.User].Extra cannot have.
var userFields = []string{"_id", "id", "name", "email", "emailVerified", "image", "latchkeyLeaving"}

// UnmarshalBSON decodes a document, each field by its exact name. All other members go to
// Extra, even one whose name differs from that of a field in case alone.
func (d *userDoc) UnmarshalBSON(doc []byte) error {
	type plain userDoc // without this method
	strays, err := exactly(doc, userFields, (*plain)(d))
	beside(&d.Extra, strays)
	return err
}

// newUserDoc returns the document of a user. Its id is a new one if the user has none,
// and otherwise what objectID returns. newUserDoc returns errText or errValue for a user
// that cannot be stored.
func newUserDoc(u storage.User) (d userDoc, err error) {
	if !storable(u.ID, u.Name, u.Email, u.Image) {
		return d, errText
	}
	d = userDoc{ID: objectID(u.ID), Name: u.Name, Email: u.Email, EmailVerified: u.EmailVerified, Image: u.Image}
	if u.ID == "" {
		d.ID = bson.NewObjectID()
	}
	d.Extra, err = toFields(u.Extra, userFields...)
	return d, err
}

// user returns the user of the document. It returns the zero User for the zero document.
func (d *userDoc) user() storage.User {
	if d.ID.IsZero() {
		return storage.User{}
	}
	u := storage.User{ID: d.ID.Hex(), Name: d.Name, Email: d.Email, Image: d.Image, Extra: fromFields(d.Extra)}
	if !d.EmailVerified.IsZero() {
		u.EmailVerified = d.EmailVerified.UTC().Truncate(time.Millisecond)
	}
	return u
}

// CreateUser implements [storage.Adapter]. It replaces an empty ID by a new one, and an
// ID that is no ObjectID by the one that is made of it. A taken ID is ErrConflict.
func (a *Adapter) CreateUser(ctx context.Context, u storage.User) (storage.User, error) {
	d, err := newUserDoc(u)
	if err == nil {
		err = a.users.claim(ctx, d.ID, d.Email, func() error { return a.users.docs.add(ctx, d) })
	}
	if err != nil {
		return storage.User{}, fail(ctx, "create user", err)
	}
	return d.user(), nil
}

// GetUser implements [storage.Adapter].
func (a *Adapter) GetUser(ctx context.Context, id string) (storage.User, error) {
	oid, is := parseID(id)
	if !is {
		return storage.User{}, fail(ctx, "get user", storage.ErrNotFound)
	}
	u, err := a.users.find(ctx, bson.D{{Key: "_id", Value: oid}})
	return u, fail(ctx, "get user", err)
}

// GetUserByEmail implements [storage.Adapter].
func (a *Adapter) GetUserByEmail(ctx context.Context, email string) (storage.User, error) {
	if email == "" || !storable(email) {
		return storage.User{}, fail(ctx, "get user by email", storage.ErrNotFound)
	}
	u, err := a.users.find(ctx, bson.D{{Key: "email", Value: email}})
	return u, fail(ctx, "get user by email", err)
}

// GetUserByAccount implements [storage.Adapter].
func (a *Adapter) GetUserByAccount(ctx context.Context, provider, providerAccountID string) (u storage.User, err error) {
	var d struct {
		UserID bson.ObjectID `bson:"userId"`
	}
	if !storable(provider, providerAccountID) {
		return u, fail(ctx, "get user by account", storage.ErrNotFound)
	}
	if err = find(ctx, a.accounts, accountKey(provider, providerAccountID), &d, "userId"); err == nil {
		u, err = a.users.find(ctx, bson.D{{Key: "_id", Value: d.UserID}})
	}
	return u, fail(ctx, "get user by account", err)
}

// UpdateUser implements [storage.Adapter]: an unknown user is ErrNotFound, and an e-mail
// address of another user ErrConflict. It ignores Provisioned, and writes nothing if c
// names no other field.
func (a *Adapter) UpdateUser(ctx context.Context, id string, c storage.UserChange) (storage.User, error) {
	u, err := a.changeUser(ctx, id, c)
	return u, fail(ctx, "update user", err)
}

// changeUser changes a user and returns the changed user. It returns ErrNotFound for an
// unknown user, ErrConflict if another user has the e-mail address, and errText for a
// text that is not UTF-8. If it is to change the address and the unique index on addresses
// is missing, the error wraps ErrNotMigrated.
func (a *Adapter) changeUser(ctx context.Context, id string, c storage.UserChange) (storage.User, error) {
	oid, is := parseID(id)
	if !is {
		return storage.User{}, storage.ErrNotFound
	}
	change, err := userUpdate(c)
	if err != nil {
		return storage.User{}, err
	}
	if len(change) == 0 {
		return a.users.find(ctx, byID(oid))
	}
	newEmail := "" // no address is claimed
	if c.Email != nil {
		newEmail = *c.Email
		if err := a.users.docs.requireUnique(ctx); err != nil {
			return storage.User{}, err
		}
	}
	var d userDoc
	err = a.users.claim(ctx, oid, newEmail, func() error { return a.users.docs.change(ctx, byID(oid), change, &d) })
	return d.user(), err
}

// userUpdate returns the update of a user's document, or nil if c names none of its fields.
// It returns errText for a text that is not UTF-8.
func userUpdate(c storage.UserChange) (bson.D, error) {
	var u update
	for name, text := range map[string]*string{"name": c.Name, "email": c.Email, "image": c.Image} {
		if text == nil {
			continue
		}
		if !storable(*text) {
			return nil, errText
		}
		u.set(name, *text, *text == "")
	}
	if c.EmailVerified != nil {
		u.set("emailVerified", *c.EmailVerified, c.EmailVerified.IsZero())
	}
	return u.doc(), nil
}

// update is a change of single fields of a document.
type update struct{ changed, dropped bson.D }

// set adds the change of a field to the update. The field gets value, or is removed from
// the document if isEmpty is true.
func (u *update) set(name string, value any, isEmpty bool) {
	if isEmpty {
		u.dropped = append(u.dropped, bson.E{Key: name, Value: ""})
	} else {
		u.changed = append(u.changed, bson.E{Key: name, Value: value})
	}
}

// doc returns the update as the server wants it, and nil if nothing changes.
func (u *update) doc() (doc bson.D) {
	if len(u.changed) > 0 {
		doc = append(doc, bson.E{Key: "$set", Value: u.changed})
	}
	if len(u.dropped) > 0 {
		doc = append(doc, bson.E{Key: "$unset", Value: u.dropped})
	}
	return doc
}

// DeleteUser implements [storage.UserDeletionAdapter]. From its first step on the user
// does not exist for other calls. An interrupted deletion is finished by the next
// DeleteUser, or by the next CreateUser or UpdateUser that needs the id or the e-mail
// address.
func (a *Adapter) DeleteUser(ctx context.Context, id string) (u storage.User, err error) {
	oid, is := parseID(id)
	if !is {
		return u, fail(ctx, "delete user", storage.ErrNotFound)
	}
	var d userDoc
	mark := bson.D{{Key: "$set", Value: bson.D{{Key: "latchkeyLeaving", Value: true}}}}
	if err = a.users.docs.change(ctx, bson.D{{Key: "_id", Value: oid}}, mark, &d); err == nil {
		u, err = a.users.finishDeletion(ctx, oid)
	}
	return u, fail(ctx, "delete user", err)
}
