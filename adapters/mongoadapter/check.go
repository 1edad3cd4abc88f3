package mongoadapter

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Check returns nil if a database has the unique indexes that [Migrate] makes. It
// changes nothing. If some are missing, the error wraps [ErrNotMigrated] and names their
// collections; an adapter can add nothing to those. A nil db is an error, and so is a
// failure of the database. The options do not matter.
func Check(ctx context.Context, db *mongo.Database, o Options) error {
	if db == nil {
		return errNoDatabase
	}
	db = withMajority(db)
	var missing []string
	for _, u := range uniques {
		there, err := hasIndex(ctx, db, u.collection, u.isKeptBy)
		if err != nil {
			return fail(ctx, "check", err)
		}
		if !there {
			missing = append(missing, u.collection)
		}
	}
	if missing != nil {
		return fmt.Errorf("mongo: %s: %w", strings.Join(missing, ", "), ErrNotMigrated)
	}
	return nil
}

// Warnings returns what a database lacks that the adapter can do without, such as the
// removal of what has expired, which [Adapter.Sweep] does as well. It returns nil if the
// database lacks nothing. For a database that [Check] does not accept it returns the
// error of Check.
func Warnings(ctx context.Context, db *mongo.Database, o Options) ([]string, error) {
	if err := Check(ctx, db, o); err != nil {
		return nil, err
	}
	var lacking []string
	for _, w := range optionalIndexes() {
		there, err := hasIndex(ctx, withMajority(db), w.collection, w.isThis)
		if err != nil {
			return nil, fail(ctx, "check", err)
		}
		if !there {
			lacking = append(lacking, w.collection+": "+w.what)
		}
	}
	return lacking, nil
}

// optionalIndex is an index that the adapter can do without.
type optionalIndex struct {
	collection string
	what       string           // what is lacking without the index, for a warning
	isThis     func(index) bool // reports whether an index of the collection is this one
}

// optionalIndexes returns the indexes that Migrate makes and the adapter can do
// without.
func optionalIndexes() (all []optionalIndex) {
	for _, u := range uniques {
		if u.texts {
			all = append(all, optionalIndex{
				collection: u.collection, what: "a partial index, so that null counts as an e-mail address",
				isThis: func(i index) bool { return u.isKeptBy(i) && len(i.Partial) > 0 },
			})
		}
	}
	for _, name := range owned {
		all = append(all, optionalIndex{
			collection: name, what: "an index on userId, so that all of it is read for one user",
			isThis: func(i index) bool { return len(i.Key) > 0 && i.Key[0].Key == "userId" },
		})
	}
	for _, p := range perishables {
		all = append(all, optionalIndex{
			collection: p.collection, what: "the removal of what has expired, which is a TTL index on " + p.field,
			isThis: func(i index) bool { return i.Expires != nil && i.fields() == p.field },
		})
	}
	return all
}

// hasIndex reports whether the collection called name has an index for which isWanted
// returns true.
func hasIndex(ctx context.Context, db *mongo.Database, name string, isWanted func(index) bool) (bool, error) {
	found, err := indexes(ctx, db.Collection(name))
	return slices.ContainsFunc(found, isWanted), err
}
