package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// settings is what all instances have in common.
type settings struct {
	siteURL     string // as browsers know it, whatever the proxy says
	databaseURL string
	redisURL    string            // empty: the database keeps everything
	strategy    latchkey.Strategy // empty: database sessions
	secret      string
	providers   []latchkey.Provider
}

// instance is one server of the site, with connections of its own.
type instance struct {
	name   string
	url    *url.URL
	server http.Server
	store  *store
	redis  *shared // nil: the database keeps everything
}

// newInstance starts what a deployment has many of.
func newInstance(ctx context.Context, name string, s settings) (_ *instance, err error) {
	i := &instance{name: name}
	defer func() {
		if err != nil {
			err = errors.Join(err, i.Close())
		}
	}()
	if i.store, err = openStore(ctx, s.databaseURL); err != nil {
		return nil, err
	}
	if s.redisURL != "" {
		if i.redis, err = openShared(s.redisURL); err != nil {
			return nil, err
		}
	}
	auth, err := latchkey.New(i.config(s))
	if err != nil {
		return nil, err
	}
	i.server.Handler = i.routes(auth)
	return i, i.listen()
}

func (i *instance) config(s settings) latchkey.Config {
	c := latchkey.Config{
		Site: latchkey.Site{
			URL:            s.siteURL,
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, // so that limits count visitors, not the proxy
		},
		Session:   latchkey.SessionConfig{Strategy: s.strategy},
		Secrets:   []string{s.secret},
		Adapter:   i.store.Adapter,
		Providers: s.providers,
	}
	if i.redis != nil {
		i.redis.share(&c)
	}
	return c
}

func (i *instance) routes(auth *latchkey.Auth) http.Handler {
	site := http.NewServeMux()
	site.Handle("GET /{$}", auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := latchkey.SessionFrom(r.Context())
		fmt.Fprintf(w, "Hello, %s, from %s", s.User.Email, i.name)
	})))
	site.Handle("GET /livez", auth.HealthHandler())
	site.Handle("GET /readyz", auth.HealthHandler())
	return auth.Middleware(site)
}

// Close stops the server and closes its connections.
func (i *instance) Close() error {
	err := i.server.Close()
	if i.redis != nil {
		err = errors.Join(err, i.redis.close())
	}
	if i.store != nil {
		err = errors.Join(err, i.store.close())
	}
	return err
}
