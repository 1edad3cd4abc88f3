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

	"github.com/latchkeyhq/latchkey/adapters/dynamoadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// S-003: every promise of every ability, without exceptions.
func TestAdapter(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return newAdapter(t, c, newTable(t, c)) })
	latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return newAdapter(t, c, newTable(t, c)) })
}

func TestStores(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	storagetest.TestStores(t, func(t *testing.T) any { return newAdapter(t, c, newTable(t, c)) })
}

func TestMigrate(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	table := newTable(t, c)
	ok(t, dynamoadapter.Migrate(t.Context(), c, table, dynamoadapter.Options{})) // again
	if _, err := newAdapter(t, c, "no-such-table").GetUser(t.Context(), "u"); err == nil || !strings.Contains(err.Error(), "Migrate") {
		t.Errorf("without the table: %v", err)
	}
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: new("other"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: new("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: new("id"), KeyType: types.KeyTypeHash}},
	})
	ok(t, err)
	if err := dynamoadapter.Migrate(t.Context(), c, "other", dynamoadapter.Options{}); err == nil || !strings.Contains(err.Error(), `"id"`) {
		t.Errorf("somebody else's table: %v", err)
	}
}

// removing is a client whose server removes items by an attribute.
type removing struct {
	*dynamodb.Client
	by string
}

// DescribeTimeToLive implements [dynamoadapter.CheckClient].
func (r removing) DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error) {
	return &dynamodb.DescribeTimeToLiveOutput{TimeToLiveDescription: &types.TimeToLiveDescription{AttributeName: &r.by, TimeToLiveStatus: types.TimeToLiveStatusEnabled}}, nil
}

func TestCheck(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	if err := dynamoadapter.Check(t.Context(), c, "none", dynamoadapter.Options{}); !errors.Is(err, dynamoadapter.ErrNotMigrated) {
		t.Errorf("without a table: %v", err)
	}
	ours, theirs := newTable(t, c), newSharedTable(t, c)
	for _, of := range []struct {
		layout dynamoadapter.Layout
		table  string
		by     string // what the server removes by
		lacks  int
	}{
		{dynamoadapter.Layout{}, ours, "ttl", 0},
		{dynamoadapter.Layout{}, ours, "expires", 1},
		{dynamoadapter.AuthJS(), theirs, "expires", 0},
		{dynamoadapter.AuthJS(), theirs, "ttl", 1},
	} {
		o := dynamoadapter.Options{Layout: of.layout}
		ok(t, dynamoadapter.Check(t.Context(), removing{c, of.by}, of.table, o))
		lacking, err := dynamoadapter.Warnings(t.Context(), removing{c, of.by}, of.table, o)
		if err != nil || len(lacking) != of.lacks {
			t.Errorf("%s by %s: lacking %q, error %v", of.table, of.by, lacking, err)
		}
	}
	if lacking, err := dynamoadapter.Warnings(t.Context(), c, ours, dynamoadapter.Options{}); err != nil || len(lacking) != 1 {
		t.Errorf("without time to live: lacking %q, error %v", lacking, err)
	}
	if err := dynamoadapter.Check(t.Context(), c, ours, dynamoadapter.Options{Layout: dynamoadapter.AuthJS()}); err == nil || !strings.Contains(err.Error(), "GSI1") {
		t.Errorf("a table without the index: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, bad := range []struct {
		client dynamoadapter.Client
		table  string
	}{{nil, "t"}, {newClient("http://127.0.0.1:1", nil), ""}} {
		if _, err := dynamoadapter.New(bad.client, bad.table, dynamoadapter.Options{}); err == nil {
			t.Errorf("%v, %q was accepted", bad.client, bad.table)
		}
	}
}

// ttls are when DynamoDB may remove each item of a kind.
func ttls(t *testing.T, c *dynamodb.Client, table, kind string) (all []time.Time) {
	t.Helper()
	out, err := c.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
	ok(t, err)
	for _, item := range out.Items {
		if pk := item["pk"].(*types.AttributeValueMemberS).Value; !strings.HasPrefix(pk, kind+"#") {
			continue
		}
		n, has := item["ttl"].(*types.AttributeValueMemberN)
		if !has {
			t.Fatalf("%s has no ttl", kind)
		}
		seconds, err := strconv.ParseInt(n.Value, 10, 64)
		ok(t, err)
		all = append(all, time.Unix(seconds, 0))
	}
	return all
}

// S-055: a renewal lengthens what the store knows of the life of a session, too.
func TestRenewalLengthensTTL(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	table := newTable(t, c)
	a, expires := newAdapter(t, c, table), time.Now().Add(time.Hour)
	u, err := a.CreateUser(t.Context(), storage.User{})
	ok(t, err)
	ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: u.ID, Expires: expires}))
	for _, expires := range []time.Time{expires, expires.Add(30 * 24 * time.Hour)} {
		ok(t, a.UpdateSession(t.Context(), "t", expires))
		all := ttls(t, c, table, "SESSION")
		if earliest := expires.Add(24 * time.Hour); len(all) != 1 || all[0].Before(earliest) || all[0].After(earliest.Add(2*time.Second)) {
			t.Errorf("the item may go at %v, want a day after %v", all, expires)
		}
	}
}

// S-056: what has expired and is still there counts as absent for used values,
// and keeps nobody from anything.
func TestExpiredItemsDecideNothing(t *testing.T) {
	c := newClient(realservers.DynamoDB(t), nil)
	table := newTable(t, c)
	now := time.Now()
	a, err := dynamoadapter.New(c, table, dynamoadapter.Options{Now: func() time.Time { return now }})
	ok(t, err)
	for _, want := range []bool{true, false} {
		if first, err := a.Use(t.Context(), "k", now.Add(time.Minute)); err != nil || first != want {
			t.Errorf("Use: %t, error %v, want %t", first, err, want)
		}
	}
	now = now.Add(48 * time.Hour)
	if all := ttls(t, c, table, "ONCE"); len(all) != 1 || all[0].After(now) {
		t.Fatalf("the item is to go at %v: want one that is overdue", all)
	}
	if first, err := a.Use(t.Context(), "k", now.Add(time.Minute)); err != nil || !first {
		t.Errorf("Use of an expired value: %t, error %v", first, err)
	}
	r := storage.Rate{Events: 1, Per: time.Minute}
	for _, passed := range []time.Duration{0, time.Hour} {
		now = now.Add(passed)
		if wait, err := a.Take(t.Context(), "k", r); err != nil || wait != 0 {
			t.Errorf("Take: wait %v, error %v", wait, err)
		}
	}
}
