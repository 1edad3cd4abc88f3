// Command production is a site as a deployment runs it. It has what the list of
// docs/deployment.md asks of a program: settings from the environment, timeouts, logs in
// JSON, an audit log in PostgreSQL, health and metrics on a port of their own, and an end
// that loses no request. "production migrate" makes the tables, and "production sweep"
// removes what has expired.
//
// The environment:
//
//	AUTH_SECRET, AUTH_URL              the secret, and the site as browsers know it
//	AUTH_GITHUB_ID, AUTH_GITHUB_SECRET the OAuth app at GitHub
//	DATABASE_URL                       postgres://user:password@host/database
//	TRUSTED_PROXIES                    networks of the proxies, such as 10.0.0.0/8,fd00::/8; empty: none
//	LISTEN, LISTEN_OPERATIONS          host:port of the site, and of health and metrics
//	DRAIN                              how long a load balancer takes to notice /readyz; 5s unless set
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/providers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	logger := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	slog.SetDefault(logger)
	if err := run(ctx, os.Args[1:], os.Stdout, providers.GitHub(latchkey.OAuth{})); err != nil {
		logger.Error("stopped", "error", err)
		os.Exit(1)
	}
}

// run does what the command line says until ctx ends. It writes the log to out.
func run(ctx context.Context, args []string, out io.Writer, ways ...latchkey.Provider) error {
	s, err := settingsFrom(os.Getenv)
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, s.databaseURL) // connects when it is first used
	if err != nil {
		return fmt.Errorf("DATABASE_URL: %w", err)
	}
	defer pool.Close()
	logger := slog.New(slog.NewJSONHandler(out, nil))
	switch {
	case len(args) == 0:
		return serve(ctx, s, pool, logger, ways)
	case args[0] == "migrate":
		return pgxadapter.Migrate(ctx, pool, pgxadapter.Options{})
	case args[0] == "sweep":
		return sweep(ctx, s, pool, logger, ways)
	}
	return fmt.Errorf("unknown command %q: want migrate, sweep or none", args[0])
}

// newAuth returns the sign-in of the site, and the handler of its metrics. AUTH_SECRET,
// AUTH_URL and the keys of the providers come from the environment.
func newAuth(s settings, pool *pgxpool.Pool, logger *slog.Logger, ways []latchkey.Provider) (*latchkey.Auth, http.Handler, error) {
	store, err := pgxadapter.New(pool, pgxadapter.Options{})
	if err != nil {
		return nil, nil, err
	}
	tracer, metrics, err := newMetrics()
	if err != nil {
		return nil, nil, err
	}
	auth, err := latchkey.New(latchkey.Config{
		Hardened:  true,
		Site:      latchkey.Site{TrustedProxies: s.proxies},
		Adapter:   store,
		Providers: ways,
		Runtime:   latchkey.Runtime{Logger: logger},
		Operations: latchkey.Operations{
			Tracer:        tracer,
			Audit:         latchkey.Audit{Store: true},
			ShowReference: true,
			RolloutGrace:  10 * time.Minute,
		},
	})
	return auth, metrics, err
}

// newSite returns the pages of the site. Guards decide by the session, and what is a
// user's own is kept by Session.UserID: an e-mail address need not be proven.
func newSite(auth *latchkey.Auth) http.Handler {
	site := http.NewServeMux()
	site.Handle("GET /{$}", auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, "Hello, %s", latchkey.SessionFrom(r.Context()).User.Name)
	})))
	// Inside of the library, whose routes have a protection of their own.
	return auth.Middleware(http.NewCrossOriginProtection().Handler(site))
}

// sweep removes what has expired, and events of the audit log after 400 days. Run it once
// a day, from one place.
func sweep(ctx context.Context, s settings, pool *pgxpool.Pool, logger *slog.Logger, ways []latchkey.Provider) error {
	auth, _, err := newAuth(s, pool, logger, ways)
	if err != nil {
		return err
	}
	n, err := auth.Sweep(ctx)
	if err == nil {
		logger.Info("swept", "rows", n)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	if late := auth.Shutdown(end); err == nil { // mails that were due
		err = late
	}
	return err
}
