package dynamoadapter

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ErrNotMigrated is the error of calls on a table that does not exist.
var ErrNotMigrated = errors.New("there is no such table: was Migrate forgotten?")

// CheckClient is what [Check] and [Warnings] need of a *dynamodb.Client. Check calls
// DescribeTable only.
type CheckClient interface {
	DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, o ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	DescribeTimeToLive(ctx context.Context, in *dynamodb.DescribeTimeToLiveInput, o ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
}

// Check returns nil if an adapter with these options can work with the table. It changes
// nothing. It returns [ErrNotMigrated] if the table does not exist. Other errors say what is
// wrong with the Layout, the keys of the table or its index, that the table is still being
// made, or that the call failed.
func Check(ctx context.Context, c CheckClient, table string, o Options) error {
	_, err := o.Layout.examine(ctx, c, table)
	return err
}

// Warnings returns what a table lacks that an adapter can do without: the removal of
// what has expired. It returns nil if the table lacks nothing. For a table that [Check]
// does not accept it returns the error of Check.
func Warnings(ctx context.Context, c CheckClient, table string, o Options) ([]string, error) {
	found, err := o.Layout.examine(ctx, c, table)
	if err != nil {
		return nil, err
	}
	out, err := c.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table})
	if err != nil {
		return nil, failure(ctx, err)
	}
	if o.Layout.expires(out.TimeToLiveDescription) {
		return nil, nil
	}
	return []string{"the removal of what has expired, which is a time to live on the attribute " + o.Layout.ttl() + hintOf(o.Layout, found)}, nil
}

// examine returns the description of a table that can be used, and otherwise the errors
// of [Check].
func (l Layout) examine(ctx context.Context, c describer, table string) (*types.TableDescription, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
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
	return found, nil
}

// hintOf returns a hint for an error message if l is the layout of this package and the
// table has the index of Auth.js. Otherwise it returns "". Such a table has our keys,
// and other tables may have such an index, so the table is not refused for it.
func hintOf(l Layout, t *types.TableDescription) string {
	theirs := AuthJS().named()
	if l.authJS || theirs.indexOf(t) == nil {
		return ""
	}
	return ". It has the index of Auth.js' tables: if it is one, its layout is AuthJS(), in a URL layout=authjs"
}

// expires reports whether DynamoDB removes items, or is about to, by the attribute of
// the layout. It returns false for nil.
func (l Layout) expires(t *types.TimeToLiveDescription) bool {
	return t != nil && t.AttributeName != nil && *t.AttributeName == l.ttl() &&
		(t.TimeToLiveStatus == types.TimeToLiveStatusEnabled || t.TimeToLiveStatus == types.TimeToLiveStatusEnabling)
}
