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

// Migrate makes the table, if there is none, and has DynamoDB remove what has
// expired, by the attribute ttl. It waits until the table can be used. The new
// table is billed by request; one that is there keeps its throughput and all
// other settings. Several instances may call it at once.
//
// A server that knows no time to live, such as some that are made for tests,
// keeps expired items: nothing else depends on it.
func Migrate(ctx context.Context, c MigrationClient, table string) error {
	state, err := statusOf(ctx, c, table)
	if err != nil {
		return err
	}
	if state == "" {
		if err := create(ctx, c, table); err != nil {
			return err
		}
	}
	for state != types.TableStatusActive && state != types.TableStatusUpdating {
		if state, err = statusOf(ctx, c, table); err != nil {
			return err
		}
		if state == types.TableStatusDeleting {
			return errors.New("dynamoadapter: the table is being deleted")
		}
		if state != types.TableStatusActive {
			if err := rest(ctx); err != nil {
				return err
			}
		}
	}
	return expire(ctx, c, table)
}

// statusOf is empty for a table that is not there.
func statusOf(ctx context.Context, c MigrationClient, table string) (types.TableStatus, error) {
	out, err := c.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if _, absent := errors.AsType[*types.ResourceNotFoundException](err); absent {
		return "", nil
	}
	if err != nil {
		return "", failure(ctx, err)
	}
	return out.Table.TableStatus, fits(out.Table)
}

// fits refuses a table whose keys are not ours.
func fits(t *types.TableDescription) error {
	keys := map[types.KeyType]string{}
	for _, k := range t.KeySchema {
		keys[k.KeyType] = *k.AttributeName
	}
	if keys[types.KeyTypeHash] != "pk" || keys[types.KeyTypeRange] != "sk" {
		return fmt.Errorf("dynamoadapter: the keys of the table are %q and %q, want \"pk\" and \"sk\"", keys[types.KeyTypeHash], keys[types.KeyTypeRange])
	}
	return nil
}

func create(ctx context.Context, c MigrationClient, table string) error {
	_, err := c.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: new("pk"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: new("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: new("pk"), KeyType: types.KeyTypeHash}, {AttributeName: new("sk"), KeyType: types.KeyTypeRange},
		},
	})
	if _, faster := errors.AsType[*types.ResourceInUseException](err); faster {
		return nil // another instance makes it
	}
	return failure(ctx, err)
}

// expire switches the time to live on, unless it is on.
func expire(ctx context.Context, c MigrationClient, table string) error {
	_, err := c.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: new("ttl"), Enabled: new(true)},
	})
	if said, is := errors.AsType[smithy.APIError](err); is {
		unknown := said.ErrorCode() == "UnknownOperationException"
		if unknown || strings.Contains(said.ErrorMessage(), "already enabled") {
			return nil
		}
	}
	return failure(ctx, err)
}
