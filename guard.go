package latchkey

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
)

// Session returns who is signed in, or ErrNoSession. Any other error is a
// fault: nothing is known, so treat the visitor as nobody. It renews no cookie;
// behind [Auth.LoadSession] use [SessionFrom], which does.
func (a *Auth) Session(r *http.Request) (*Session, error) {
	s, _, err := a.ReadSession(r.Context(), requestHead(r))
	return s, err
}

// ReadSession is Session for any framework. It also returns the cookies that
// keep the session alive, or clear one that has ended, for the response.
func (a *Auth) ReadSession(ctx context.Context, r *Request) (*Session, []*http.Cookie, error) {
	v, err := a.reading(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	s, err := v.readSession(ctx, nil)
	return s, v.set, err
}

// reading prepares a visit that only reads.
func (a *Auth) reading(ctx context.Context, r *Request) (*visit, error) {
	s, err := a.setupFor(ctx, r)
	if err != nil {
		return nil, publicError(err)
	}
	v, err := readingVisit(s, r)
	if err != nil {
		return nil, publicError(err)
	}
	return v, nil
}

// Match reports whether r is for Latchkey: its path is the base path or below
// it. With [NewFunc] this asks for the configuration.
func (a *Auth) Match(r *http.Request) bool {
	s, _ := a.setupFor(r.Context(), requestHead(r))
	if s == nil && a.blank != nil {
		s = a.blank() // better an error page than the application's own answer
	}
	if s == nil {
		return false
	}
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), s.BasePath)
	return ok && (rest == "" || rest[0] == '/')
}

// sessionKey is where LoadSession leaves the session in a context.
type sessionKey struct{}

// lazySession reads the session when somebody first looks.
type lazySession struct {
	auth *Auth
	w    http.ResponseWriter
	r    *http.Request

	mu      sync.Mutex
	known   bool
	session *Session
	err     error
}

// settle says what the session is from now on: the application has just
// changed or ended it, and the cookie that came with the request is history.
func (l *lazySession) settle(s *Session, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.session, l.err = true, s, err
}

// settleSession is settle for the session in a request's context, if there is one.
func settleSession(r *http.Request, s *Session, err error) {
	if l, ok := r.Context().Value(sessionKey{}).(*lazySession); ok {
		l.settle(s, err)
	}
}

func (l *lazySession) read() (*Session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.known {
		l.known = true
		var cookies []*http.Cookie
		l.session, cookies, l.err = l.auth.ReadSession(l.r.Context(), requestHead(l.r))
		for _, c := range cookies {
			addCookie(l.w.Header(), c)
		}
		if len(cookies) > 0 && l.w.Header().Get("Cache-Control") == "" {
			// An answer that depends on who asks must not be shared by a cache.
			l.w.Header()["Cache-Control"] = []string{"private"}
		}
	}
	return l.session, l.err
}

// LoadSession makes the session available to next through [SessionFrom]. It is
// read when somebody first looks, and then kept alive: the renewed cookie goes
// into the response. A request whose handler never looks costs next to nothing.
// Look before writing the body.
func (a *Auth) LoadSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, r = a.lazyOf(w, r)
		next.ServeHTTP(w, r)
	})
}

// SessionFrom returns the session of the request whose context this is. It is
// false for nobody, on any fault, and without [Auth.LoadSession] or one of the
// guards in front. The first call may set a cookie, so it belongs to the handler's
// own goroutine; later ones may come from any.
func SessionFrom(ctx context.Context) (*Session, bool) {
	l, ok := ctx.Value(sessionKey{}).(*lazySession)
	if !ok {
		return nil, false
	}
	s, err := l.read()
	return s, err == nil && s != nil
}

// lazyOf finds or makes the lazy session of a request.
func (a *Auth) lazyOf(w http.ResponseWriter, r *http.Request) (*lazySession, *http.Request) {
	if l, ok := r.Context().Value(sessionKey{}).(*lazySession); ok && l.auth == a {
		return l, r
	}
	l := &lazySession{auth: a, w: w, r: r}
	return l, r.WithContext(context.WithValue(r.Context(), sessionKey{}, l))
}

// RequireSession lets next see only requests of people who are signed in; the
// others are sent to the sign-in page and come back afterwards. Scripts that
// ask for JSON get status 401.
func (a *Auth) RequireSession(next http.Handler) http.Handler {
	return a.Authorize(func(_ context.Context, s *Session, _ *http.Request) error {
		if s == nil {
			return ErrNoSession
		}
		return nil
	})(next)
}

// Authorize is a guard that asks the application. decide gets the session, nil
// for nobody, and answers nil to let the request pass, [RedirectTo] to send the
// visitor elsewhere, [RespondWith] to answer the request itself, and any other
// error to send the visitor to the sign-in page. A page is never redirected to
// itself: one of Config.Pages passes, any other is answered with status 403.
//
// A guard denies on every fault: a store that does not answer, a panic, a
// configuration that is wrong.
func (a *Auth) Authorize(decide func(ctx context.Context, s *Session, r *http.Request) error) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			l, r := a.lazyOf(w, r)
			s, err := l.read()
			if err != nil && !errors.Is(err, ErrNoSession) {
				configJSON().Send(w)
				return
			}
			err = contain(func() error { return decide(r.Context(), s, r) })
			if err == nil {
				next.ServeHTTP(w, r)
				return
			}
			a.refuse(w, r, next, err)
		})
	}
}

// refuse answers a request that a guard did not let pass.
func (a *Auth) refuse(w http.ResponseWriter, r *http.Request, next http.Handler, why error) {
	if own, ok := errors.AsType[*ownResponse](why); ok {
		own.res.Send(w)
		return
	}
	v, err := a.reading(r.Context(), requestHead(r))
	if err != nil {
		configJSON().Send(w)
		return
	}
	here := v.origin.text + r.URL.RequestURI()
	to := v.signInAddress(here)
	if elsewhere, ok := errors.AsType[*redirect](why); ok {
		if to, err = v.landing(r.Context(), elsewhere.to); err != nil {
			configJSON().Send(w)
			return
		}
	} else if p, ok := errors.AsType[*panicError](why); ok {
		v.log.error(v, p)
		configJSON().Send(w)
		return
	}
	switch {
	case !samePage(to, here):
	case v.isAuthPage(r.URL.EscapedPath()):
		next.ServeHTTP(w, r) // the sign-in page itself is never guarded from those who need it
		return
	default:
		jsonText(http.StatusForbidden, "Access denied.").Send(w)
		return
	}
	if wantsOnlyJSON(r) {
		jsonText(http.StatusUnauthorized, "Sign in to access this.").Send(w)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	(&Response{Redirect: to}).Send(w)
}

// samePage compares two addresses without their queries.
func samePage(a, b string) bool {
	a, _, _ = strings.Cut(a, "?")
	b, _, _ = strings.Cut(b, "?")
	return strings.TrimRight(a, "/") == strings.TrimRight(b, "/")
}

// isAuthPage: a page of ours, or one that the application shows in its place.
func (v *visit) isAuthPage(path string) bool {
	if rest, ok := strings.CutPrefix(path, v.BasePath); ok && (rest == "" || rest[0] == '/') {
		return true
	}
	for _, own := range []string{v.Pages.SignIn, v.Pages.SignOut, v.Pages.Error, v.Pages.VerifyRequest, v.Pages.NewUser} {
		if own != "" && samePage(v.absolute(own), v.origin.text+path) {
			return true
		}
	}
	return false
}

func wantsOnlyJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, jsonType) && !strings.Contains(accept, "text/html")
}

// Handle is one middleware for a whole site: requests below the base path are
// answered, all others reach next with the session in their context.
func (a *Auth) Handle(next http.Handler) http.Handler {
	loaded := a.LoadSession(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.Match(r) {
			a.ServeHTTP(w, r)
			return
		}
		loaded.ServeHTTP(w, r)
	})
}
