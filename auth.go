package latchkey

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/health"
	"github.com/latchkeyhq/latchkey/internal/later"
)

// Auth answers every request under its base path and tells the rest of the
// application who is signed in. It is an [http.Handler], made by [New],
// [NewFunc] or [NewTenants], and safe for concurrent use. The zero Auth refuses
// everybody.
type Auth struct {
	hidden

	fixed   *setup      // the setup of every request; nil: it depends
	tenants *lazySetups // nil: there is one setup
	life    *health.Life
	pool    *later.Pool // of all tenants; nil: there is one setup
}

// New checks c and returns an Auth that behaves as it says. What c leaves empty
// comes from the environment; see [Config.WithEnv]. The error joins everything
// that is wrong with c, each part naming the field and the cure; every part is
// an [*Error].
func New(c Config) (*Auth, error) {
	s, err := prepare(c, "", common{})
	if err != nil {
		return nil, err
	}
	return &Auth{fixed: s, life: health.NewLife(s.store == nil)}, nil
}

// ServeHTTP answers r, which is for one of the paths that [Auth.Routes] returns. Mount it
// on the base path, such as "/auth/", without [http.StripPrefix]. If something takes a part
// of the path off all the same, set [Site].Prefix.
func (a *Auth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := requestHead(r)
	s, fault := a.setupOrBlank(r.Context(), req)
	serveHTTP(w, r, req, s, fault)
}

// Routes returns the paths that are for Latchkey as patterns of [http.ServeMux], such as
// "/auth/signin" and "/auth/callback/{name}": for routers that want each route by itself,
// so that other paths below the base path stay free. group is the prefix of a group of
// the router, which the patterns leave out: with a base path of /api/auth, Routes("/api")
// returns "/auth/signin" and so on. Empty or "/": there is no group. Routes returns an
// error if the base path is not below group.
//
// An Auth that [NewFunc] or [NewTenants] made knows no configuration before a request.
// Routes then returns every path that a configuration can switch on, and takes group as
// the base path: Routes("/api/auth") returns "/signin" and so on. With an empty group the
// base path is /auth, and Routes returns "/auth/signin" and so on.
func (a *Auth) Routes(group string) ([]string, error) {
	if a.fixed == nil {
		return routesBelow(cmp.Or(strings.TrimRight(group, "/"), defaultBasePath), group, isServed)
	}
	c := &a.fixed.config
	return routesBelow(c.Site.BasePath, group, c.offersAction)
}

// Sweep removes the rows that have expired from the Adapter and from
// [SessionConfig].Store, each if it is a [storage.SweepAdapter], which lists the kinds of
// rows. Other stores let their rows expire. With [AccountPage].Activity it also removes
// the activities that are older than 90 days, and with [Audit].Store it removes or erases
// events as [Audit].Keep and KeepPersonal say. Sweep returns how many rows it has removed
// or erased. It also begins to send the mails that are due by [Factors].RecoveryDelay and
// by [users.EmailChange].Recover, if Site.URL is set. Call it now and then, from one
// instance. An expired row is void in any case: only the size of the tables depends on
// Sweep. On a site of [NewTenants] it works for the tenant that ctx names: call it for
// each tenant, with [ContextWithTenant].
//
// Each store gets [Limits].StoreTimeout; if that does not suffice, Sweep returns
// [storage.ErrUnfinished] with how many rows it has removed, and the next call goes on.
// Other errors are ErrMissingAdapter, ErrAudit, those of a store and, if ctx names no
// tenant that exists, ErrInvalidConfig.
func (a *Auth) Sweep(ctx context.Context) (int, error) {
	s, err := setupWithStore(ctx, a)
	if err != nil {
		return 0, err
	}
	remindOfDelays(s, ctx, ownLinks(s))
	n, err := s.store.Sweep(ctx, s.now())
	if s.config.AccountPage.Activity {
		pruned, failed := directory.PruneActivities(ctx, s.store, s.now())
		n, err = n+pruned, errors.Join(err, failed)
	}
	pruned, failed := pruneAudit(ctx, s)
	return n + pruned, errors.Join(err, failed)
}
