package dynamoadapter

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ErrNotMigrated is the error of calls on a table that is not there.
var ErrNotMigrated = errors.New("there is no such table: was Migrate forgotten?")

// CheckClient is what [Layout.Check] needs of a *dynamodb.Client.
type CheckClient interface {
	DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, o ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	DescribeTimeToLive(ctx context.Context, in *dynamodb.DescribeTimeToLiveInput, o ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
}

// Check looks whether a table is as [Layout.Migrate] leaves it, and changes nothing.
// The error is what an adapter cannot work with: no table, [ErrNotMigrated], or one
// of other keys. lacking names what it can do without, such as the removal of what
// has expired.
func (l Layout) Check(ctx context.Context, c CheckClient, table string) (lacking []string, err error) {
	l = l.named()
	found, err := l.describe(ctx, c, table)
	if err != nil {
		return nil, err
	}
	if found == nil || found.TableStatus == types.TableStatusDeleting {
		return nil, failure(ctx, ErrNotMigrated)
	}
	if !l.isReady(found) {
		return nil, errors.New("dynamoadapter: the table or its index is being made: look again in a moment")
	}
	out, err := c.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table})
	if err != nil {
		return nil, failure(ctx, err)
	}
	if !l.expires(out.TimeToLiveDescription) {
		lacking = append(lacking, "the removal of what has expired, which is a time to live on the attribute "+l.ttl()+hintOf(l, found))
	}
	return lacking, nil
}

// hintOf is for who forgot to say that a table is Auth.js': its keys are ours too,
// and an index alone, which other tables have as well, is no reason to refuse it.
func hintOf(l Layout, t *types.TableDescription) string {
	theirs := AuthJS().named()
	if l.authJS || theirs.indexOf(t) == nil {
		return ""
	}
	return ". It has the index of Auth.js' tables: if it is one, its layout is AuthJS(), in a URL layout=authjs"
}

// expires tells whether DynamoDB removes items, or is about to, by our attribute.
func (l Layout) expires(t *types.TimeToLiveDescription) bool {
	return t != nil && t.AttributeName != nil && *t.AttributeName == l.ttl() &&
		(t.TimeToLiveStatus == types.TimeToLiveStatusEnabled || t.TimeToLiveStatus == types.TimeToLiveStatusEnabling)
}
