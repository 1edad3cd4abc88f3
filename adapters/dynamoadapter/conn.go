package dynamoadapter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// Client is what the adapter needs of a *dynamodb.Client.
type Client interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	Scan(ctx context.Context, in *dynamodb.ScanInput, o ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// conn keeps one item for each record, and one for each entry of a user's list. The item of
// an entry is in the partition of that user.
type conn struct {
	client Client
	table  string
	pk, sk string // names of the keys
	ttl    string // name of the attribute that says when DynamoDB may remove an item
}

// item is an item of the table or a part of one, such as its keys.
type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// textOf returns the text of an attribute, which is empty if it is absent or of another
// type.
func textOf(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// kindNames has the names of kinds in keys.
var kindNames = map[kvstore.Kind]string{
	kvstore.KindUser: "USER", kvstore.KindEmail: "EMAIL", kvstore.KindAccount: "ACCOUNT", kvstore.KindAuthenticator: "KEY",
	kvstore.KindSession: "SESSION", kvstore.KindLink: "LINK", kvstore.KindSignUp: "SIGNUP", kvstore.KindRevocation: "VOID",
	kvstore.KindUsed: "ONCE", kvstore.KindLimit: "LIMIT", kvstore.KindLease: "LEASE",
}

// keyText returns the text of both keys of a record's item.
func keyText(k kvstore.Key) string { return kindNames[k.Kind] + "#" + k.Name }

// at returns an item with nothing but its keys.
func (c *conn) at(pk, sk string) item { return item{c.pk: text(pk), c.sk: text(sk)} }

// keyItem returns the keys of a record's item.
func (c *conn) keyItem(k kvstore.Key) item { return c.at(keyText(k), keyText(k)) }

// userText returns the partition key of what belongs to a user.
func userText(user string) string { return keyText(kvstore.Key{Kind: kvstore.KindUser, Name: user}) }

// owns begins the sort key of what belongs to a user.
const owns = "OWNS#"

// ownItem returns the keys of the item that holds an entry of a user's list.
func (c *conn) ownItem(user string, entry kvstore.Key) item {
	return c.at(userText(user), owns+string(entry.Kind)+"#"+entry.Name)
}

// recordOf returns the record in an item, without Until.
func recordOf(k kvstore.Key, found item) kvstore.Record {
	return kvstore.Record{Key: k, Version: textOf(found["v"]), Value: []byte(textOf(found["value"]))}
}

// Get implements [kvstore.Conn].
func (c *conn) Get(ctx context.Context, keys ...kvstore.Key) ([]kvstore.Record, error) {
	named, wanted := make(map[string]kvstore.Key, len(keys)), make([]item, len(keys))
	for i, k := range keys {
		named[keyText(k)], wanted[i] = k, c.keyItem(k)
	}
	items, err := c.items(ctx, wanted...)
	var found []kvstore.Record
	for _, one := range items {
		found = append(found, recordOf(named[textOf(one[c.pk])], one))
	}
	return found, err
}

// mostKeys is what DynamoDB takes in one batch.
const mostKeys = 100

// items returns those of the items that exist, in any order, by consistent reads. If an
// answer has no room for all items, it asks again for the others.
func (c *conn) items(ctx context.Context, keys ...item) (found []item, err error) {
	if len(keys) == 1 {
		out, err := c.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &c.table, Key: keys[0], ConsistentRead: new(true)})
		if err != nil || len(out.Item) == 0 {
			return nil, failure(ctx, err)
		}
		return []item{out.Item}, nil
	}
	for waiting := keys; len(waiting) > 0; {
		n := min(len(waiting), mostKeys)
		out, err := c.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{c.table: {Keys: waiting[:n], ConsistentRead: new(true)}},
		})
		if err != nil {
			return nil, failure(ctx, err)
		}
		found = append(found, out.Responses[c.table]...)
		left := out.UnprocessedKeys[c.table].Keys
		if len(left) == n { // the table is short of capacity
			if err := backOff(ctx); err != nil {
				return nil, err
			}
		}
		waiting = append(left, waiting[n:]...)
	}
	return found, nil
}

// backOff waits 50 milliseconds before a call is repeated. It returns the error
// of ctx if that ends first.
func backOff(ctx context.Context) error {
	t := time.NewTimer(50 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Put implements [kvstore.Conn].
func (c *conn) Put(ctx context.Context, r kvstore.Record, over string) error {
	row := c.keyItem(r.Key)
	row["v"], row["value"] = text(r.Version), text(string(r.Value))
	if !r.Until.IsZero() {
		row[c.ttl] = seconds(r.Until)
	}
	in := &dynamodb.PutItemInput{TableName: &c.table, Item: row}
	if over == "" {
		in.ConditionExpression, in.ExpressionAttributeValues = new("attribute_not_exists(#pk) OR v = :v"), item{":v": text(r.Version)}
		in.ExpressionAttributeNames = c.pkName()
	} else {
		in.ConditionExpression, in.ExpressionAttributeValues = new("v = :over OR v = :v"), item{":v": text(r.Version), ":over": text(over)}
	}
	_, err := c.client.PutItem(ctx, in)
	if isRefused(err) {
		return storage.ErrConflict
	}
	return failure(ctx, err)
}

func (c *conn) pkName() map[string]string { return map[string]string{"#pk": c.pk} }

// isRefused reports whether DynamoDB refused a write because its condition was
// not met.
func isRefused(err error) bool {
	_, refused := errors.AsType[*types.ConditionalCheckFailedException](err)
	return refused
}

// Delete implements [kvstore.Conn].
func (c *conn) Delete(ctx context.Context, k kvstore.Key, version string) (kvstore.Record, error) {
	in := &dynamodb.DeleteItemInput{
		TableName: &c.table, Key: c.keyItem(k), ReturnValues: types.ReturnValueAllOld,
		ConditionExpression: new("v = :v"), ExpressionAttributeValues: item{":v": text(version)},
	}
	if version == "" {
		in.ConditionExpression, in.ExpressionAttributeValues = new("attribute_exists(#pk)"), nil
		in.ExpressionAttributeNames = c.pkName()
	}
	out, err := c.client.DeleteItem(ctx, in)
	if err == nil {
		return recordOf(k, out.Attributes), nil
	}
	if !isRefused(err) {
		return kvstore.Record{}, failure(ctx, err)
	}
	there, err := c.Get(ctx, k)
	switch {
	case err != nil:
		return kvstore.Record{}, err
	case len(there) == 0 || version == "":
		return kvstore.Record{}, storage.ErrNotFound
	}
	return kvstore.Record{}, storage.ErrConflict
}

// Own implements [kvstore.Conn]. An entry that is to be kept longer already stays as it
// is.
func (c *conn) Own(ctx context.Context, user string, entry kvstore.Key, until time.Time) error {
	in := &dynamodb.PutItemInput{TableName: &c.table, Item: c.ownItem(user, entry)}
	if !until.IsZero() {
		at := seconds(until)
		in.Item[c.ttl] = at
		in.ConditionExpression = new("attribute_not_exists(#pk) OR #ttl < :ttl")
		in.ExpressionAttributeNames = map[string]string{"#pk": c.pk, "#ttl": c.ttl}
		in.ExpressionAttributeValues = item{":ttl": at}
	}
	_, err := c.client.PutItem(ctx, in)
	if isRefused(err) {
		return nil // it is kept longer already
	}
	return failure(ctx, err)
}

// seconds returns the attribute by which DynamoDB removes an item: the first whole
// second after until.
func seconds(until time.Time) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(until.Unix()+1, 10)}
}

// Disown implements [kvstore.Conn].
func (c *conn) Disown(ctx context.Context, user string, entry kvstore.Key) error {
	_, err := c.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &c.table, Key: c.ownItem(user, entry)})
	return failure(ctx, err)
}

// Owned implements [kvstore.Conn]. It leaves out expired entries and does not remove
// them: DynamoDB does so by itself, often days late.
func (c *conn) Owned(ctx context.Context, user string) (entries []kvstore.Key, err error) {
	items, err := c.partition(ctx, userText(user), owns)
	now := time.Now().Unix()
	for _, one := range items {
		if at, is := one[c.ttl].(*types.AttributeValueMemberN); is {
			if until, err := strconv.ParseInt(at.Value, 10, 64); err == nil && until < now {
				continue
			}
		}
		kind, name, _ := strings.Cut(strings.TrimPrefix(textOf(one[c.sk]), owns), "#")
		entries = append(entries, kvstore.Key{Kind: kvstore.Kind(kind), Name: name})
	}
	return entries, err
}

// partition returns all items of the partition pk with a sort key that begins with the text
// begin, by consistent reads and in the order of their sort keys.
func (c *conn) partition(ctx context.Context, pk, begin string) ([]item, error) {
	return c.query(ctx, &dynamodb.QueryInput{
		TableName: &c.table, ConsistentRead: new(true), KeyConditionExpression: new("#pk = :pk AND begins_with(#sk, :sk)"),
		ExpressionAttributeNames:  map[string]string{"#pk": c.pk, "#sk": c.sk},
		ExpressionAttributeValues: item{":pk": text(pk), ":sk": text(begin)},
	})
}

// query returns the items of all pages. It changes in.
func (c *conn) query(ctx context.Context, in *dynamodb.QueryInput) (all []item, err error) {
	for {
		out, err := c.client.Query(ctx, in)
		if err != nil {
			return nil, failure(ctx, err)
		}
		all = append(all, out.Items...)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			return all, nil
		}
	}
}

// failure returns an error of the client as one of this package. It returns nil for nil,
// and the error of ctx if that has ended. A missing table becomes [ErrNotMigrated], and
// an error that passes by itself [storage.ErrUnavailable]; each wraps the client's error
// as well. It has no case for a condition that was not met: a caller asks isRefused
// first, or calls orConflict.
func failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, is := errors.AsType[*types.ResourceNotFoundException](err); is {
		return fmt.Errorf("dynamoadapter: %w (%w)", ErrNotMigrated, err)
	}
	if isTemporary(err) {
		return fmt.Errorf("dynamoadapter: %w (%w)", storage.ErrUnavailable, err)
	}
	return fmt.Errorf("dynamoadapter: %w", err)
}

// isTemporary reports whether DynamoDB throttles or says that the fault is its own. The
// client has given up repeating the call.
func isTemporary(err error) bool {
	if retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary {
		return true
	}
	said, is := errors.AsType[smithy.APIError](err)
	return is && said.ErrorFault() == smithy.FaultServer
}
