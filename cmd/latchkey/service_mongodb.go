package main

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkeyhq/latchkey/adapters/mongoadapter"
)

// openMongoDB returns the service of a URL such as
// mongodb://user:password@host,host/name?options. The driver connects at the first call.
// A malformed URL is a wrongUsage.
func openMongoDB(rawURL string) (*service, error) {
	_, rest, _ := strings.Cut(rawURL, "://")
	hosts, path, _ := strings.Cut(rest, "/")
	hosts = hosts[strings.LastIndexByte(hosts, '@')+1:]
	name, _, _ := strings.Cut(path, "?")
	if hosts == "" || !isName(name) {
		return nil, usage("%w", errDatabaseURL)
	}
	o := options.Client().ApplyURI(rawURL).SetServerSelectionTimeout(connectTimeout)
	if o.Validate() != nil {
		return nil, usage("%w", errDatabaseURL)
	}
	client, err := mongo.Connect(o)
	if err != nil {
		return nil, usage("%w", errDatabaseURL)
	}
	db := client.Database(name)
	return &service{
		where: fmt.Sprintf("MongoDB database %q at %s", name, hosts),
		check: func(ctx context.Context) ([]string, error) {
			return mongoadapter.Warnings(ctx, db, mongoadapter.Options{})
		},
		migrate: func(ctx context.Context) ([]string, error) {
			if err := mongoadapter.Migrate(ctx, db, mongoadapter.Options{}); err != nil {
				return nil, err
			}
			return mongoadapter.Warnings(ctx, db, mongoadapter.Options{})
		},
		store: func(context.Context) (serviceStore, error) { return mongoadapter.New(db, mongoadapter.Options{}) },
		explain: func(err error) string {
			if mongo.IsTimeout(err) {
				return nobodyThere
			}
			return ""
		},
		close: func() { _ = client.Disconnect(context.Background()) },
	}, nil
}
