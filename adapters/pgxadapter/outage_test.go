package pgxadapter_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestOutage: R-465, a site whose server is stopped, and started again.
func TestOutage(t *testing.T) {
	server, issuer := realservers.Postgres(t, true), latchkeytest.NewIssuer(t)
	pool, err := pgxpool.New(t.Context(), server.DSN("postgres"))
	ok(t, err)
	t.Cleanup(pool.Close)
	ok(t, pgxadapter.Migrate(t.Context(), pool, pgxadapter.Options{}))
	auth, err := latchkey.New(latchkey.Config{
		Adapter: adapter(t, pool, pgxadapter.Options{}), Providers: []latchkey.Provider{issuer.Provider()},
		Site:        latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
		Secrets:     []string{"a secret of a good length for all tests"},
		AccountPage: latchkey.AccountPage{Enabled: true},
		Runtime:     latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
	})
	ok(t, err)
	browser := latchkeytest.NewClient(t, auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})))
	browser.SignIn(issuer)
	before := browser.Cookie("authjs.session-token")
	server.Stop()
	for range 2 { // a connection that has broken, and one that cannot be made
		for _, path := range []string{"/board?x=1", "/auth/account"} {
			p := browser.Get(path)
			if p.Status != http.StatusServiceUnavailable || p.Header.Get("Retry-After") == "" || !strings.Contains(string(p.Body), path+`">Try again`) {
				t.Errorf("%s: %d, %v\n%s", path, p.Status, p.Header, p.Body)
			}
		}
	}
	if now := browser.Cookie("authjs.session-token"); before == nil || now == nil || now.Value != before.Value {
		t.Errorf("the cookie was %v and is %v", before, now)
	}
	server.Restart(t)
	pool.Reset()
	if p := browser.Get("/board"); p.Status != http.StatusTeapot {
		t.Errorf("the server is back: %d %s", p.Status, p.Body)
	}
}
