package mongoadapter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Check looks whether a database has the indexes that [Migrate] makes, and changes
// nothing. A unique one that is missing is an error that wraps [ErrNotMigrated] and
// names its collection: nothing can be added there. lacking names what the adapter
// can do without: what makes it slow, and the removal of what has expired.
func Check(ctx context.Context, db *mongo.Database) (lacking []string, err error) {
	if db == nil {
		return nil, errors.New("mongoadapter: no database")
	}
	db = careful(db)
	var missing []string
	for _, u := range uniques {
		is := func(i index) bool { return i.Unique && i.fields() == strings.Join(u.fields, ",") && i.everywhere() }
		if there, err := hasIndex(ctx, db, u.collection, is); err != nil {
			return nil, fail(ctx, "check", err)
		} else if !there {
			missing = append(missing, u.collection)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("mongo: %s: %w", strings.Join(missing, ", "), ErrNotMigrated)
	}
	for _, name := range owned {
		there, err := hasIndex(ctx, db, name, func(i index) bool { return len(i.Key) > 0 && i.Key[0].Key == "userId" })
		if err != nil {
			return nil, fail(ctx, "check", err)
		}
		if !there {
			lacking = append(lacking, name+": an index on userId, so that all of it is read for one user")
		}
	}
	for _, p := range perishables {
		there, err := hasIndex(ctx, db, p.collection, func(i index) bool { return i.Expires != nil && i.fields() == p.field })
		if err != nil {
			return nil, fail(ctx, "check", err)
		}
		if !there {
			lacking = append(lacking, p.collection+": the removal of what has expired")
		}
	}
	return lacking, nil
}

func hasIndex(ctx context.Context, db *mongo.Database, collection string, is func(index) bool) (bool, error) {
	found, err := indexes(ctx, db.Collection(collection))
	return slices.ContainsFunc(found, is), err
}
