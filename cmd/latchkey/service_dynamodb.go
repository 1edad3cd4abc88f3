package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/latchkeyhq/latchkey/adapters/dynamoadapter"
)

// openDynamoDB understands dynamodb://table?region=eu-central-1, with endpoint for
// another server and layout=authjs for the table of Auth.js. Credentials and region
// are where Amazon's own tools have them.
func (p *program) openDynamoDB(ctx context.Context, rawURL string) (*service, error) {
	u, err := url.Parse(rawURL)
	if err != nil || !isName(u.Host) || u.User != nil {
		return nil, usage("%w", errDatabaseURL)
	}
	table, q := u.Host, u.Query()
	var o dynamoadapter.Options
	switch q.Get("layout") {
	case "":
	case "authjs":
		o.Layout = dynamoadapter.AuthJS()
	default:
		return nil, usage("DATABASE_URL: layout is authjs or nothing")
	}
	where := fmt.Sprintf("DynamoDB table %q", table)
	c, err := config.LoadDefaultConfig(ctx, p.amazon(q.Get("region"))...)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", where, noCredentials)
	}
	client := dynamodb.NewFromConfig(c, func(o *dynamodb.Options) {
		if endpoint := q.Get("endpoint"); endpoint != "" {
			o.BaseEndpoint = &endpoint
		}
	})
	return &service{
		where:   where,
		check:   func(ctx context.Context) ([]string, error) { return dynamoadapter.Warnings(ctx, client, table, o) },
		migrate: func(ctx context.Context) ([]string, error) { return nil, dynamoadapter.Migrate(ctx, client, table, o) },
		explain: explainAmazon,
		close:   func() {},
	}, nil
}

// amazon returns the options for region and credentials of the environment, which may
// come from a file. A region that is not empty wins.
func (p *program) amazon(region string) (o []func(*config.LoadOptions) error) {
	if region == "" {
		region = p.env.get("AWS_REGION")
	}
	if region != "" {
		o = append(o, config.WithRegion(region))
	}
	if id := p.env.get("AWS_ACCESS_KEY_ID"); id != "" {
		o = append(o, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(id, p.env.get("AWS_SECRET_ACCESS_KEY"), p.env.get("AWS_SESSION_TOKEN"))))
	}
	return o
}

const noCredentials = "it cannot be asked: check region, credentials and endpoint"

// explainAmazon returns why DynamoDB could not be used, or "" if the error may be shown.
func explainAmazon(err error) string {
	if said, is := errors.AsType[smithy.APIError](err); is && !isNotMigrated(err) {
		return "it answers with " + said.ErrorCode() + ": check the credentials and what they allow"
	}
	if _, is := errors.AsType[*smithy.OperationError](err); is && reason(err) == "" {
		return noCredentials
	}
	return ""
}
