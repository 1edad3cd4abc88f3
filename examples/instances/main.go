// Command instances runs a site twice behind a proxy that sends each request to
// the other one, on one SQLite file. Nothing sticks to an instance: sign-ins,
// sessions and magic links go on wherever the next request lands. Links are
// printed instead of sent.
package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"

	_ "modernc.org/sqlite"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
)

func main() {
	dir, err := os.MkdirTemp("", "instances")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	site, err := newSite("http://localhost:3000", filepath.Join(dir, "auth.db"), func(_ context.Context, m latchkey.Message) error {
		fmt.Println("Open", m.URL)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Print(http.ListenAndServe("localhost:3000", site))
}

// newSite is the proxy, with two instances behind it.
func newSite(siteURL, file string, send func(context.Context, latchkey.Message) error) (http.Handler, error) {
	secret := rand.Text() + rand.Text() // all instances have one: AUTH_SECRET
	var targets []*url.URL
	for name := range 2 {
		instance, err := newInstance(fmt.Sprint("instance ", name+1), siteURL, secret, file, send)
		if err != nil {
			return nil, err
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		go http.Serve(listener, instance)
		targets = append(targets, &url.URL{Scheme: "http", Host: listener.Addr().String()})
	}
	var turn atomic.Uint64
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(targets[turn.Add(1)%uint64(len(targets))])
		r.SetXForwarded()
	}}, nil
}

// newInstance is what a deployment would start many of.
func newInstance(name, siteURL, secret, file string, send func(context.Context, latchkey.Message) error) (http.Handler, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	if err := sqladapter.Migrate(context.Background(), db, sqladapter.SQLite, sqladapter.Options{}); err != nil {
		return nil, err
	}
	store, err := sqladapter.New(db, sqladapter.SQLite, sqladapter.Options{})
	if err != nil {
		return nil, err
	}
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{
			URL:            siteURL,                                               // as browsers know it, whatever the proxy says
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, // so that limits see visitors, not the proxy
		},
		Secrets:   []string{secret},
		Adapter:   store,
		Providers: []latchkey.Provider{&latchkey.Email{Send: send}},
	})
	if err != nil {
		return nil, err
	}
	site := http.NewServeMux()
	site.Handle("GET /{$}", auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := latchkey.SessionFrom(r.Context())
		fmt.Fprintf(w, "Hello, %s, from %s", s.User.Email, name)
	})))
	site.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		if err := db.PingContext(r.Context()); err != nil {
			http.Error(w, "no database", http.StatusServiceUnavailable)
		}
	})
	return auth.Middleware(site), nil
}
