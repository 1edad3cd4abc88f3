package latchkey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/journal"
)

// Health is what an instance knows of itself. Its parts are known from calls that were
// made anyway, so that asking costs nothing.
type Health struct {
	Ready bool // the store has answered HealthHandler, or there is none; false after Drain
	Parts []HealthPart
}

// HealthPart is one part that a site depends on: "store" or, once it was called,
// "sessions", "limiter", "replay", "mail" or a provider, such as "provider acme".
type HealthPart struct {
	Name  string
	State string    // "up", "down", or "unknown" for a store that was not called yet
	Since time.Time // when it was first seen so; zero: unknown
}

// Health returns what the instance knows of itself. It calls no provider and no store. With an
// Adapter, Ready is false until the store has answered [Auth.HealthHandler]. With [NewFunc]
// and [NewTenants] it has no Parts.
func (a *Auth) Health(context.Context) Health {
	h := Health{Ready: a.life.IsReady()}
	if a.fixed == nil {
		return h
	}
	for _, p := range a.fixed.health.Parts() {
		state, since := p.State()
		h.Parts = append(h.Parts, HealthPart{p.Name, string(state), since})
	}
	return h
}

// HealthHandler answers paths that end in /livez with status 200, and paths that end in
// /readyz with status 200 or 503, in one word. Any other path gets status 404, and any
// method but GET and HEAD status 405. Mount it where load balancers can reach it and,
// preferably, no other client can.
//
// An instance is live while it answers. It is ready from the first answer of the store to
// the handler until [Auth.Drain]. Before that answer the handler asks the store at most once
// a second; what the store answers to others does not count. A later outage does not make
// the instance unready, because it would make all instances unready at once. Without an
// Adapter, and with [NewFunc] or [NewTenants], an instance is ready at once.
func (a *Auth) HealthHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, word := http.StatusNotFound, "unknown"
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			status, word = http.StatusMethodNotAllowed, "method"
		case strings.HasSuffix(r.URL.Path, "/livez"):
			status, word = http.StatusOK, "live"
		case strings.HasSuffix(r.URL.Path, "/readyz"):
			status, word = http.StatusServiceUnavailable, "unready"
			if a.life.Ready(time.Now(), func() bool { return probe(a, r.Context()) }) {
				status, word = http.StatusOK, "ready"
			}
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(word + "\n"))
	})
}

// probe asks the store for an account that does not exist, and reports whether the store
// answers. Any error but ErrNotFound is no answer and is logged, such as that of a table
// that is missing, also that of a required audit log. a has to have a store.
func probe(a *Auth, ctx context.Context) bool {
	s := a.fixed
	err := directory.Probe(context.WithoutCancel(ctx), s.store, s.config.Operations.Audit.Required)
	if err != nil {
		s.log.Error(ctx, journal.NoSubject{}, err, "alert", true, "meanwhile", "this instance is not ready")
	}
	return err == nil
}

// Drain makes the instance unready from now on. Requests are answered as before, so
// that none is lost until the load balancer has noticed.
func (a *Auth) Drain() { a.life.Drain() }

// Shutdown drains and then waits for what requests have left to do: mails, lines of
// [Audit], provider tokens that are renewed or revoked, and sign-outs that a store could
// not take. Call it after [http.Server.Shutdown]. What is not done when ctx ends is
// dropped. The error says how much that was, and with [New] a line in the log does, too.
// A second call waits for the first and returns its error, or that of its own ctx if that
// ends before. Shutdown closes the idle connections to providers, unless
// Runtime.HTTPClient is the application's. Functions that were handed to
// Runtime.Background are the application's to wait for.
func (a *Auth) Shutdown(ctx context.Context) error {
	a.Drain()
	if a.life == nil {
		return nil
	}
	return a.life.Stop(ctx.Done(), ctx.Err, func() error { return finish(a, ctx) })
}

// finish does the work of Shutdown after Drain. It returns an error that says how much
// was dropped, or nil if nothing was.
func finish(a *Auth, ctx context.Context) error {
	defer closeIdle(a)
	sites, pool, ends := a.tenants.live(), a.pool, 0
	if a.fixed != nil {
		sites, pool = []*setup{a.fixed}, a.fixed.mails.pool
	}
	for _, s := range sites {
		s.flush(ctx)
		ends += s.lateEnds.Finish(ctx)
	}
	n := pool.Wait(ctx)
	if n == 0 { // all of it was done, and may have told of something
		for _, s := range sites {
			s.flush(ctx)
		}
		n = pool.Wait(ctx)
	}
	var left []string
	if n > 0 {
		left = append(left, fmt.Sprintf("%d mails or other functions", n))
	}
	if ends > 0 {
		left = append(left, fmt.Sprintf("%d sign-outs that the store has not taken", ends))
	}
	if len(left) == 0 {
		return nil
	}
	err := errors.New("latchkey: dropped at shutdown: " + strings.Join(left, ", "))
	if a.fixed != nil {
		a.fixed.log.Alert(err.Error())
	}
	return err
}

// closeIdle closes the idle connections to providers, so that no goroutine of theirs is
// left. It leaves those of an HTTP client of the application's alone.
func closeIdle(a *Auth) {
	switch {
	case a.tenants != nil:
		a.tenants.client.CloseIdleConnections()
	case a.fixed.ownClient != nil:
		a.fixed.ownClient.CloseIdleConnections()
	}
}
