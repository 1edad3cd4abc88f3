package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/latchkeyhq/latchkey/adapters/dynamoadapter"
)

// openDynamoDB returns the service of a URL such as dynamodb://table?region=eu-central-1.
// The parameter endpoint names another server, and layout=authjs is the layout of Auth.js.
// A missing region and the credentials come from p.env or from the settings of Amazon's
// tools. A malformed URL or another layout is a wrongUsage. No request goes to the table.
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
		store:   func(context.Context) (serviceStore, error) { return dynamoadapter.New(client, table, o) },
		explain: explainAmazon,
		close:   func() {},
	}, nil
}

// amazon returns the options for the region and the credentials in p.env, which may come
// from --env-file. A region that is not empty takes the place of AWS_REGION.
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

const (
	unknownKeys     = "it does not know these credentials: check the access key and its secret"
	expiredKeys     = "the credentials have expired: get new ones"
	tooManyRequests = "there are too many requests for it: give the table more capacity, or try again later"
	amazonDown      = "it has a fault of its own: try again later"
	beingChanged    = "the table is being made or changed: try again in a minute"
	refusedByAmazon = "it refuses this request: check region, credentials and what they allow"
)

// amazonCures has what to do about the error codes of AWS, without the word Exception at
// their end.
var amazonCures = map[string]string{
	"UnrecognizedClient": unknownKeys, "InvalidClientTokenId": unknownKeys, "InvalidSignature": unknownKeys, "SignatureDoesNotMatch": unknownKeys,
	"IncompleteSignature": unknownKeys, "MissingAuthenticationToken": unknownKeys, "ExpiredToken": expiredKeys,
	"AccessDenied": "the credentials do not allow this: let them read, write and describe the table",
	"Throttling":   tooManyRequests, "ProvisionedThroughputExceeded": tooManyRequests, "RequestLimitExceeded": tooManyRequests,
	"ResourceNotFound": "there is no such table in this region: check table and region, or run `latchkey migrate`",
	"ResourceInUse":    beingChanged, "LimitExceeded": beingChanged,
	"InternalServerError": amazonDown, "InternalFailure": amazonDown, "ServiceUnavailable": amazonDown,
}

// explainAmazon returns why DynamoDB could not be used and what to do about it. It
// returns "" for an error that another text explains, or whose own text may be shown.
func explainAmazon(err error) string {
	if said, is := errors.AsType[smithy.APIError](err); is && !isNotMigrated(err) {
		text := amazonCures[strings.TrimSuffix(said.ErrorCode(), "Exception")]
		return cmp.Or(text, refusedByAmazon) + " (AWS calls it " + said.ErrorCode() + ")"
	}
	if _, is := errors.AsType[*smithy.OperationError](err); is && reason(err) == "" && !isNotMigrated(err) {
		return noCredentials
	}
	return ""
}
