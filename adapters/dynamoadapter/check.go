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

// Check reports whether an adapter can work with a table, and changes nothing. The
// error is [ErrNotMigrated] if the table does not exist, and otherwise names what is
// wrong with its keys or its index.
func Check(ctx context.Context, c CheckClient, table string, o Options) error {
	_, err := o.Layout.examine(ctx, c, table)
	return err
}

// Warnings returns what a table that [Check] accepts lacks and an adapter can do
// without: the removal of what has expired. Its errors are those of Check.
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

// examine describes a table. It returns the errors of [Check].
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

// hintOf returns a hint for a table that may be one of Auth.js, or "". The keys
// of such a table are ours too, and its index, which other tables may have as
// well, is no reason to refuse it.
func hintOf(l Layout, t *types.TableDescription) string {
	theirs := AuthJS().named()
	if l.authJS || theirs.indexOf(t) == nil {
		return ""
	}
	return ". It has the index of Auth.js' tables: if it is one, its layout is AuthJS(), in a URL layout=authjs"
}

// expires reports whether DynamoDB removes items, or is about to, by our attribute.
func (l Layout) expires(t *types.TimeToLiveDescription) bool {
	return t != nil && t.AttributeName != nil && *t.AttributeName == l.ttl() &&
		(t.TimeToLiveStatus == types.TimeToLiveStatusEnabled || t.TimeToLiveStatus == types.TimeToLiveStatusEnabling)
}
