package latchkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/cache"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/health"
	"github.com/latchkeyhq/latchkey/internal/later"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/secret"
)

// Func says how [NewFunc] finds the Config of a request.
type Func struct {
	// Config returns the Config of a request. It is called for each request, at times more than
	// once, and concurrently. A Config is prepared once and cached by its pointer: return the same
	// pointer again for the same settings, and do not change what it points to. r has no body. For
	// work without a request it has no Host and no path. An error that is [ErrNotFound] says that
	// there is no such site: the answer has status 404. [RedirectTo], with a path or a full
	// URL, and [RespondWith] answer the request in another way. Any other error, a nil
	// Config, and one that New would refuse, is a configuration error for that request.
	Config func(ctx context.Context, r *Request) (*Config, error)
	// CacheSize is how many prepared configurations are kept at one time; see
	// [Tenants].CacheSize. 0: 4,096; negative: one.
	CacheSize int
}

// NewFunc returns an Auth for a site that learns its settings from a request. It
// returns ErrInvalidConfig if f.Config is nil. A site of several tenants that makes a
// Config for each wants [NewTenants].
func NewFunc(f Func) (*Auth, error) {
	if f.Config == nil {
		return nil, failure.Wrap(ErrInvalidConfig, failure.Of(fault.ConfigInvalid, errors.New("Func.Config is nil: set it to a function that returns the Config of a request")))
	}
	setups := newLazySetups(f.CacheSize, func(ctx context.Context, r *Request) (tenant, error) {
		c, err := guarded.ContainResult(func() (*Config, error) { return f.Config(ctx, r) })
		if err == nil && c == nil {
			err = errors.New("NewFunc: no configuration for this request")
		}
		return tenant{key: c, config: func() (*Config, error) { return c, nil }}, err
	})
	setups.sites = cache.New[string, string](cache.Rules{Size: mostTenants})
	return &Auth{tenants: setups, life: health.NewLife(true), pool: setups.common.later}, nil
}

// Tenants says how [NewTenants] finds the tenant of a request and its Config. An
// error of either function that is [ErrNotFound], and an empty name, say that there is
// no such tenant: the request is answered with status 404, and the log says so at
// level INFO. [RedirectTo], with a path or a full URL, and [RespondWith] answer it in
// another way. Any other error is a configuration error for that request. Both
// functions are called concurrently.
type Tenants struct {
	// Name returns the name of the tenant that a request is for, by its host or
	// the first part of its path; r has no body. It should look the name up and
	// refuse what it does not know: a raw Host header has many spellings, and
	// each would be a tenant of its own.
	Name func(ctx context.Context, r *Request) (string, error)
	// Config makes the Config of a tenant. It is called once for each tenant in use, and
	// again after it returned an error. Its ctx never ends, as other requests may wait for
	// it. Its Config is kept, even one that [New] would refuse, until CacheSize drops it.
	Config func(ctx context.Context, tenant string) (*Config, error)
	// CacheSize is how many prepared configurations are kept at one time. Let
	// all tenants that are busy at one time fit in: preparing one takes longer
	// than a request. What providers publish is kept apart from them, for all.
	// 0: 4,096; negative: one.
	CacheSize int
}

// NewTenants returns an Auth for a site of several tenants. It returns
// ErrInvalidConfig if one of the functions is nil.
//
// Sessions, magic links, sign-ins under way and the counters of [Limits] belong
// to their tenant. Tenants that must not share people have an Adapter and secrets
// of their own.
//
// Work without a request, such as [Auth.Users] in a nightly job, names its
// tenant with [ContextWithTenant].
func NewTenants(t Tenants) (*Auth, error) {
	var faults failure.List
	if t.Name == nil {
		faults.Add(ErrInvalidConfig, "Tenants.Name is nil: set it to a function that names the tenant of a request")
	}
	if t.Config == nil {
		faults.Add(ErrInvalidConfig, "Tenants.Config is nil: set it to a function that makes the Config of a tenant")
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	setups := newLazySetups(t.CacheSize, func(ctx context.Context, r *Request) (tenant, error) {
		named, err := tenantOf(ctx, r, t.Name)
		return tenant{key: named, name: named, config: func() (*Config, error) {
			c, err := t.Config(context.WithoutCancel(ctx), named) // others wait for the answer
			if err == nil && c == nil {
				err = errors.New("NewTenants: no configuration for tenant " + named)
			}
			return c, err
		}}, err
	})
	return &Auth{tenants: setups, life: health.NewLife(true), pool: setups.common.later}, nil
}

// tenantOf returns the tenant that ctx names, else the one that name returns. An empty
// name of a tenant is an error.
func tenantOf(ctx context.Context, r *Request, name func(context.Context, *Request) (string, error)) (string, error) {
	named, ok := ctx.Value(tenantKey{}).(string)
	var err error
	if !ok {
		named, err = guarded.ContainResult(func() (string, error) { return name(ctx, r) })
	}
	if err == nil && named == "" {
		err = &unknownTenant{errors.New("NewTenants: no tenant for this request")}
	}
	if err != nil && isNoRequest(r) {
		err = fmt.Errorf("name the tenant of work without a request with latchkey.ContextWithTenant(ctx, tenant): %w", err)
	}
	return named, err
}

// tenantFault returns err, for which the application gives no configuration, as an
// ErrInvalidConfig. An ErrNotFound, redirect or response of the application is an
// unknownTenant, too.
func tenantFault(err error) error {
	if errors.Is(err, ErrNotFound) || isSteering(err) {
		err = &unknownTenant{err}
	}
	return failure.Wrap(ErrInvalidConfig, err)
}

// noRequest returns the request that work without a request shows to a function
// of the application.
func noRequest() *Request {
	return &Request{Method: http.MethodGet, URL: &url.URL{}, Header: http.Header{}}
}

// isNoRequest reports whether r is that of noRequest: a real request has a
// path.
func isNoRequest(r *Request) bool { return r.Host == "" && r.URL.Path == "" }

// mostTenants is the default of Tenants.CacheSize and Func.CacheSize.
const mostTenants = 4096

// tenant is which configuration a request wants.
type tenant struct {
	key    any // what it is remembered by
	name   string
	config func() (*Config, error)
}

// lazySetups prepares configurations on demand and caches them. What must not be
// forgotten with one of them, such as failed tries, is kept for all.
type lazySetups struct {
	find   func(ctx context.Context, r *Request) (tenant, error)
	client *http.Client // one pool of connections for all
	common common
	// blank renders errors of requests that have no setup at all.
	blank func() *setup

	prepared *setups
	mu       sync.Mutex
	made     []weak.Pointer[setup] // every one that may be in use, those out of the cache too
	// sites has the site of each secret, by the secret's hash. nil: tenants tell
	// sites with one secret apart.
	sites *cache.Cache[string, string]
}

// setups caches prepared configurations by the key of their tenant.
type setups = cache.Cache[any, prepared]

// prepared is what prepare said of a configuration. One that it refused is cached,
// too: it would refuse it again.
type prepared struct {
	setup *setup
	err   error
}

func newSetups(most int) *setups { return cache.New[any, prepared](cache.Rules{Size: most}) }

// newLazySetups returns an empty cache of size configurations; 0: mostTenants. find
// returns the configuration that a request wants.
func newLazySetups(size int, find func(context.Context, *Request) (tenant, error)) *lazySetups {
	return &lazySetups{
		find: find, common: common{oauth.NewShared(), limit.NewMemory(nil), limit.NewUsedValues(time.Now), limit.NewRecent(time.Now), new(later.Pool)},
		blank: sync.OnceValue(func() *setup {
			s, _ := prepare(Config{}.WithEnv(func(string) string { return "" }), "", common{})
			return s
		}),
		client: newHTTPClient(), prepared: newSetups(cmp.Or(size, mostTenants)),
	}
}

// setupFor returns the setup of a request. With an error the setup is nil, or renders
// that error.
func (t *lazySetups) setupFor(ctx context.Context, r *Request) (*setup, error) {
	which, err := t.find(ctx, r)
	if err != nil {
		return nil, tenantFault(err)
	}
	if found, ok := t.prepared.Get(which.key); ok {
		return found.setup, found.err
	}
	return t.add(ctx, which)
}

// add prepares a configuration and caches it, once for all requests that want it. A slow
// tenant holds up no other.
func (t *lazySetups) add(ctx context.Context, which tenant) (*setup, error) {
	found, err := t.prepared.Load(context.WithoutCancel(ctx), which.key, func(context.Context) (prepared, string, error) {
		s, err := guarded.ContainResult(func() (*setup, error) { return t.prepare(which) }) // its hooks may panic
		if s == nil {
			return prepared{}, "", err
		}
		return prepared{s, err}, "", nil
	})
	if err != nil {
		return nil, err
	}
	return found.setup, found.err
}

// prepare asks the application for the Config of a tenant and makes it ready.
func (t *lazySetups) prepare(which tenant) (*setup, error) {
	c, err := which.config()
	if err != nil {
		return nil, tenantFault(err)
	}
	shared := t.common
	if c.Runtime.Time != nil { // it lives in a time of its own
		shared = common{later: t.common.later}
	}
	s, err := prepare(t.share(*c), which.name, shared)
	t.warnOfOneSecret(s)
	if err == nil {
		t.remember(s)
	}
	return s, err
}

// remember adds a site to those of live, and forgets those that no work refers to.
func (t *lazySetups) remember(s *setup) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.made) == cap(t.made) {
		t.made = slices.DeleteFunc(t.made, func(p weak.Pointer[setup]) bool { return p.Value() == nil })
	}
	t.made = append(t.made, weak.Make(s))
}

// warnOfOneSecret warns of a site that has the secret of another one: whatever one
// of them seals, the other opens.
func (t *lazySetups) warnOfOneSecret(s *setup) {
	site := s.trust.origin.Text
	if t.sites == nil || site == "" {
		return
	}
	for _, own := range s.config.Secrets {
		if other := t.sites.GetOrAdd(secret.Hash(own), site); other != site {
			s.log.WarnAtStart("two sites have one secret, so that a session token of one opens the other: give each a secret of its own, or use NewTenants", "sites", other+" "+site)
			return
		}
	}
}

// live returns the sites that were prepared without an error and are in use. A site that
// was evicted from the cache is in use as long as it has sign-outs to finish.
func (t *lazySetups) live() (all []*setup) {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.made {
		if s := p.Value(); s != nil {
			all = append(all, s)
		}
	}
	return all
}

// share returns c with the HTTP client that all configurations share, unless c has its
// own.
func (t *lazySetups) share(c Config) Config {
	if c.Runtime.HTTPClient == nil {
		c.Runtime.HTTPClient = t.client
	}
	return c
}
