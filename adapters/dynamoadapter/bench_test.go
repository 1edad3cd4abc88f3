package dynamoadapter_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/internal/turns"
	"github.com/latchkeyhq/latchkey/storage"
)

// BenchmarkSessionRead compares reading a stored session to its one bare GetItem,
// and with its user to two.
func BenchmarkSessionRead(b *testing.B) {
	c := newClient(realservers.DynamoDB(b), nil)
	table := newTable(b, c)
	a, ctx := newAdapter(b, c, table), b.Context()
	u, err := a.CreateUser(ctx, storage.User{Name: "Ada", Email: "ada@example.com"})
	ok(b, err)
	ok(b, a.CreateSession(ctx, storage.StoredSession{Token: "t", UserID: u.ID, Expires: time.Now().Add(time.Hour)}))
	all, err := c.Scan(ctx, &dynamodb.ScanInput{TableName: &table})
	ok(b, err)
	key := func(kind string) map[string]types.AttributeValue {
		for _, row := range all.Items {
			pk, sk := row["pk"].(*types.AttributeValueMemberS), row["sk"].(*types.AttributeValueMemberS)
			if pk.Value == sk.Value && pk.Value[:len(kind)] == kind {
				return map[string]types.AttributeValue{"pk": pk, "sk": sk}
			}
		}
		b.Fatalf("there is no %s", kind)
		return nil
	}
	get := func(key map[string]types.AttributeValue) error {
		_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: new(true)})
		return err
	}
	session, user := key("SESSION#"), key("USER#")
	b.Run("GetSession", func(b *testing.B) {
		turns.Compare(b, func(int) error {
			_, err := a.GetSession(ctx, "t")
			return err
		}, func(int) error { return get(session) })
	})
	b.Run("GetSessionAndUser", func(b *testing.B) {
		turns.Compare(b, func(int) error {
			_, _, err := a.GetSessionAndUser(ctx, "t")
			return err
		}, func(int) error {
			if err := get(session); err != nil {
				return err
			}
			return get(user)
		})
	})
}
