package dynamoadapter

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// authJS keeps users, accounts, sessions and links as @auth/dynamodb-adapter does.
// That one finds by an index, which knows a write later than the table does; so
// whatever the index says is read again in the table, and what is made here has
// a note of its own, which is no later than the write. Notes of accounts also
// decide whose an account is, as claims to e-mail addresses do in package
// kvstore: each step is one write of one item, and may be the last before a crash.
type authJS struct {
	*kvstore.Store // users, in people's items, and what Auth.js has no items for
	db             *conn
	layout         Layout
	now            func() time.Time
}

func newAuthJS(c Client, table string, o Options) *authJS {
	layout := o.Layout.named()
	db := &conn{client: c, table: table, pk: layout.PartitionKey, sk: layout.SortKey, ttl: layout.ttl()}
	a := &authJS{kvstore.New(people{db, layout}, kvstore.Options{Now: o.Now}), db, layout, o.Now}
	if a.now == nil {
		a.now = time.Now
	}
	return a
}

// Sort keys of what belongs to a user, whose pk it has, begin so.
const (
	ofUser    = "USER#"
	ofAccount = "ACCOUNT#"
	ofSession = "SESSION#"
	ofLink    = "VT#"
)

func (a *authJS) userAt(id string) item { return a.db.at(ofUser+id, ofUser+id) }

// index asks the index, which may be late: keys of what it has under its two keys.
func (a *authJS) index(ctx context.Context, pk, sk string) ([]item, error) {
	found, err := a.db.query(ctx, &dynamodb.QueryInput{
		TableName: &a.db.table, IndexName: &a.layout.Index, KeyConditionExpression: new("#pk = :pk AND #sk = :sk"),
		ExpressionAttributeNames:  map[string]string{"#pk": a.layout.IndexPartitionKey, "#sk": a.layout.IndexSortKey},
		ExpressionAttributeValues: item{":pk": text(pk), ":sk": text(sk)},
	})
	keys := make([]item, len(found))
	for i, one := range found {
		keys[i] = item{a.db.pk: one[a.db.pk], a.db.sk: one[a.db.sk]}
	}
	return keys, err
}

// one reads an item; nil: there is none.
func (a *authJS) one(ctx context.Context, key item) (item, error) {
	found, err := a.db.items(ctx, key)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// create puts an item where none is; ErrConflict otherwise. Its version makes a
// call that the client repeats the same as one.
func (a *authJS) create(ctx context.Context, in item) error {
	_, err := a.db.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &a.db.table, Item: in, ConditionExpression: new("attribute_not_exists(#pk) OR #v = :v"),
		ExpressionAttributeNames: map[string]string{"#pk": a.db.pk, "#v": versionField}, ExpressionAttributeValues: item{":v": in[versionField]},
	})
	if isRefused(err) {
		return latchkey.ErrConflict
	}
	return failure(ctx, err)
}

// ignore is nil for an error that is expected.
func ignore(err error, expected ...error) error {
	for _, e := range expected {
		if errors.Is(err, e) {
			return nil
		}
	}
	return err
}

// attributes that Auth.js does not know. It keeps them.
const (
	versionField = "v"        // random, made by each write of ours
	detailsField = "latchkey" // what package kvstore keeps of a user and Auth.js does not
)
