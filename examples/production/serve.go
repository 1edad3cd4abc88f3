package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey"
)

// How long the end may take. With DRAIN the sum should be below what the platform waits
// before it kills the process: 30 seconds in Kubernetes.
const (
	requestsEnd = 15 * time.Second
	leftoverEnd = 8 * time.Second
)

// serve serves the site, and health and metrics on another port, until ctx ends or a
// server fails. It returns nil if all requests, and what they have left to do, are done.
func serve(ctx context.Context, s settings, pool *pgxpool.Pool, logger *slog.Logger, ways []latchkey.Provider) error {
	auth, metrics, err := newAuth(s, pool, logger, ways)
	if err != nil {
		return err
	}
	site := newServer(s.listen, newSite(auth), logger)
	operations := newServer(s.operations, newOperations(auth, metrics), logger)
	private, err := net.Listen("tcp", operations.Addr)
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	go func() { failed <- operations.Serve(private) }()
	go func() { failed <- site.ListenAndServe() }()
	logger.Info("started", "site", s.listen, "operations", s.operations)
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	return errors.Join(err, stop(auth, site, operations, s.drain))
}

// newServer returns a server with timeouts, of which http.Server has none by itself.
// WriteTimeout is longer than what a provider may take. Pages that stream set deadlines of
// their own with http.ResponseController.
func newServer(addr string, h http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    128 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
}

// newOperations returns what load balancers and Prometheus ask. Browsers do not reach it.
func newOperations(auth *latchkey.Auth, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/livez", auth.HealthHandler())
	mux.Handle("/readyz", auth.HealthHandler())
	mux.Handle("GET /metrics", metrics)
	return mux
}

// stop ends the site so that no request is lost: it is unready first and still answers,
// then takes no more requests and finishes those that run, and then does what they have
// left, such as lines of the audit log. Health is answered to the end.
func stop(auth *latchkey.Auth, site, operations *http.Server, drain time.Duration) error {
	auth.Drain()
	time.Sleep(drain) // the load balancer notices
	err := within(requestsEnd, site.Shutdown)
	err = errors.Join(err, within(leftoverEnd, auth.Shutdown))
	return errors.Join(err, operations.Close())
}

// within calls end with a context that ends after d.
func within(d time.Duration, end func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return end(ctx)
}
