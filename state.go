package latchkey

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/lateheader"
)

// requestState is what the context of a request remembers: its configuration,
// and, from the first look, who is signed in.
type requestState struct {
	auth *Auth // nil: ContextWithSession has put the session there
	// header is that of the response, which then belongs to the goroutine that looks
	// first. The writer itself is not kept: frameworks reuse theirs. nil: late
	// collects what the response has to get.
	header  http.Header
	late    lateheader.Header
	r       *http.Request   // as it came
	neutral *neutralRequest // in its place, without net/http
	path    string          // as it came, or as neutral has it at first: a handler may rewrite it in place

	mu      sync.Mutex
	known   bool           // who is signed in
	config  *resolvedSetup // nil: not asked for yet, or the same for every request
	reading *reading
	err     error
	renewed []string // names of the cookies that keep the session alive
}

// resolvedSetup is the configuration that a request has got.
type resolvedSetup struct {
	setup *setup
	fault error
}

// stateKey is where a context has its requestState.
type stateKey struct{}

// stateIn returns the state in ctx. It returns nil if there is none, or if ctx
// has named another tenant since.
func stateIn(ctx context.Context) *requestState {
	state, _ := ctx.Value(stateKey{}).(*requestState)
	if state != nil && state.auth != nil && state.auth.tenants != nil && tenantIn(ctx) != tenantIn(state.context()) {
		return nil
	}
	return state
}

// isAbout reports whether r is the request of the state, or one that was made of it
// and would be judged alike.
func (s *requestState) isAbout(r *Request) bool {
	own, path := s.head()
	byTenant := s.auth.tenants != nil // whose functions may ask about any header
	return own != nil && isAlike(own, r, byTenant) && (!byTenant || isAtPath(path, r, isSameMap(own.Header, r.Header)))
}

// head does what request does, for callers that do not hold the lock. It returns the path
// beside it.
func (s *requestState) head() (own *Request, path string) {
	if s.neutral == nil {
		return requestHead(s.r), s.path
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	own = s.request()
	return own, s.path
}

// context returns the context of the request as it came.
func (s *requestState) context() context.Context {
	if s.neutral != nil {
		return s.neutral.ctx
	}
	return s.r.Context()
}

// request returns the head of the request, or nil if the request is over. s.mu is held.
func (s *requestState) request() *Request {
	n := s.neutral
	if n == nil {
		return requestHead(s.r)
	}
	if n.make != nil {
		if n.head, n.make = n.make(), nil; n.head != nil {
			s.path = urlPath(n.head.URL)
		}
	}
	return n.head
}

// concerns reports whether the session belongs to a, or was put into the
// context for every Auth.
func (s *requestState) concerns(a *Auth) bool { return s.auth == nil || s.auth == a }

// stateOf returns the state of r, or a new one, and r with a context that has it. A new state
// writes into the header that w has now, so the caller has to be the goroutine that answers.
func (a *Auth) stateOf(w http.ResponseWriter, r *http.Request) (*requestState, *http.Request) {
	if state := stateFor(a, r); state != nil {
		return state, r
	}
	state := &requestState{auth: a, header: w.Header(), r: r, path: urlPath(r.URL)}
	return state, r.WithContext(state.within(r.Context()))
}

// stateFor returns the state of r itself, or nil. A request that a handler has made of
// another one has its context, but may come with other credentials.
func stateFor(a *Auth, r *http.Request) *requestState {
	state := stateIn(r.Context())
	if state == nil || state.auth != a {
		return nil
	}
	if state.r == nil || state.r.Host != r.Host || !isSameMap(state.r.Header, r.Header) || a.tenants != nil { // which is seldom
		if !state.isAbout(requestHead(r)) {
			return nil
		}
	}
	return state
}

// within returns ctx with s, which takes over a session that [ContextWithSession] has
// put there. A session that another Auth has read is not one of s's.
func (s *requestState) within(ctx context.Context) context.Context {
	if given := stateIn(ctx); given != nil && given.auth == nil {
		given.mu.Lock()
		s.known, s.reading, s.err = true, given.reading, given.err
		given.mu.Unlock()
	}
	return context.WithValue(ctx, stateKey{}, s)
}

// setup returns the configuration for the request. It asks for it once.
func (s *requestState) setup() (*setup, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resolve()
}

// resolve does what setup does. The caller holds s.mu.
func (s *requestState) resolve() (*setup, error) {
	if s.auth.fixed != nil {
		return s.auth.fixed, nil
	}
	if s.config == nil {
		r := s.request()
		if r == nil {
			return nil, errOver
		}
		found, fault := findSetup(s.auth, s.context(), r)
		s.config = &resolvedSetup{found, fault}
	}
	return s.config.setup, s.config.fault
}

// session returns the session, which it reads at the first call. The cookies
// that keep the session alive go into the response.
func (s *requestState) session() (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.reading.session, nil
}

// sessionID returns the id of the session, if it was read. It does not wait for a
// call that is reading it, since that may be the caller's.
func (s *requestState) sessionID() string {
	if !s.mu.TryLock() {
		return ""
	}
	defer s.mu.Unlock()
	if s.reading == nil {
		return ""
	}
	return s.reading.session.ID
}

// read reads the session, unless that was done, and returns its error. s.mu is held.
func (s *requestState) read() error {
	if s.known {
		return s.err
	}
	s.known = true
	r, ctx := s.request(), s.context()
	if r == nil {
		s.err = errOver
		return s.err
	}
	found, fault := s.resolve()
	if fault != nil {
		s.err = failure.Public(fault)
		logUnread(ctx, found, fault)
		return s.err
	}
	x, err := readingExchange(found, r)
	if err != nil {
		s.err = failure.Public(err)
		logUnread(ctx, found, err)
		return s.err
	}
	s.reading, s.err = x.readSession(found.in(ctx), nil)
	s.renew(x)
	return s.err
}

// errOver reports that the framework has used the memory of the request for the next one.
var errOver = errors.New("latchkey: the request is over: look at the session in its handler")

// renew puts the cookies that keep the session alive into the response, and the headers
// that caches need. Cookies that the response has set or cleared already stand.
func (s *requestState) renew(x *exchange) {
	for _, c := range x.cookies.Out {
		s.renewed = append(s.renewed, c.Name)
	}
	s.inResponse(func(h http.Header) {
		addVary(h)
		if x.setup.config.Session.Bearer {
			addVaryBearer(h)
		}
		addRenewal(h, x.cookies.Out)
		if (len(x.cookies.Out) > 0 || x.credential.Bearer != nil) && h.Get("Cache-Control") == "" {
			// An answer that depends on who asks must not be shared by a cache.
			h["Cache-Control"] = []string{"private"}
		}
	})
}

// inResponse calls change with the header of the response, or with what is collected
// for it.
func (s *requestState) inResponse(change func(http.Header)) {
	if s.header != nil {
		change(s.header)
		return
	}
	s.late.Change(change)
}

// currentUser returns the stored user: the one that came with the session, else
// looked up, else what the session itself says.
func (s *requestState) currentUser(ctx context.Context, a *Auth) (User, error) {
	found, err := s.look()
	if err != nil {
		return User{}, err
	}
	u := found.user
	if u == nil { // without the lock: a store may look at the session
		if u, err = found.storedUser(ctx, func() (*setup, error) { return s.setupOf(ctx, a) }); err != nil {
			return User{}, err
		}
		s.remember(found, u)
	}
	return *u, nil
}

// look returns a copy of the reading of the session, which it makes at the first call.
func (s *requestState) look() (reading, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.read(); err != nil {
		return reading{}, err
	}
	return *s.reading, nil
}

// remember keeps the user of a session, if it is still the session.
func (s *requestState) remember(of reading, u *User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reading != nil && s.reading.session == of.session {
		s.reading.user = u
	}
}

// setupOf returns the setup with the store of the session's user: that of the request. For a
// session of [ContextWithSession] it is that of a, for the tenant in ctx; nil: none is known.
func (s *requestState) setupOf(ctx context.Context, a *Auth) (*setup, error) {
	switch {
	case s.auth != nil:
		return s.setup()
	case a.tenants != nil && tenantIn(ctx) != "":
		return a.tenants.setupFor(ctx, noRequest())
	}
	return a.fixed, nil
}

// storedUser returns the user of r from the store, or from the session without store or id.
func (r *reading) storedUser(ctx context.Context, setupOf func() (*setup, error)) (*User, error) {
	s, err := setupOf()
	if err != nil {
		return nil, failure.Public(err)
	}
	if s == nil || s.store == nil || r.session.UserID == "" {
		u := r.session.User
		return &User{ID: r.session.UserID, Name: u.Name, Email: u.Email, Image: u.Image, Extra: u.Extra}, nil
	}
	u, err := s.store.User(ctx, r.session.UserID)
	if errors.Is(err, ErrNotFound) {
		return nil, ErrNoSession
	}
	return &u, err
}

// setupFor returns the setup for a request: the one that ctx remembers, or else finds it.
func (a *Auth) setupFor(ctx context.Context, r *Request) (*setup, error) {
	if a.fixed != nil {
		return a.fixed, nil
	}
	if state := stateIn(ctx); state != nil && state.auth == a && state.isAbout(r) {
		return state.setup()
	}
	return findSetup(a, ctx, r)
}

// setupIn finds the setup for work without a request of its own: that of the
// request which the context belongs to, else of the tenant that it names.
func (a *Auth) setupIn(ctx context.Context) (*setup, error) {
	if a.fixed != nil {
		return a.fixed, nil
	}
	if state := stateIn(ctx); state != nil && state.auth == a {
		return state.setup()
	}
	return findSetup(a, ctx, noRequest())
}

func findSetup(a *Auth, ctx context.Context, r *Request) (*setup, error) {
	if a.tenants == nil {
		return nil, failure.Wrap(ErrInvalidConfig, failure.Of(fault.ConfigInvalid, errors.New("the zero Auth has no configuration: use New")))
	}
	return a.tenants.setupFor(ctx, r)
}

// setupOrBlank does what setupFor does, but orBlank replaces a nil setup.
func (a *Auth) setupOrBlank(ctx context.Context, r *Request) (*setup, error) {
	s, err := a.setupFor(ctx, r)
	return orBlank(a, s), err
}

// orBlank returns s. For nil it returns a setup that renders errors, for a zero Auth nil.
func orBlank(a *Auth, s *setup) *setup {
	if s == nil && a.tenants != nil {
		return a.tenants.blank()
	}
	return s
}
