package latchkey

import (
	"context"
	"net/http"
)

// Auth answers every request under its base path and tells the rest of the
// application who is signed in. It is an [http.Handler], made by [New],
// [NewFunc] or [NewTenants], and safe for concurrent use. The zero Auth refuses
// everybody.
type Auth struct {
	hidden

	fixed   *setup   // the setup of every request; nil: it depends
	tenants *tenants // nil: there is one setup
}

// New checks c and returns an Auth that behaves as it says. What c leaves empty
// comes from the environment; see [Config.WithEnv]. The error joins everything
// that is wrong with c, each part naming the field and the cure; every part is
// an [*Error].
func New(c Config) (*Auth, error) {
	s, err := prepare(c, "", nil)
	if err != nil {
		return nil, err
	}
	return &Auth{fixed: s}, nil
}

// ServeHTTP answers r. Mount it on the base path: "/auth/".
func (a *Auth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := requestHead(r)
	s, fault := a.setupOrBlank(r.Context(), req)
	serveHTTP(w, r, req, s, fault)
}

// Sweep removes the sessions, magic links and revocations that have expired,
// and says how many rows went. Nothing depends on it but the size of the
// tables: what has expired is dead anyway. Call it now and then, from one
// instance. It needs an Adapter that is a [SweepAdapter].
func (a *Auth) Sweep(ctx context.Context) (int, error) {
	s, err := a.setupWithStore(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.store.require("Sweep", abilitySweep); err != nil {
		return 0, err
	}
	return s.store.sweep(ctx, s.now())
}
