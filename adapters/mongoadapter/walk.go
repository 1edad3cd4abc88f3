package mongoadapter

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkeyhq/latchkey/storage"
)

// accountPage is how many accounts are read at once.
const accountPage = 100

// EachAccount implements [storage.AccountWalker]. It reads 100 accounts at a time, in the
// order of their ids, and leaves out those of deleted users.
func (a *Adapter) EachAccount(ctx context.Context, f func(storage.Account) error) error {
	filter := bson.D{}
	for {
		page, err := accountsIn(ctx, a.accounts, filter)
		if err != nil {
			return fail(ctx, "each account", err)
		}
		alive, err := a.users.among(ctx, page)
		if err != nil {
			return fail(ctx, "each account", err)
		}
		for i := range page {
			if !alive[page[i].UserID] {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f(page[i].account()); err != nil {
				return err
			}
		}
		if len(page) < accountPage {
			return ctx.Err()
		}
		filter = bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: page[len(page)-1].ID}}}}
	}
}

// accountsIn returns the first accountPage accounts that filter names, in the order of
// their ids.
func accountsIn(ctx context.Context, c *collection, filter bson.D) (page []accountDoc, err error) {
	o := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(accountPage)
	found, err := c.Find(ctx, filter, o)
	if err != nil {
		return nil, err
	}
	err = found.All(ctx, &page)
	return page, err
}

// among returns which of the users of the accounts exist and are not leaving.
func (s *owners) among(ctx context.Context, accounts []accountDoc) (map[bson.ObjectID]bool, error) {
	ids := make(bson.A, len(accounts))
	for i := range accounts {
		ids[i] = accounts[i].UserID
	}
	filter := append(amongIDs(ids), bson.E{Key: "latchkeyLeaving", Value: bson.D{{Key: "$exists", Value: false}}})
	found, err := idsOf(ctx, s.docs, filter, 0)
	alive := map[bson.ObjectID]bool{}
	for _, id := range found {
		if id, is := id.(bson.ObjectID); is {
			alive[id] = true
		}
	}
	return alive, err
}
