package dynamoadapter_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkeyhq/latchkey/adapters/dynamoadapter"
)

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// newClient returns a client whose requests go through transport; nil: the usual.
func newClient(url string, transport http.RoundTripper) *dynamodb.Client {
	if transport == nil {
		transport = &http.Transport{MaxIdleConnsPerHost: 100}
	}
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &url, HTTPClient: &http.Client{Transport: transport},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = 20 * time.Millisecond }),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "x", SecretAccessKey: "y"}, nil
		}),
	})
}

var tables atomic.Int64

func tableName() string { return fmt.Sprint("latchkey-", tables.Add(1)) }

// newTable makes an empty table.
func newTable(t testing.TB, c *dynamodb.Client) string {
	t.Helper()
	table := tableName()
	ok(t, dynamoadapter.Migrate(t.Context(), c, table, dynamoadapter.Options{}))
	return table
}

func newAdapter(t testing.TB, c dynamoadapter.Client, table string) *dynamoadapter.Adapter {
	t.Helper()
	a, err := dynamoadapter.New(c, table, dynamoadapter.Options{})
	ok(t, err)
	return a
}
