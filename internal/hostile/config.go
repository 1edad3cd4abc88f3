// Package hostile runs the programs of the guides against hostile providers. The test
// TestGuidesGiveNothingAway of internal/arch compiles each program with this package in
// place of latchkey.New and of the calls that listen. A program keeps its own callbacks,
// events, guards, stores and handlers; this package brings the providers and the visitors.
package hostile

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// stage holds what one run of one program shares.
type stage struct {
	world         string
	address       string // of the victim
	literals      []string
	issuer, other *latchkeytest.Issuer
	box           *latchkeytest.Mailbox
	done          chan<- Report
	declared      []function // functions of packages, which are there before the first world

	victims []string // the victim's users

	mu     sync.Mutex
	armed  []armed // what the program configured, oldest first
	events []latchkey.SignInEvent
	ran    map[string]bool // functions that decide and have run
	gifts  []string        // calls of the functions that an application brings

	claimed string          // what the intruder who acts now claims as an address, without a proof; empty: no intruder acts
	told    []string        // where the program has handed claimed on
	inEvent int             // functions of Events that run
	failed  map[string]bool // calls from Events that have failed in the world setback; false: repeated since

	funcs []function
}

// armed is a configuration of the program with hostile providers in it.
type armed struct {
	config latchkey.Config
	auth   *latchkey.Auth // nil: one of several tenants
}

// function is a function of the program that decides.
type function struct {
	id    string
	value any
}

var now = stage{ran: map[string]bool{}}

// New stands for [latchkey.New] in a program under test. It arms c and remembers the
// site. If c has Invitations, it invites the victim, except in the world fresh.
func New(c latchkey.Config) (*latchkey.Auth, error) {
	c = arm(c)
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	now.mu.Lock()
	now.armed = append(now.armed, armed{c, auth})
	now.mu.Unlock()
	if c.Invitations && now.world != "fresh" {
		_, err = auth.Users().Invite(context.Background(), latchkey.Invitation{Email: now.address, Data: "gift"})
		if errors.Is(err, latchkey.ErrConflict) {
			err = nil
		}
	}
	return auth, err
}

// NewTenants stands for [latchkey.NewTenants] in a program under test.
func NewTenants(t latchkey.Tenants) (*latchkey.Auth, error) {
	configure := t.Config
	t.Config = func(ctx context.Context, tenant string) (*latchkey.Config, error) {
		c, err := configure(ctx, tenant)
		return armPointer(c), err
	}
	return latchkey.NewTenants(t)
}

// NewFunc stands for [latchkey.NewFunc] in a program under test. A configuration is
// armed once for each pointer.
func NewFunc(f latchkey.Func) (*latchkey.Auth, error) {
	var known sync.Map
	configure := f.Config
	f.Config = func(ctx context.Context, r *latchkey.Request) (*latchkey.Config, error) {
		c, err := configure(ctx, r)
		if err != nil {
			return c, err
		}
		if made, ok := known.Load(c); ok {
			return made.(*latchkey.Config), nil
		}
		made, _ := known.LoadOrStore(c, armPointer(c))
		return made.(*latchkey.Config), nil
	}
	return latchkey.NewFunc(f)
}

func armPointer(c *latchkey.Config) *latchkey.Config {
	if c == nil {
		return nil
	}
	changed := arm(*c)
	now.mu.Lock()
	defer now.mu.Unlock()
	now.armed = append(now.armed, armed{config: changed})
	return &changed
}

// arm points every provider of c to the hostile issuer, adds two of its own, and sends
// mails to the mailboxes of the visitors. What the program decides about a provider
// stays: which accounts may be linked, and what a profile means.
func arm(c latchkey.Config) latchkey.Config {
	c.Providers = slices.Clone(c.Providers)
	for i, p := range c.Providers {
		switch p := p.(type) {
		case *latchkey.OAuth:
			c.Providers[i] = rewire(p)
		case *latchkey.Email:
			changed := *p
			changed.Send = now.box.Send
			c.Providers[i] = &changed
		}
	}
	if c.Mail.Send != nil {
		c.Mail.Send = now.box.Send
	}
	c.Providers = append(c.Providers, now.issuer.Provider(), now.other.Provider())
	if len(c.Secrets) == 0 {
		c.Secrets = []string{"a secret for tests that is long enough"}
	}
	tell := c.Events.SignIn
	c.Events.SignIn = during(func(ctx context.Context, e latchkey.SignInEvent) error {
		now.mu.Lock()
		now.events = append(now.events, e)
		now.mu.Unlock()
		if tell == nil {
			return nil
		}
		return tell(ctx, e)
	})
	c.Events.CreateUser, c.Events.UpdateUser, c.Events.LinkAccount = during(c.Events.CreateUser), during(c.Events.UpdateUser), during(c.Events.LinkAccount)
	return c
}

// during returns tell, wrapped so that the stage knows while it runs. It returns nil for
// nil.
func during[E any](tell func(context.Context, E) error) func(context.Context, E) error {
	if tell == nil {
		return nil
	}
	return func(ctx context.Context, e E) error {
		now.count(1)
		defer now.count(-1)
		return tell(ctx, e)
	}
}

func (s *stage) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inEvent += n
}

// rewire returns the provider p at the hostile issuer.
func rewire(p *latchkey.OAuth) *latchkey.OAuth {
	wired := now.issuer.Provider()
	wired.ID, wired.Name = p.ID, p.Name
	wired.AllowDangerousEmailAccountLinking, wired.TrustUnverifiedEmail = p.AllowDangerousEmailAccountLinking, p.TrustUnverifiedEmail
	if p.OIDC && p.Derive == nil && p.FetchProfile == nil {
		wired.Identify, wired.EmailTrust = p.Identify, p.EmailTrust
	}
	return wired
}

// provider returns the id of the first OAuth provider of the latest site.
func (s *stage) provider() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range slices.Backward(s.armed) {
		for _, p := range a.config.Providers {
			if p, ok := p.(*latchkey.OAuth); ok {
				return p.ID
			}
		}
	}
	return "issuer"
}

// start starts two issuers, each with an identifier of its own. It also remembers which
// functions were declared before the first world.
func (s *stage) start() (err error) {
	if s.issuer, err = latchkeytest.StartIssuer(latchkeytest.IssuerConfig{ID: "issuer", Algorithm: "ES256"}); err != nil {
		return err
	}
	s.other, err = latchkeytest.StartIssuer(latchkeytest.IssuerConfig{ID: "other", Algorithm: "ES256"})
	s.declared = s.funcs
	return err
}

// base returns a site with a store of its own, for a fragment that makes none. change
// may change its configuration.
func base(change func(*latchkey.Config)) (*latchkey.Auth, error) {
	c := latchkey.Config{
		Site:      latchkey.Site{URL: origin},
		Adapter:   memoryadapter.New(memoryadapter.Options{}),
		Providers: []latchkey.Provider{&latchkey.Email{Send: now.box.Send}},
	}
	change(&c)
	if c.Site.URL == "" {
		c.Site.URL = origin
	}
	if c.Adapter == nil {
		c.Adapter = memoryadapter.New(memoryadapter.Options{})
	}
	return New(c)
}

// Listen stands for [net.Listen] in a program under test. The port is a free one.
func Listen(string, string) (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

// Ran notes that a function of the program that decides has run.
func Ran(id string) {
	now.mu.Lock()
	defer now.mu.Unlock()
	now.ran[id] = true
}

// Fn notes a function of the program that decides, and returns it.
func Fn[F any](id string, f F) F {
	now.mu.Lock()
	defer now.mu.Unlock()
	now.funcs = append(now.funcs, function{id, f})
	return f
}
