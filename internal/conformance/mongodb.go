package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"os"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/adapters/mongoadapter"
)

// store is what the app keeps everything in, with a view of it for the suite.
type store interface {
	full
	Contents() memoryadapter.Contents
}

// newStore is in memory, or a new database of the server at MONGODB_URI.
func newStore() (store, error) {
	url := os.Getenv("MONGODB_URI")
	if url == "" {
		return memoryadapter.New(memoryadapter.Options{PlainTokens: true}), nil
	}
	client, err := mongo.Connect(options.Client().ApplyURI(url))
	if err != nil {
		return nil, err
	}
	db := client.Database("conformance" + rand.Text())
	if _, err := mongoadapter.Migrate(context.Background(), db); err != nil {
		return nil, err
	}
	a, err := mongoadapter.New(db, mongoadapter.Options{PlainTokens: true})
	return documents{a, db}, err
}

// breakable is s with the operations of ADAPTER_THROW broken.
func breakable(s store) latchkey.Adapter {
	switch s := s.(type) {
	case *memoryadapter.Adapter:
		return faulty{s}
	case documents:
		return withoutTx{faultyTx{s}, s}
	}
	return faultyTx{s}
}

// withoutTx remembers sign-ups that were cut short instead.
type withoutTx struct {
	faultyTx
	latchkey.SignUpAdapter
}

// documents is a store in MongoDB.
type documents struct {
	*mongoadapter.Adapter
	db *mongo.Database
}

// Contents reads everything by the adapter, but for tokens, which it does not list.
func (d documents) Contents() (c memoryadapter.Contents) {
	ctx := context.Background()
	for _, doc := range all[struct {
		ID bson.ObjectID `bson:"_id"`
	}](ctx, d.db, "users") {
		if u, err := d.GetUser(ctx, doc.ID.Hex()); err == nil {
			accounts, _ := d.ListAccounts(ctx, u.ID)
			keys, _ := d.ListAuthenticators(ctx, u.ID)
			c.Users, c.Accounts, c.Authenticators = append(c.Users, u), append(c.Accounts, accounts...), append(c.Authenticators, keys...)
		}
	}
	for _, doc := range all[struct{ SessionToken string }](ctx, d.db, "sessions") {
		if s, err := d.GetSession(ctx, doc.SessionToken); err == nil {
			c.Sessions = append(c.Sessions, s)
		}
	}
	for _, doc := range all[struct {
		Identifier, Token string
		Expires           time.Time
	}](ctx, d.db, "verification_tokens") {
		c.VerificationTokens = append(c.VerificationTokens, latchkey.VerificationToken{Identifier: doc.Identifier, Token: doc.Token, Expires: doc.Expires})
	}
	slices.SortFunc(c.Sessions, func(a, b latchkey.StoredSession) int { return cmp.Compare(a.Token, b.Token) })
	return c
}

// all reads a collection; of one that cannot be read the suite sees nothing.
func all[T any](ctx context.Context, db *mongo.Database, collection string) (list []T) {
	if found, err := db.Collection(collection).Find(ctx, bson.D{}); err == nil {
		_ = found.All(ctx, &list)
	}
	return list
}
