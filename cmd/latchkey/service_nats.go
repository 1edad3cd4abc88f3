package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/latchkeyhq/latchkey/adapters/natsadapter"
)

// openNATS connects to the server of a URL such as
// nats://user:password@host:4222/bucket?replicas=3. The parameter creds names a file of
// credentials. Only a migration needs replicas. A malformed URL is a wrongUsage.
func openNATS(rawURL string) (*service, error) {
	u, err := url.Parse(rawURL)
	if err == nil && u.Host != "" && strings.Trim(u.Path, "/") == "" {
		return nil, usage("%w", errNoBucket)
	}
	if err != nil || u.Host == "" || !isName(strings.Trim(u.Path, "/")) {
		return nil, usage("%w", errDatabaseURL)
	}
	bucket, q := strings.Trim(u.Path, "/"), u.Query()
	where := fmt.Sprintf("NATS bucket %q at %s", bucket, u.Host)
	o := []nats.Option{nats.Timeout(connectTimeout)}
	if creds := q.Get("creds"); creds != "" {
		o = append(o, nats.UserCredentials(creds))
	}
	u.Path, u.RawQuery = "", ""
	nc, err := nats.Connect(u.String(), o...)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", where, explainNATS(err))
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("%s: %s", where, brokenAnswer)
	}
	return &service{
		where: where,
		check: func(ctx context.Context) ([]string, error) {
			return natsadapter.Warnings(ctx, js, bucket, natsadapter.Options{})
		},
		migrate: func(ctx context.Context) ([]string, error) {
			replicas, err := strconv.Atoi(q.Get("replicas"))
			if err != nil || replicas < 1 {
				return nil, errors.New("say how many copies it shall have: ?replicas=3 behind its name, or 1 on a single server")
			}
			o := natsadapter.Options{Replicas: replicas}
			if err := natsadapter.Migrate(ctx, js, bucket, o); err != nil {
				return nil, err
			}
			return natsadapter.Warnings(ctx, js, bucket, o)
		},
		store: func(ctx context.Context) (serviceStore, error) {
			return natsadapter.New(ctx, js, bucket, natsadapter.Options{})
		},
		explain: func(error) string { return "" },
		close:   nc.Close,
	}, nil
}

var errNoBucket = errors.New("name the bucket: nats://host:4222/bucket")

// explainNATS returns why a connection failed. It repeats nothing of err.
func explainNATS(err error) string {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return refusedUser
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrTimeout):
		return nobodyThere
	}
	return brokenAnswer
}
