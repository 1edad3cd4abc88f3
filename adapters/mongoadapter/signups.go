package mongoadapter

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkeyhq/latchkey/storage"
)

// signUpDoc is a sign-up that was begun; its id is made of the account.
type signUpDoc struct {
	ID     string        `bson:"_id"`
	UserID bson.ObjectID `bson:"userId"`
	Begun  time.Time     `bson:"begun"`
}

// BeginSignUp implements [storage.SignUpAdapter]. It returns the id of the first call for the
// account, as an ObjectID in hexadecimal. A record lasts 30 days at least.
func (a *Adapter) BeginSignUp(ctx context.Context, provider, providerAccountID, userID string) (string, error) {
	d := signUpDoc{ID: keyOf(provider, providerAccountID), UserID: objectID(userID), Begun: time.Now()}
	for range tries {
		err := a.signUps.add(ctx, d)
		if err == nil {
			return d.UserID.Hex(), nil
		}
		var first signUpDoc
		if errors.Is(err, storage.ErrConflict) {
			err = find(ctx, a.signUps, bson.D{{Key: "_id", Value: d.ID}}, &first)
		}
		switch {
		case err == nil:
			return first.UserID.Hex(), nil
		case !errors.Is(err, storage.ErrNotFound): // else it has ended since
			return "", fail(ctx, "begin sign-up", err)
		}
	}
	return "", fail(ctx, "begin sign-up", storage.ErrConflict)
}

// EndSignUp implements [storage.SignUpAdapter]. It returns nil if there is no record.
func (a *Adapter) EndSignUp(ctx context.Context, provider, providerAccountID string) error {
	_, err := a.signUps.DeleteOne(ctx, bson.D{{Key: "_id", Value: keyOf(provider, providerAccountID)}})
	return fail(ctx, "end sign-up", err)
}
