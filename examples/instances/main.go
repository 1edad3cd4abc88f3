// Command instances runs a site twice behind a proxy that sends each request to the
// other instance. Sign-ins, sessions and magic links go on wherever the next request
// lands. Links are printed instead of sent.
//
// The environment chooses where data lives:
//
//	DATABASE_URL      postgres://…, mysql://… or sqlite:path; unset: a temporary SQLite file
//	REDIS_URL         redis://… keeps sessions, limits, used values and revocations, beside users in
//	                  the database; with ?addr=host:port for each further node, a cluster
//	SESSION_STRATEGY  jwt keeps sessions in the cookie instead of the database
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/latchkeyhq/latchkey"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "instances")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := start(context.Background(), settings{
		siteURL:     "http://localhost:3000",
		databaseURL: cmp.Or(os.Getenv("DATABASE_URL"), "sqlite:"+filepath.Join(dir, "auth.db")),
		redisURL:    os.Getenv("REDIS_URL"),
		strategy:    latchkey.Strategy(os.Getenv("SESSION_STRATEGY")),
		secret:      rand.Text() + rand.Text(), // a deployment sets AUTH_SECRET, the same for all instances
		providers: []latchkey.Provider{&latchkey.Email{Send: func(_ context.Context, m latchkey.Message) error {
			fmt.Println("Open", m.URL)
			return nil
		}}},
	})
	if err != nil {
		return err
	}
	defer b.Close()
	fmt.Println("http://localhost:3000")
	return http.ListenAndServe("localhost:3000", b)
}

// balancer is a proxy that sends each request to the next instance.
type balancer struct {
	*httputil.ReverseProxy
	instances []*instance
	next      atomic.Uint64
}

// start starts two instances and a balancer in front of them. The caller closes it.
func start(ctx context.Context, s settings) (_ *balancer, err error) {
	b := &balancer{}
	b.ReverseProxy = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(b.instances[b.next.Add(1)%uint64(len(b.instances))].url)
		r.SetXForwarded()
	}}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	for n := range 2 {
		i, err := newInstance(ctx, fmt.Sprint("instance ", n+1), s)
		if err != nil {
			return nil, err
		}
		b.instances = append(b.instances, i)
	}
	return b, nil
}

// Close stops the instances.
func (b *balancer) Close() (err error) {
	for _, i := range b.instances {
		err = errors.Join(err, i.Close())
	}
	return err
}

// listen serves i on a free port of the loopback interface until i is closed.
func (i *instance) listen() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	i.url = &url.URL{Scheme: "http", Host: listener.Addr().String()}
	go i.server.Serve(listener)
	return nil
}
