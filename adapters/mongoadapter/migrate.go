package mongoadapter

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Codes of the server: those of an index that is there already in another form,
// and of what a server does not know.
const (
	namespaceNotFound  = 26
	optionsConflict    = 85
	keySpecsConflict   = 86
	commandNotFound    = 59
	notImplemented     = 238
	invalidIndexOption = 67
)

const (
	grace       = 24 * time.Hour      // how long what has expired stays, unlike what was ended
	longSignUps = 30 * 24 * time.Hour // how long a sign-up may take, interruptions included
)

// unique is an index that a rule depends on: no two documents agree on the fields.
type unique struct {
	collection string
	fields     []string
	rule       string
	texts      bool // only where the field is a text, and not empty
}

// isKeptBy reports whether an index keeps the rule for all documents that the rule is
// about.
func (u unique) isKeptBy(i index) bool {
	return i.Unique && i.fields() == strings.Join(u.fields, ",") && i.everywhere()
}

var uniques = []unique{
	{"users", []string{"email"}, "e-mail addresses are unique", true},
	{"accounts", []string{"provider", "providerAccountId"}, "provider and providerAccountId are unique", false},
	{"sessions", []string{"sessionToken"}, "sessionToken is unique", false},
	{"verification_tokens", []string{"identifier", "token"}, "identifier and token are unique", false},
	{"authenticators", []string{"credentialID"}, "credentialID is unique", false},
}

// owned has the collections of what belongs to a user.
var owned = []string{"accounts", "sessions", "authenticators", "sign_ups"}

// Migrate creates the indexes that the adapter depends on, in a database that is
// new or that the MongoDB adapter of Auth.js uses. Call it before anything is
// stored; several instances may call it at the same time. [Warnings] returns what
// the server did not create.
//
// If documents break a rule, Migrate changes nothing and returns an error that wraps a
// [*ViolationError]. After other errors some indexes may be made. It reads whole collections.
func Migrate(ctx context.Context, db *mongo.Database, o Options) error {
	if db == nil {
		return errNoDatabase
	}
	m := migration{withMajority(db)}
	for _, step := range []func(context.Context) error{m.violations, m.makeUnique, m.makePlain, m.makeExpiry} {
		if err := step(ctx); err != nil {
			return fail(ctx, "migrate", err)
		}
	}
	return nil
}

// migration makes indexes. It does nothing about an index that is there already.
type migration struct{ db *mongo.Database }

// violations returns a *ViolationError with every rule that documents break because
// several have a value that must be unique. It returns nil if they break none.
func (m migration) violations(ctx context.Context) error {
	var broken ViolationError
	for _, u := range uniques {
		id, filter := bson.D{}, bson.D{}
		for _, field := range u.fields {
			id = append(id, bson.E{Key: field, Value: "$" + field})
		}
		if u.texts {
			filter = bson.D{{Key: u.fields[0], Value: bson.D{{Key: "$gt", Value: ""}}}}
		}
		found, err := m.db.Collection(u.collection).Aggregate(ctx, mongo.Pipeline{
			{{Key: "$match", Value: filter}},
			{{Key: "$group", Value: bson.D{{Key: "_id", Value: id}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
			{{Key: "$match", Value: bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: 1}}}}}},
			{{Key: "$count", Value: "values"}},
		}, options.Aggregate().SetAllowDiskUse(true))
		if err != nil {
			return err
		}
		var counts []struct{ Values int }
		if err := found.All(ctx, &counts); err != nil {
			return err
		}
		if len(counts) > 0 && counts[0].Values > 0 {
			broken.Violations = append(broken.Violations, Violation{Collection: u.collection, Rule: u.rule, Values: counts[0].Values})
		}
	}
	if len(broken.Violations) > 0 {
		return &broken
	}
	return nil
}

// makeUnique makes the unique indexes, except those whose rule an index keeps already.
// That of e-mail addresses is a partial index, or a sparse one if the server has no partial
// indexes.
func (m migration) makeUnique(ctx context.Context) error {
	for _, u := range uniques {
		found, err := indexes(ctx, m.db.Collection(u.collection))
		if err != nil {
			return err
		}
		if slices.ContainsFunc(found, u.isKeptBy) {
			continue
		}
		o := options.Index().SetUnique(true)
		if !u.texts {
			if err := m.make(ctx, u.collection, o, u.fields...); err != nil {
				return err
			}
			continue
		}
		o.SetPartialFilterExpression(bson.D{{Key: u.fields[0], Value: bson.D{{Key: "$gt", Value: ""}}}})
		err = m.make(ctx, u.collection, o, u.fields...)
		if isUnsupported(err) {
			err = m.make(ctx, u.collection, options.Index().SetUnique(true).SetSparse(true), u.fields...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makePlain makes the indexes by which the adapter finds all documents of a user, and
// all sessions of one session or user at a provider.
func (m migration) makePlain(ctx context.Context) error {
	for _, name := range owned {
		if err := m.make(ctx, name, options.Index(), "userId"); err != nil {
			return err
		}
	}
	for _, field := range []string{"providerSid", "providerSub"} {
		if err := m.make(ctx, "sessions", options.Index().SetSparse(true), field); err != nil {
			return err
		}
	}
	return nil
}

// makeExpiry makes the indexes by which the server removes what has expired. If
// the server has no such indexes, it makes plain ones. It leaves an index with
// other options as it is.
func (m migration) makeExpiry(ctx context.Context) error {
	for _, p := range perishables {
		after := options.Index().SetExpireAfterSeconds(int32(p.after.Seconds()))
		err := m.make(ctx, p.collection, after, p.field)
		if isUnsupported(err) {
			err = m.make(ctx, p.collection, options.Index(), p.field)
		}
		if err != nil && !isOptionConflict(err) {
			return err
		}
	}
	return nil
}

// make creates an index on fields. It returns nil if the same index is there, and an
// error that isOptionConflict knows if that index has other options.
func (m migration) make(ctx context.Context, collection string, o *options.IndexOptionsBuilder, fields ...string) error {
	var keys bson.D
	for _, field := range fields {
		keys = append(keys, bson.E{Key: field, Value: 1})
	}
	_, err := m.db.Collection(collection).Indexes().CreateOne(ctx, mongo.IndexModel{Keys: keys, Options: o})
	return err
}

// isUnsupported reports whether the server has no such kind of index.
func isUnsupported(err error) bool {
	return hasCode(err, notImplemented, commandNotFound, invalidIndexOption)
}

// isOptionConflict reports whether the server has such an index with other options.
func isOptionConflict(err error) bool { return hasCode(err, optionsConflict, keySpecsConflict) }

// hasCode reports whether err is an answer of the server with one of the codes.
func hasCode(err error, codes ...int) bool {
	answer, is := errors.AsType[mongo.ServerError](err)
	for _, code := range codes {
		if is && answer.HasErrorCode(code) {
			return true
		}
	}
	return false
}

// perishables has the collections of what expires.
var perishables = []struct {
	collection, field string
	after             time.Duration // how long after that time the server removes it
}{
	{"sessions", "expires", grace},
	{"verification_tokens", "expires", grace},
	{"revocations", "expires", grace},
	{"limits", "expires", grace},
	{"used_values", "expires", grace},
	{"leases", "expires", grace},
	{"sign_ups", "begun", longSignUps},
}
