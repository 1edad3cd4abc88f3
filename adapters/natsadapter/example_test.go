package natsadapter_test

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/natsadapter"
	"github.com/latchkeyhq/latchkey/providers"
)

func ExampleNew() {
	serve := func(ctx context.Context, nc *nats.Conn) error {
		js, err := jetstream.New(nc)
		if err != nil {
			return err
		}
		o := natsadapter.Options{Replicas: 3}
		if err := natsadapter.Migrate(ctx, js, "my-app-auth", o); err != nil {
			return err
		}
		store, err := natsadapter.New(ctx, js, "my-app-auth", o)
		if err != nil {
			return err
		}
		_, err = latchkey.New(latchkey.Config{
			Site:      latchkey.Site{URL: "https://app.example"},
			Secrets:   []string{"a secret of at least 32 characters, from openssl rand"},
			Adapter:   store,
			Providers: []latchkey.Provider{providers.GitHub(latchkey.OAuth{ClientID: "id", ClientSecret: "secret"})},
		})
		return err
	}
	_ = serve

	_, err := natsadapter.New(context.Background(), nil, "my-app-auth", natsadapter.Options{})
	fmt.Println(err)
	// Output: natsadapter: JetStream and a bucket are needed
}
