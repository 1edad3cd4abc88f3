package dynamoadapter

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// MigrationClient is what [Migrate] needs of a *dynamodb.Client.
type MigrationClient interface {
	DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, o ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	CreateTable(ctx context.Context, in *dynamodb.CreateTableInput, o ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	UpdateTimeToLive(ctx context.Context, in *dynamodb.UpdateTimeToLiveInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
}

// Migrate creates the table if it does not exist, and has DynamoDB remove what has
// expired, by the attribute ttl. It waits until the table can be used. The new
// table is billed by request; an existing one keeps its throughput and all other
// settings. Several instances may call it at the same time.
//
// A table of the layout [AuthJS] has an index, and its items expire by the attribute
// expires. An existing table without the index is an error: Auth.js cannot use it
// either.
//
// A server without time to live, such as some that are made for tests, keeps expired
// items: nothing else depends on it.
func Migrate(ctx context.Context, c MigrationClient, table string, o Options) error {
	if err := o.Layout.check(); err != nil {
		return err
	}
	l := o.Layout.named()
	found, err := l.describe(ctx, c, table)
	if err != nil {
		return err
	}
	if found == nil {
		if err := l.create(ctx, c, table); err != nil {
			return err
		}
	}
	for !l.isReady(found) {
		if found, err = l.describe(ctx, c, table); err != nil {
			return err
		}
		if found != nil && found.TableStatus == types.TableStatusDeleting {
			return errors.New("dynamoadapter: the table is being deleted")
		}
		if l.isReady(found) {
			break
		}
		if err := backOff(ctx); err != nil {
			return err
		}
	}
	return l.expire(ctx, c, table)
}

// isReady reports whether the table can be used. In the layout of Auth.js its index must
// be usable, too. isReady returns false for nil.
func (l Layout) isReady(t *types.TableDescription) bool {
	if t == nil || t.TableStatus != types.TableStatusActive && t.TableStatus != types.TableStatusUpdating {
		return false
	}
	index := l.indexOf(t)
	return !l.authJS || index != nil && index.IndexStatus == types.IndexStatusActive
}

// indexOf returns the index of the table that has the name in the layout, or nil if
// there is none.
func (l Layout) indexOf(t *types.TableDescription) *types.GlobalSecondaryIndexDescription {
	for i, index := range t.GlobalSecondaryIndexes {
		if index.IndexName != nil && *index.IndexName == l.Index {
			return &t.GlobalSecondaryIndexes[i]
		}
	}
	return nil
}

// describer has what clients of Migrate and Check share.
type describer interface {
	DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, o ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// describe returns the description of a table, and nil without an error if the table
// does not exist. It returns an error for a table that does not fit the layout.
func (l Layout) describe(ctx context.Context, c describer, table string) (*types.TableDescription, error) {
	out, err := c.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if _, absent := errors.AsType[*types.ResourceNotFoundException](err); absent {
		return nil, nil
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	return out.Table, l.fits(out.Table)
}

// fits returns an error for a table that has not the keys of the layout. In the layout
// of Auth.js it also returns an error if the index is missing, has other keys or lacks
// attributes.
func (l Layout) fits(t *types.TableDescription) error {
	if err := sameKeys("the table", t.KeySchema, l.PartitionKey, l.SortKey); err != nil || !l.authJS {
		return err
	}
	index := l.indexOf(t)
	if index == nil {
		return fmt.Errorf("dynamoadapter: the table has no index %s: add it, with %s and %s as keys and all attributes", l.Index, l.IndexPartitionKey, l.IndexSortKey)
	}
	if p := index.Projection; p != nil && p.ProjectionType != types.ProjectionTypeAll {
		return fmt.Errorf("dynamoadapter: the index %s has not all attributes, which Auth.js reads from it", l.Index)
	}
	return sameKeys("the index "+l.Index, index.KeySchema, l.IndexPartitionKey, l.IndexSortKey)
}

// sameKeys returns an error if the keys of a schema are not pk and sk. The error names
// the table or index by the text of.
func sameKeys(of string, schema []types.KeySchemaElement, pk, sk string) error {
	keys := map[types.KeyType]string{}
	for _, k := range schema {
		keys[k.KeyType] = *k.AttributeName
	}
	if keys[types.KeyTypeHash] != pk || keys[types.KeyTypeRange] != sk {
		return fmt.Errorf("dynamoadapter: the keys of %s are %q and %q, want %q and %q", of, keys[types.KeyTypeHash], keys[types.KeyTypeRange], pk, sk)
	}
	return nil
}

// keySchema returns the schema of a table or index with the two keys.
func keySchema(pk, sk string) []types.KeySchemaElement {
	return []types.KeySchemaElement{{AttributeName: &pk, KeyType: types.KeyTypeHash}, {AttributeName: &sk, KeyType: types.KeyTypeRange}}
}

// textAttributes returns the definitions of attributes that are texts.
func textAttributes(names ...string) (all []types.AttributeDefinition) {
	for _, name := range names {
		all = append(all, types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS})
	}
	return all
}

// create asks DynamoDB to create the table, and does not wait for it. It returns nil if
// another instance is creating it.
func (l Layout) create(ctx context.Context, c MigrationClient, table string) error {
	in := &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: textAttributes(l.PartitionKey, l.SortKey), KeySchema: keySchema(l.PartitionKey, l.SortKey),
	}
	if l.authJS {
		in.AttributeDefinitions = textAttributes(l.keys()...)
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
			IndexName: &l.Index, KeySchema: keySchema(l.IndexPartitionKey, l.IndexSortKey), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}}
	}
	_, err := c.CreateTable(ctx, in)
	if _, faster := errors.AsType[*types.ResourceInUseException](err); faster {
		return nil // another instance makes it
	}
	return failure(ctx, err)
}

// expire switches the time to live on. It returns nil if it is on already, or if the
// server has no time to live.
func (l Layout) expire(ctx context.Context, c MigrationClient, table string) error {
	_, err := c.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: new(l.ttl()), Enabled: new(true)},
	})
	if said, is := errors.AsType[smithy.APIError](err); is {
		unknown := said.ErrorCode() == "UnknownOperationException"
		if unknown || strings.Contains(said.ErrorMessage(), "already enabled") {
			return nil
		}
	}
	return failure(ctx, err)
}
