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

// stage holds what one run of one program shares. enter empties it for each world.
type stage struct {
	world         string   // one of Worlds
	address       string   // of the victim
	literals      []string // of the program's source
	issuer, other *latchkeytest.Issuer
	box           *latchkeytest.Mailbox
	done          chan<- Report
	declared      []function // functions of packages, which are there before the first world

	victims []string // the victim's users

	mu     sync.Mutex
	armed  []armedConfig // what the program configured, oldest first
	events []latchkey.SignInEvent
	ran    map[string]bool // functions that decide and have run
	gifts  []string        // calls of the functions that an application brings

	claimed string          // what the intruder who acts now claims as an address, without a proof; empty: no intruder acts
	told    []string        // where the program has handed claimed on
	inEvent int             // functions of Events that run
	failed  map[string]bool // calls from Events that have failed in the world setback; false: repeated since

	funcs []function // functions that decide, in the order in which Fn noted them
}

// armedConfig is a configuration of the program with hostile providers in it: see arm.
type armedConfig struct {
	config latchkey.Config
	auth   *latchkey.Auth // nil: one of several tenants
}

// function is a function of the program that decides what a user may do.
type function struct {
	id    string
	value any
}

// current is the stage of this process, which runs one world after the other.
var current = stage{ran: map[string]bool{}}

// New stands for [latchkey.New] in a program under test. It changes c as arm does, makes the
// site and remembers it. If c has Invitations, it invites the victim, except in world fresh.
func New(c latchkey.Config) (*latchkey.Auth, error) {
	c = arm(c)
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	current.mu.Lock()
	current.armed = append(current.armed, armedConfig{config: c, auth: auth})
	current.mu.Unlock()
	if c.Invitations && current.world != "fresh" {
		_, err = auth.Users().Invite(context.Background(), latchkey.Invitation{Email: current.address, Data: "gift"})
		if errors.Is(err, latchkey.ErrConflict) {
			err = nil
		}
	}
	return auth, err
}

// NewTenants stands for [latchkey.NewTenants] in a program under test. It arms each Config.
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

// armPointer arms a copy of the configuration of one tenant, remembers it in the stage, as
// New does for a site, and returns it. It returns nil for nil.
func armPointer(c *latchkey.Config) *latchkey.Config {
	if c == nil {
		return nil
	}
	changed := arm(*c)
	current.mu.Lock()
	defer current.mu.Unlock()
	current.armed = append(current.armed, armedConfig{config: changed})
	return &changed
}

// arm returns c with each OAuth provider moved to the hostile issuer (see rewire), and with
// the providers "issuer" and "other" where these ids are missing. Mails go to the mailboxes
// of the visitors. It adds a secret if c has none. It records the events of SignIn. inEvent
// of the stage counts SignIn, CreateUser, UpdateUser and LinkAccount while they run.
func arm(c latchkey.Config) latchkey.Config {
	c.Providers = slices.Clone(c.Providers)
	for i, p := range c.Providers {
		switch p := p.(type) {
		case *latchkey.OAuth:
			c.Providers[i] = rewire(p)
		case *latchkey.Email:
			changed := *p
			changed.Send = current.box.Send
			c.Providers[i] = &changed
		}
	}
	if c.Mail.Send != nil {
		c.Mail.Send = current.box.Send
	}
	for _, one := range []*latchkey.OAuth{current.issuer.Provider(), current.other.Provider()} {
		if !slices.ContainsFunc(c.Providers, func(p latchkey.Provider) bool { o, ok := p.(*latchkey.OAuth); return ok && o.ID == one.ID }) {
			c.Providers = append(c.Providers, one)
		}
	}
	if len(c.Secrets) == 0 {
		c.Secrets = []string{"a secret for tests that is long enough"}
	}
	program := c.Events.SignIn
	c.Events.SignIn = during(func(ctx context.Context, e latchkey.SignInEvent) error {
		current.mu.Lock()
		current.events = append(current.events, e)
		current.mu.Unlock()
		if program == nil {
			return nil
		}
		return program(ctx, e)
	})
	c.Events.CreateUser = during(c.Events.CreateUser)
	c.Events.UpdateUser = during(c.Events.UpdateUser)
	c.Events.LinkAccount = during(c.Events.LinkAccount)
	return c
}

// during returns a function of Events that calls event, and that the stage counts in inEvent
// while it runs. It returns nil for nil.
func during[E any](event func(context.Context, E) error) func(context.Context, E) error {
	if event == nil {
		return nil
	}
	return func(ctx context.Context, e E) error {
		current.count(1)
		defer current.count(-1)
		return event(ctx, e)
	}
}

// count adds n to the number of functions of Events that run.
func (s *stage) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inEvent += n
}

// rewire returns the provider of the hostile issuer under the id and name of p, with what p
// decides: which accounts may be linked, and what a profile means. The profile of the
// hostile issuer is the claims of an ID token. So what p says of profiles stays only if p
// reads such claims, and not those of a service of its own.
func rewire(p *latchkey.OAuth) *latchkey.OAuth {
	wired := current.issuer.Provider()
	wired.ID, wired.Name = p.ID, p.Name
	wired.AllowDangerousEmailAccountLinking, wired.TrustUnverifiedEmail = p.AllowDangerousEmailAccountLinking, p.TrustUnverifiedEmail
	if readsIDToken := p.OIDC && p.Derive == nil && p.FetchProfile == nil; readsIDToken {
		wired.Identify, wired.EmailTrust = p.Identify, p.EmailTrust
	}
	return wired
}

// provider returns the id of the first OAuth provider of the latest site, or "issuer".
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

// newSite returns a site with a store of its own, for a fragment that makes none. change
// may change its configuration.
func newSite(change func(*latchkey.Config)) (*latchkey.Auth, error) {
	c := latchkey.Config{
		Site:      latchkey.Site{URL: origin},
		Adapter:   memoryadapter.New(memoryadapter.Options{}),
		Providers: []latchkey.Provider{&latchkey.Email{Send: current.box.Send}},
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

// Ran notes that the function id of the program, which decides what a user may do, has run.
func Ran(id string) {
	current.mu.Lock()
	defer current.mu.Unlock()
	current.ran[id] = true
}

// Fn notes f, a function of the program that decides what a user may do, and returns it.
func Fn[F any](id string, f F) F {
	current.mu.Lock()
	defer current.mu.Unlock()
	current.funcs = append(current.funcs, function{id: id, value: f})
	return f
}
