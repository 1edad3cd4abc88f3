package latchkey

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

// Auth answers every request under its base path and tells the rest of the
// application who is signed in. It is an [http.Handler], made by [New] or
// [NewFunc], and safe for concurrent use. The zero Auth refuses everybody.
type Auth struct {
	// resolve finds the setup for a request. With an error, the setup is what
	// the error is rendered with, and may be nil.
	resolve func(ctx context.Context, r *Request) (*setup, error)
	fixed   *setup // the setup of every request; nil: it depends
	// blank renders errors of requests that have no setup at all; nil: JSON will do.
	blank func() *setup
}

// New checks c and returns an Auth that behaves as it says. What c leaves empty
// comes from the environment; see [Config.WithEnv]. The error joins everything
// that is wrong with c, each part naming the field and the cure; every part is
// an [*Error].
func New(c Config) (*Auth, error) {
	s, err := prepare(c, os.Getenv)
	if err != nil {
		return nil, err
	}
	return fixedAuth(s), nil
}

func fixedAuth(s *setup) *Auth {
	return &Auth{fixed: s, resolve: func(context.Context, *Request) (*setup, error) { return s, nil }}
}

// NewFunc returns an Auth that asks configure for its Config on every request,
// for sites that serve several tenants or learn their settings from a request.
// A Config is prepared once and remembered, so return the same pointer again
// for the same tenant; do not change what it points to. An error, and a Config
// that New would refuse, is a configuration error for that request.
func NewFunc(configure func(ctx context.Context, r *Request) (*Config, error)) *Auth {
	known := newSetups()
	blank := sync.OnceValue(func() *setup {
		s, _ := prepare(Config{}, func(string) string { return "" })
		return s
	})
	return &Auth{blank: blank, resolve: func(ctx context.Context, r *Request) (*setup, error) {
		c, err := containResult(func() (*Config, error) { return configure(ctx, r) })
		if err != nil {
			return nil, ErrInvalidConfig.because(err)
		}
		if c == nil {
			return nil, ErrInvalidConfig.because(errors.New("NewFunc: no configuration for this request"))
		}
		return known.get(c)
	}}
}

// mostSetups bounds what NewFunc remembers.
const mostSetups = 256

// setups remembers prepared configurations by pointer. What must not be
// forgotten with one of them, such as failed tries, is kept for all.
type setups struct {
	limiter Limiter
	once    OneTimeStore

	mu   sync.RWMutex
	made map[*Config]func() (*setup, error)
}

func newSetups() *setups {
	return &setups{
		limiter: NewMemoryLimiter(nil), once: newUsedValues(time.Now),
		made: map[*Config]func() (*setup, error){},
	}
}

// get prepares c, once, outside the lock: a slow tenant holds up nobody else.
func (k *setups) get(c *Config) (*setup, error) {
	k.mu.RLock()
	made := k.made[c]
	k.mu.RUnlock()
	if made == nil {
		made = k.add(c)
	}
	return made()
}

func (k *setups) add(c *Config) func() (*setup, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if made := k.made[c]; made != nil {
		return made
	}
	for old := range k.made {
		if len(k.made) < mostSetups {
			break
		}
		delete(k.made, old) // any: the busy ones come back at once
	}
	made := sync.OnceValues(func() (*setup, error) {
		return containResult(func() (*setup, error) { return prepare(k.share(*c), os.Getenv) }) // its hooks may panic
	})
	k.made[c] = made
	return made
}

// share gives c what all configurations remember together, unless it lives in
// a time of its own.
func (k *setups) share(c Config) Config {
	if c.Time != nil {
		return c
	}
	if c.Limits.Limiter == nil {
		c.Limits.Limiter = k.limiter
	}
	if c.Limits.UsedOnce == nil {
		c.Limits.UsedOnce = k.once
	}
	return c
}

// ServeHTTP answers r. Mount it on the base path: "/auth/".
func (a *Auth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.respondHTTP(w, r)
}

func (a *Auth) respondHTTP(w http.ResponseWriter, r *http.Request) {
	limit := defaultBodyLimit
	if a.fixed != nil {
		limit = a.fixed.Limits.Body
	}
	req, err := fromHTTP(r, limit)
	switch {
	case errors.Is(err, ErrBodyTooLarge):
		w.Header().Set("Connection", "close")
		jsonText(http.StatusRequestEntityTooLarge, "Request body too large.").Send(w)
	case err != nil:
		badRequest(req).Send(w)
	default:
		a.Respond(r.Context(), req).Send(w)
	}
}

// Respond answers r for any web framework. An error becomes a page, a redirect
// or JSON, as the browser expects it.
func (a *Auth) Respond(ctx context.Context, r *Request) *Response {
	v, res, err := a.answer(ctx, r)
	if err != nil {
		res = a.render(ctx, v, r, err)
	}
	if v != nil && res.Redirect != "" && v.wantsJSON() {
		res = asJSON(res)
	}
	return res
}

// Do answers r and leaves errors to the caller: what the original calls raw. An
// error from a callback that was meant for the visitor is an [*Error]; its
// cookies are lost with it.
func (a *Auth) Do(ctx context.Context, r *Request) (*Response, error) {
	v, res, err := a.answer(ctx, r)
	if err != nil {
		return nil, v.handOut(err)
	}
	return res, nil
}

// handOut is err as the application gets it: an *Error whose text repeats
// nothing secret of this visit, so that it may be logged.
func (v *visit) handOut(err error) error {
	err = publicError(err)
	e, ok := errors.AsType[*Error](err)
	if _, fault := errors.AsType[*configFault](err); !ok || fault || v == nil || e.Err == nil {
		return err
	}
	clean := *e
	clean.Err = &blottedError{v.blot(e.Err.Error()), e.Err}
	return &clean
}

// blottedError is a cause that can be recognized but not read.
type blottedError struct {
	text  string
	cause error
}

func (b *blottedError) Error() string        { return b.text }
func (b *blottedError) Is(target error) bool { return errors.Is(b.cause, target) }
func (b *blottedError) As(target any) bool   { return errors.As(b.cause, target) }

// publicError is err as an *Error, whatever it was.
func publicError(err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if t, ok := errors.AsType[ErrorType](err); ok {
		return t.because(nil)
	}
	return ErrCallbackRoute.because(err)
}

// answer is the road of every request under the base path.
func (a *Auth) answer(ctx context.Context, r *Request) (v *visit, res *Response, err error) {
	s, err := a.setupFor(ctx, r)
	if s == nil && a.blank != nil {
		s = a.blank()
	}
	if s == nil {
		return nil, nil, &configFault{err}
	}
	v, bad := newVisit(s, r)
	if bad != nil {
		return v, nil, bad
	}
	if untrusted := v.enter(); err == nil { // an error page is better off knowing where the site is
		err = untrusted
	}
	if err == nil {
		err = v.checkAddresses()
	}
	if err != nil {
		return v, nil, &configFault{err}
	}
	return v.walk(ctx)
}

func (a *Auth) setupFor(ctx context.Context, r *Request) (*setup, error) {
	if a.fixed != nil {
		return a.fixed, nil
	}
	if a.resolve == nil {
		return nil, ErrInvalidConfig.because(errors.New("the zero Auth has no configuration: use New"))
	}
	return a.resolve(ctx, r)
}

// walk answers inside the house: from here on panics end in an error, and
// everything that happened is told.
func (v *visit) walk(ctx context.Context) (same *visit, res *Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			same, res, err = v, nil, panicked(p)
		}
	}()
	if v.fromElsewhere() {
		return v, jsonText(http.StatusForbidden, "Cross-site request refused."), nil
	}
	res, err = v.route(ctx)
	v.tellAll(ctx)
	if err != nil {
		return v, nil, err
	}
	res.Cookies = append(res.Cookies, v.set...)
	return v, res, nil
}

// configFault marks an error that was found before the request was looked at.
type configFault struct{ error }

func (c *configFault) Unwrap() error { return c.error }

// render decides, here and nowhere else, what a browser gets for an error. See
// errors on the wire in docs/protocol.md.
func (a *Auth) render(ctx context.Context, v *visit, r *Request, err error) *Response {
	if errors.Is(err, errBadRequest) || errors.Is(err, errBadHost) {
		return badRequest(r)
	}
	if v == nil {
		logUnprepared(err)
		return configJSON()
	}
	v.logFailure(err)
	if fault, ok := errors.AsType[*configFault](err); ok {
		return v.renderFault(fault)
	}
	if v.isPost() && v.action == "session" {
		return jsonBytes(http.StatusBadRequest, null)
	}
	return v.renderError(err)
}

// renderFault: pages show the error page, everything else is JSON.
func (v *visit) renderFault(err error) *Response {
	switch v.action {
	case "signin", "signout", "error", "verify-request", "account":
		if !v.isPost() {
			break
		}
		fallthrough
	default:
		return configJSON()
	}
	if v.Pages.Error == "" || v.leadsToErrorPage() {
		return v.errorPage("Configuration")
	}
	return &Response{Redirect: v.absolute(withQuery(v.Pages.Error, "error", "Configuration"))}
}

// leadsToErrorPage: the application's own error page asked for a sign-in, and
// would be shown again for ever.
func (v *visit) leadsToErrorPage() bool {
	path := v.Pages.Error
	if u, err := url.Parse(path); err == nil {
		path = u.Path
	}
	to := v.query.Get("callbackUrl")
	if to == "" || !startsWithPath(to, path) {
		return false
	}
	v.log.error(v, ErrErrorPageLoop.because(errors.New("the error page Pages.Error itself asks for a sign-in")))
	return true
}

func startsWithPath(address, path string) bool {
	u, err := url.Parse(address)
	return err == nil && len(u.Path) >= len(path) && u.Path[:len(path)] == path
}

// renderError sends the visitor to the page that fits the error.
func (v *visit) renderError(err error) *Response {
	t := typeOf(err)
	params := []string{"error", string(t.shown())}
	if t == ErrCredentialsSignin {
		e, _ := errors.AsType[*Error](err)
		code := "credentials"
		if e != nil && e.Code != "" {
			code = e.Code
		}
		params = append(params, "code", code)
	}
	own, route := v.Pages.Error, "error"
	if t.onSignInPage() {
		own, route = v.Pages.SignIn, "signin"
	}
	if own == "" {
		own = v.path(route)
	}
	return &Response{Redirect: v.absolute(withQuery(own, params...))}
}

// wantsJSON: scripts ask for addresses instead of redirects.
func (v *visit) wantsJSON() bool {
	_, asked := v.request.Header["X-Auth-Return-Redirect"]
	return asked
}

// panicked turns a panic into an error. It keeps the stack for the log.
func panicked(p any) error { return &panicError{p, debug.Stack()} }

type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return "panic in a callback, adapter or handler" }

// contain runs code of the application's so that its panic is an error.
func contain(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return f()
}

// containResult is contain for functions with a result.
func containResult[T any](f func() (T, error)) (result T, err error) {
	err = contain(func() (err error) { result, err = f(); return err })
	return result, err
}
