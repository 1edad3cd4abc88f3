package dynamoadapter_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/storage"
)

// between is a client beside whose calls something happens.
type between struct {
	*dynamodb.Client
	afterUpdate, afterDelete func(key map[string]types.AttributeValue)
	afterQuery               func(begins string)
	beforeDelete             func()
}

func (b *between) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	out, err := b.Client.UpdateItem(ctx, in, o...)
	if b.afterUpdate != nil {
		b.afterUpdate(in.Key)
	}
	return out, err
}

func (b *between) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	if b.beforeDelete != nil {
		b.beforeDelete()
	}
	out, err := b.Client.DeleteItem(ctx, in, o...)
	if b.afterDelete != nil {
		b.afterDelete(in.Key)
	}
	return out, err
}

func (b *between) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := b.Client.Query(ctx, in, o...)
	if b.afterQuery != nil {
		b.afterQuery(in.ExpressionAttributeValues[":sk"].(*types.AttributeValueMemberS).Value)
	}
	return out, err
}

// theySet is a change by Auth.js, which looks at nothing before it writes.
func theySet(t *testing.T, c *dynamodb.Client, table, pk, sk string, attributes map[string]types.AttributeValue) {
	t.Helper()
	in := &dynamodb.UpdateItemInput{
		TableName: &table, Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk}},
		ExpressionAttributeNames: map[string]string{}, ExpressionAttributeValues: map[string]types.AttributeValue{},
	}
	var set []string
	for name, v := range attributes {
		in.ExpressionAttributeNames["#"+name], in.ExpressionAttributeValues[":"+name] = name, v
		set = append(set, "#"+name+" = :"+name)
	}
	in.UpdateExpression = new("SET " + strings.Join(set, ", "))
	_, err := c.UpdateItem(t.Context(), in)
	ok(t, err)
}

// TestDeletionWhileAuthJSWrites: who was deleted is gone for both, with their
// sessions, whenever Auth.js changes them.
func TestDeletionWhileAuthJSWrites(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	for _, moment := range []string{"after they are nobody", "while their sessions are removed"} {
		t.Run(moment, func(t *testing.T) {
			table := newSharedTable(t, c)
			b := &between{Client: c}
			a := newShared(t, b, table)
			ok(t, life(t.Context(), a, "u"))
			ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: "u", Expires: time.Now().Add(time.Hour)}))
			if rename := func() {
				theySet(t, c, table, "USER#u", "USER#u", map[string]types.AttributeValue{"name": &types.AttributeValueMemberS{Value: "other"}})
			}; strings.HasPrefix(moment, "after") {
				b.afterUpdate = func(map[string]types.AttributeValue) { rename() }
			} else {
				b.afterQuery = func(begins string) {
					if begins == "SESSION#" {
						rename()
					}
				}
			}
			_, err := a.DeleteUser(t.Context(), "u")
			ok(t, err)
			out, err := c.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
			ok(t, err)
			for _, item := range out.Items {
				if pk := item["pk"].(*types.AttributeValueMemberS).Value; pk == "USER#u" {
					t.Errorf("%s is left", item["sk"].(*types.AttributeValueMemberS).Value)
				}
			}
		})
	}
}

// TestUnlinkThatMeetsALink: an account that its user has linked anew, while it was
// being unlinked, is taken from then on, though the index does not know.
func TestUnlinkThatMeetsALink(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	table := newSharedTable(t, c)
	b := &between{Client: c}
	a, other := newShared(t, b, table), newShared(t, newLate(c), table)
	for _, id := range []string{"u", "v"} {
		_, err := a.CreateUser(t.Context(), storage.User{ID: id})
		ok(t, err)
	}
	account := storage.Account{UserID: "u", Provider: "acme", ProviderAccountID: "1"}
	ok(t, a.LinkAccount(t.Context(), account))
	b.afterDelete = func(map[string]types.AttributeValue) {
		b.afterDelete = nil
		ok(t, other.LinkAccount(t.Context(), account))
	}
	_, err := a.UnlinkAccount(t.Context(), "acme", "1")
	ok(t, err)
	if u, err := other.GetUserByAccount(t.Context(), "acme", "1"); err != nil || u.ID != "u" {
		t.Errorf("the account is %q's, error %v", u.ID, err)
	}
	account.UserID = "v"
	if err := newShared(t, newLate(c), table).LinkAccount(t.Context(), account); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("another user's link of it: %v", err)
	}
}

// TestEndThatMeetsARenewal: a session that Auth.js renews while it ends has ended,
// and nobody sees it in the list.
func TestEndThatMeetsARenewal(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	table := newSharedTable(t, c)
	a := newShared(t, c, table)
	ok(t, life(t.Context(), a, "u"))
	ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: "u", Expires: time.Now().Add(time.Hour)}))
	_, err := a.DeleteSession(t.Context(), "t")
	ok(t, err)
	theySet(t, c, table, "USER#u", "SESSION#t", map[string]types.AttributeValue{
		"sessionToken": &types.AttributeValueMemberS{Value: "t"},
		"expires":      &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)},
	})
	if _, err := a.GetSession(t.Context(), "t"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the session: error %v", err)
	}
	if list, err := a.ListSessions(t.Context(), "u"); len(list) > 0 || err != nil {
		t.Errorf("listed are %v, error %v", list, err)
	}
}

// TestUnlinkWhileTokensChange: R-758. An account whose tokens are renewed while it is
// unlinked is unlinked.
func TestUnlinkWhileTokensChange(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	table := newSharedTable(t, c)
	b := &between{Client: c}
	a, other := newShared(t, b, table), newShared(t, c, table)
	u, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
	ok(t, err)
	old, next := storage.Tokens{AccessToken: "old"}, storage.Tokens{AccessToken: "next"}
	ok(t, a.LinkAccount(t.Context(), storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOIDC, Tokens: old}))
	b.beforeDelete = func() {
		b.beforeDelete = nil
		ok(t, other.SwapTokens(t.Context(), "acme", "1", old, next))
	}
	account, err := a.UnlinkAccount(t.Context(), "acme", "1")
	ok(t, err)
	if account.Tokens.AccessToken != "next" {
		t.Errorf("unlinked with the access token %q", account.Tokens.AccessToken)
	}
	if _, err := a.GetAccount(t.Context(), "acme", "1"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("afterwards the account is read with error %v", err)
	}
}
