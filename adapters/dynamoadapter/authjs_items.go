package dynamoadapter

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkeyhq/latchkey/storage"
)

// The sort keys of items begin like this. The partition key of accounts and sessions is that
// of their user; a link has its own.
const (
	ofUser    = "USER#"
	ofAccount = "ACCOUNT#"
	ofSession = "SESSION#"
	ofLink    = "VT#"
)

// sharedItems reads and writes single items of Auth.js.
type sharedItems struct {
	db     *conn
	layout Layout
}

// userAt returns the keys of a user's item.
func (s *sharedItems) userAt(id string) item { return s.db.at(ofUser+id, ofUser+id) }

// accountAt returns the keys of an account's item. user is the id of its user.
func (s *sharedItems) accountAt(user, provider, id string) item {
	return s.db.at(ofUser+user, ofAccount+provider+"#"+id)
}

// sessionAt returns the keys of a session's item. user is the id of its user.
func (s *sharedItems) sessionAt(user, token string) item {
	return s.db.at(ofUser+user, ofSession+token)
}

// index returns the keys of the items that the index has under the pair of pk and sk.
// The index may be late, so a caller reads the items again.
func (s *sharedItems) index(ctx context.Context, pk, sk string) ([]item, error) {
	found, err := s.db.query(ctx, &dynamodb.QueryInput{
		TableName: &s.db.table, IndexName: &s.layout.Index, KeyConditionExpression: new("#pk = :pk AND #sk = :sk"),
		ExpressionAttributeNames:  map[string]string{"#pk": s.layout.IndexPartitionKey, "#sk": s.layout.IndexSortKey},
		ExpressionAttributeValues: item{":pk": text(pk), ":sk": text(sk)},
	})
	keys := make([]item, len(found))
	for i, one := range found {
		keys[i] = item{s.db.pk: one[s.db.pk], s.db.sk: one[s.db.sk]}
	}
	return keys, err
}

// get reads an item. It returns nil if the item does not exist.
func (s *sharedItems) get(ctx context.Context, key item) (item, error) {
	found, err := s.db.items(ctx, key)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// create writes an item that does not exist yet, and otherwise returns ErrConflict. If
// the stored item has the version of in, the client has repeated the call, and create
// returns nil.
func (s *sharedItems) create(ctx context.Context, in item) error {
	_, err := s.db.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.db.table, Item: in, ConditionExpression: new("attribute_not_exists(#pk) OR #v = :v"),
		ExpressionAttributeNames: map[string]string{"#pk": s.db.pk, "#v": versionField}, ExpressionAttributeValues: item{":v": in[versionField]},
	})
	if isRefused(err) {
		return storage.ErrConflict
	}
	return failure(ctx, err)
}

// remove deletes the item that was read, and returns the item as it was deleted. It
// returns ErrNotFound if the item does not exist any more, or has another version.
// Auth.js never changes the version, so a write of Auth.js does not prevent the
// deletion.
func (s *sharedItems) remove(ctx context.Context, seen item) (item, error) {
	e := newExpression()
	e.and("attribute_exists(" + e.name(s.db.pk) + ")")
	if v, has := seen[versionField]; has {
		e.and(e.name(versionField) + " = " + e.value(v))
	} else {
		e.and("attribute_not_exists(" + e.name(versionField) + ")")
	}
	out, err := s.db.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &s.db.table, Key: item{s.db.pk: seen[s.db.pk], s.db.sk: seen[s.db.sk]}, ReturnValues: types.ReturnValueAllOld,
		ConditionExpression: e.text(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.given(),
	})
	if isRefused(err) {
		return nil, storage.ErrNotFound
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	return out.Attributes, nil
}

// ignore returns nil if err is one of the expected errors, and any other error as it is.
func ignore(err error, expected ...error) error {
	for _, e := range expected {
		if errors.Is(err, e) {
			return nil
		}
	}
	return err
}

// Attributes that Auth.js does not know. It keeps them.
const (
	versionField = "v"        // random, made by each write of ours
	detailsField = "latchkey" // what package kvstore keeps of a user and Auth.js does not
)
