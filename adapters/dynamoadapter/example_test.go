package dynamoadapter_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/dynamoadapter"
	"github.com/latchkeyhq/latchkey/providers"
)

func ExampleNew() {
	// This client has no credentials. Yours is dynamodb.NewFromConfig(cfg), of
	// cfg, err := config.LoadDefaultConfig(ctx) of aws-sdk-go-v2/config, which finds
	// them and the region as Amazon's tools do.
	client := dynamodb.New(dynamodb.Options{Region: "eu-central-1"})
	store, err := dynamoadapter.New(client, "my-app-auth", dynamoadapter.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = latchkey.New(latchkey.Config{
		Site:      latchkey.Site{URL: "https://app.example"},
		Secrets:   []string{"a secret of at least 32 characters, from openssl rand"},
		Adapter:   store,
		Providers: []latchkey.Provider{providers.GitHub(latchkey.OAuth{ClientID: "id", ClientSecret: "secret"})},
	})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleMigrate() {
	deploy := func(ctx context.Context, client *dynamodb.Client) error {
		return dynamoadapter.Migrate(ctx, client, "my-app-auth", dynamoadapter.Options{})
	}
	_ = deploy
}

func ExampleAuthJS() {
	client := dynamodb.New(dynamodb.Options{Region: "eu-central-1"})
	layout := dynamoadapter.AuthJS()
	layout.Index = "byOther" // the indexName of its options
	_, err := dynamoadapter.New(client, "next-auth", dynamoadapter.Options{Layout: layout})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleMigrate_authJS() {
	deploy := func(ctx context.Context, client *dynamodb.Client) error {
		return dynamoadapter.Migrate(ctx, client, "next-auth", dynamoadapter.Options{Layout: dynamoadapter.AuthJS()})
	}
	_ = deploy
}
