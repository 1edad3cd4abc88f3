package mongoadapter

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkeyhq/latchkey/storage"
)

// owners are the users, to whom documents of other collections belong. A user whose
// deletion has begun is leaving, and does not exist for callers.
type owners struct {
	docs  *collection
	owned []*collection
}

// byID returns the filter of the user with this id, unless the user is leaving.
func byID(id bson.ObjectID) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "latchkeyLeaving", Value: bson.D{{Key: "$exists", Value: false}}}}
}

// find returns the user that filter names. It returns ErrNotFound if there is
// none, or if the user is leaving.
func (s *owners) find(ctx context.Context, filter bson.D) (storage.User, error) {
	var d userDoc
	if err := find(ctx, s.docs, filter, &d); err != nil {
		return storage.User{}, err
	}
	if d.Leaving {
		return storage.User{}, storage.ErrNotFound
	}
	return d.user(), nil
}

// lives reports whether a user with this id exists and is not leaving.
func (s *owners) lives(ctx context.Context, id bson.ObjectID) (bool, error) {
	var d struct{}
	err := find(ctx, s.docs, byID(id), &d, "_id")
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// claim calls write, which gives a user the id and, unless email is empty, the e-mail
// address. It returns the error of write. If write returns ErrConflict because a leaving
// user has the id or the address, claim finishes that user's deletion and calls write
// again. It returns ErrConflict if a user who is not leaving has the id or the address.
// If claim cannot find out who has them, it returns that failure instead.
func (s *owners) claim(ctx context.Context, id bson.ObjectID, email string, write func() error) error {
	for range tries {
		err := write()
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
		if err := s.release(ctx, id, email); err != nil {
			return err
		}
	}
	return storage.ErrConflict
}

// release finishes the deletion of all leaving users that have the id or, unless it is empty,
// the e-mail address. It returns ErrConflict if a user with another id has the address and is
// not leaving. It also returns nil if no user is left: another call may have been faster.
func (s *owners) release(ctx context.Context, id bson.ObjectID, email string) error {
	held := bson.A{bson.D{{Key: "_id", Value: id}}}
	if email != "" {
		held = append(held, bson.D{{Key: "email", Value: email}})
	}
	type holder struct {
		ID      bson.ObjectID `bson:"_id"`
		Leaving bool          `bson:"latchkeyLeaving"`
	}
	holders, err := findAll[holder](ctx, s.docs, bson.D{{Key: "$or", Value: held}})
	if err != nil { // whether the key is taken for good is unknown
		return err
	}
	for _, d := range holders {
		switch {
		case !d.Leaving && d.ID != id:
			return storage.ErrConflict
		case d.Leaving:
			if _, err := s.finishDeletion(ctx, d.ID); err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
		}
	}
	return nil
}

// add adds doc, the document with the given id that belongs to owner. key is the filter
// of its unique key. If a document of a deleted user has the key, add removes that
// document first. It returns ErrConflict if a document of another or the same user has
// the key.
//
// It returns ErrNotFound if the owner is unknown or leaving. It asks for the owner only after
// it has added the document, since a concurrent deletion may have missed the document. If the
// owner is gone, it removes the document again. If it cannot ask, the document stays.
func (s *owners) add(ctx context.Context, c *collection, id, owner bson.ObjectID, key bson.D, doc any) error {
	err := c.add(ctx, doc)
	for range tries {
		if !errors.Is(err, storage.ErrConflict) {
			break
		}
		if err := s.clear(ctx, c, key); err != nil {
			return err
		}
		err = c.add(ctx, doc)
	}
	if err != nil {
		return err
	}
	lives, err := s.lives(ctx, owner)
	if err != nil || lives {
		return err
	}
	if _, err := c.DeleteOne(ctx, bson.D{{Key: "_id", Value: id}}); err != nil {
		return err
	}
	return storage.ErrNotFound
}

// clear removes the document with the given key if its user was deleted. It returns nil
// if there is no such document, and ErrConflict if the user lives.
func (s *owners) clear(ctx context.Context, c *collection, key bson.D) error {
	var held struct {
		ID     bson.ObjectID `bson:"_id"`
		UserID bson.ObjectID `bson:"userId"`
	}
	err := find(ctx, c, key, &held, "userId")
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	lives, err := s.lives(ctx, held.UserID)
	if err == nil && lives {
		err = storage.ErrConflict
	}
	if err == nil {
		_, err = c.DeleteOne(ctx, bson.D{{Key: "_id", Value: held.ID}, {Key: "userId", Value: held.UserID}})
	}
	return err
}

// checkExists returns ErrNotFound if there is no user with this id, or if the user is
// leaving.
func (s *owners) checkExists(ctx context.Context, owner bson.ObjectID) error {
	lives, err := s.lives(ctx, owner)
	if err == nil && !lives {
		err = storage.ErrNotFound
	}
	return err
}

// ownedBy returns the documents of a user in a collection, in any order. It returns none
// for a text that is no id of a user. It does not ask whether the user is leaving.
func ownedBy[T any](ctx context.Context, c *collection, userID string) ([]T, error) {
	owner, is := parseID(userID)
	if !is {
		return nil, ctx.Err()
	}
	return findAll[T](ctx, c, bson.D{{Key: "userId", Value: owner}})
}

// finishDeletion removes what belongs to a leaving user, and then the user, and returns
// the user. It returns ErrNotFound if another call has removed the user meanwhile. It
// removes only a user that is leaving.
//
// A resumed sign-up may finish the same deletion and make a user with the same id. So
// finishDeletion removes only documents that it has found before it saw that the user is
// still leaving.
func (s *owners) finishDeletion(ctx context.Context, id bson.ObjectID) (storage.User, error) {
	found := make([]bson.A, len(s.owned))
	for i, c := range s.owned {
		var err error
		if found[i], err = idsOf(ctx, c, bson.D{{Key: "userId", Value: id}}, 0); err != nil {
			return storage.User{}, err
		}
	}
	leaving := bson.D{{Key: "_id", Value: id}, {Key: "latchkeyLeaving", Value: true}}
	var d userDoc
	if err := find(ctx, s.docs, leaving, &d, "_id"); err != nil {
		return storage.User{}, err
	}
	for i, c := range s.owned {
		for some := range slices.Chunk(found[i], batch) {
			if _, err := c.DeleteMany(ctx, amongIDs(some)); err != nil {
				return storage.User{}, err
			}
		}
	}
	err := s.docs.remove(ctx, leaving, &d)
	return d.user(), err
}
