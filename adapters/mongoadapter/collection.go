package mongoadapter

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkeyhq/latchkey/storage"
)

// tries bounds how often a command is repeated after another call was faster.
const tries = 8

// collection is a collection with the unique index that it needs. Some need none but
// that of their ids.
type collection struct {
	*mongo.Collection
	unique    string      // the fields of that index; empty: none but that of the ids
	hasUnique atomic.Bool // the index was found
}

// requireUnique returns an error that wraps ErrNotMigrated if the unique index is missing.
// It asks the server at each call until it has found the index, and never again after that.
func (c *collection) requireUnique(ctx context.Context) error {
	if c.unique == "" || c.hasUnique.Load() {
		return nil
	}
	found, err := indexes(ctx, c.Collection)
	if err != nil {
		return err
	}
	for _, index := range found {
		if index.Unique && index.fields() == c.unique && index.everywhere() {
			c.hasUnique.Store(true)
			return nil
		}
	}
	return fmt.Errorf("%s: %w", c.Name(), ErrNotMigrated)
}

// add inserts a document. It returns ErrConflict if a unique index refuses the document.
// If the unique index is missing, it inserts nothing, and the error wraps
// ErrNotMigrated.
func (c *collection) add(ctx context.Context, doc any) error {
	if err := c.requireUnique(ctx); err != nil {
		return err
	}
	_, err := c.InsertOne(ctx, doc)
	return orConflict(err)
}

// orConflict returns ErrConflict for the server's error for a key that is taken, and any
// other error as it is.
func orConflict(err error) error {
	if mongo.IsDuplicateKeyError(err) {
		return storage.ErrConflict
	}
	return err
}

// remove deletes one document that filter names, and decodes the deleted document into
// doc. It returns ErrNotFound if filter names none.
func (c *collection) remove(ctx context.Context, filter bson.D, doc any) error {
	return orNotFound(c.FindOneAndDelete(ctx, filter).Decode(doc))
}

// change updates one document that filter names, and decodes the changed document into
// doc. It returns ErrNotFound if filter names none, and ErrConflict if a unique index
// refuses the change.
func (c *collection) change(ctx context.Context, filter, update bson.D, doc any) error {
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	return orConflict(orNotFound(c.FindOneAndUpdate(ctx, filter, update, after).Decode(doc)))
}

// index is an index as the server lists it.
type index struct {
	Key       bson.D
	Unique    bool
	Collation bson.D // none: texts are compared byte by byte
	Partial   bson.D `bson:"partialFilterExpression"` // what documents it has; none: all of them
	Expires   any    `bson:"expireAfterSeconds"`      // a number, where the server removes by it; nil: it does not
}

// everywhere reports whether an index has all documents whose field is a text that is
// not empty, and compares texts byte by byte. An index of several fields must have all
// documents.
func (i index) everywhere() bool {
	if len(i.Collation) > 0 || len(i.Partial) > 1 || len(i.Partial) == 1 && len(i.Key) != 1 {
		return false
	}
	for _, part := range i.Partial {
		condition, is := part.Value.(bson.D)
		if part.Key != i.fields() || !is || len(condition) != 1 || !slices.Contains(allTexts, condition[0]) {
			return false
		}
	}
	return true
}

// allTexts has conditions that leave out no text but the empty one.
var allTexts = []bson.E{{Key: "$gt", Value: ""}, {Key: "$exists", Value: true}, {Key: "$type", Value: "string"}}

// fields returns the names of the index's fields, in their order and with commas between
// them.
func (i index) fields() string {
	names := make([]string, len(i.Key))
	for n, field := range i.Key {
		names[n] = field.Key
	}
	return strings.Join(names, ",")
}

// indexes returns the indexes of a collection. It returns none, and no error, if
// the collection does not exist.
func indexes(ctx context.Context, c *mongo.Collection) (list []index, err error) {
	found, err := c.Indexes().List(ctx)
	if err != nil {
		if hasCode(err, namespaceNotFound) {
			err = nil
		}
		return nil, err
	}
	return list, found.All(ctx, &list)
}
