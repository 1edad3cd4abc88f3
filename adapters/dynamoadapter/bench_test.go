package dynamoadapter_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/realservers"
)

// beside times the adapter and the bare calls that do the same in turns, so that
// both meet the machine as it is, and reports medians.
func beside(b *testing.B, ours, bare func() error) {
	b.Helper()
	var took [2][]time.Duration
	for b.Loop() {
		for i, f := range []func() error{ours, bare} {
			began := time.Now()
			err := f()
			took[i] = append(took[i], time.Since(began))
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	var median [2]float64
	for i := range took {
		slices.Sort(took[i])
		median[i] = float64(took[i][len(took[i])/2])
	}
	b.ReportMetric(median[1], "ns-bare")
	b.ReportMetric(median[0]/median[1], "ratio")
}

// BenchmarkSessionRead compares reading a stored session to its one bare GetItem,
// and with its user to two.
func BenchmarkSessionRead(b *testing.B) {
	c := newClient(realservers.DynamoDB(b), nil)
	table := newTable(b, c)
	a, ctx := newAdapter(b, c, table), b.Context()
	u, err := a.CreateUser(ctx, latchkey.User{Name: "Ada", Email: "ada@example.com"})
	ok(b, err)
	ok(b, a.CreateSession(ctx, latchkey.StoredSession{Token: "t", UserID: u.ID, Expires: time.Now().Add(time.Hour)}))
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
		beside(b, func() error {
			_, err := a.GetSession(ctx, "t")
			return err
		}, func() error { return get(session) })
	})
	b.Run("GetSessionAndUser", func(b *testing.B) {
		beside(b, func() error {
			_, _, err := a.GetSessionAndUser(ctx, "t")
			return err
		}, func() error {
			if err := get(session); err != nil {
				return err
			}
			return get(user)
		})
	})
}
