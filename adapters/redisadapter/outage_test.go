package redisadapter_test

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestOutage: R-465, a site whose server refuses to serve for now, then for good, and
// is gone.
func TestOutage(t *testing.T) {
	server, issuer := realservers.NewRedisPrimary(t), latchkeytest.NewIssuer(t)
	client := closing(t, redis.NewClient(&redis.Options{Addr: server.Addr, ContextTimeoutEnabled: true, DialerRetries: 1, MaxRetries: -1}))
	auth, err := latchkey.New(latchkey.Config{
		Adapter: on(t, client, redisadapter.Options{}), Providers: []latchkey.Provider{issuer.Provider()},
		Site:    latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
		Secrets: []string{"a secret of a good length for all tests"},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
	})
	ok(t, err)
	browser := latchkeytest.NewClient(t, auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})))
	browser.SignIn(issuer)
	see := func(when string, status int) {
		t.Helper()
		p := browser.Get("/board")
		if p.Status != status || (p.Header.Get("Retry-After") != "") != (status == http.StatusServiceUnavailable) {
			t.Errorf("%s: %d, %v\n%s", when, p.Status, p.Header, p.Body)
		}
	}
	see("it serves", http.StatusTeapot)
	server.Ask(t, "CONFIG SET replica-serve-stale-data no")
	server.Ask(t, "REPLICAOF 127.0.0.1 1")
	see("it waits for its primary", http.StatusServiceUnavailable)
	server.Ask(t, "REPLICAOF NO ONE")
	see("it serves again", http.StatusTeapot)
	server.Ask(t, "ACL SETUSER default -get -mget")
	see("the operator has something to mend", http.StatusInternalServerError)
	server.Ask(t, "ACL SETUSER default +@all")
	see("it is mended", http.StatusTeapot)
	server.Crash()
	see("its connection has broken", http.StatusServiceUnavailable)
	see("nobody is there", http.StatusServiceUnavailable)
}
