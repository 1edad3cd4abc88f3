package sitetest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// setsSession reports whether an answer keeps a session alive.
func setsSession(h http.Header) bool {
	return strings.Contains(strings.Join(h["Set-Cookie"], "\n"), "session-token=")
}

// TestLookingBeside is R-526: goroutines of a handler may look at the session while it
// answers. What they find reaches the response if it has not begun, and no header is
// touched beside the goroutine that answers. It found, with the race detector, that
// the first look wrote to the header of the response from any goroutine.
func TestLookingBeside(t *testing.T) {
	s, b := newEnteredSite(t)
	const timeout = time.Hour // is never reached
	for name, mount := range map[string]func(http.Handler) http.Handler{
		"LoadSession": s.auth.LoadSession,
		"Middleware":  s.auth.Middleware,
		"a guard":     s.auth.RequireSession,
		"a TimeoutHandler around LoadSession": func(h http.Handler) http.Handler {
			return http.TimeoutHandler(s.auth.LoadSession(h), timeout, "late")
		},
		"a TimeoutHandler inside of LoadSession": func(h http.Handler) http.Handler {
			return s.auth.LoadSession(http.TimeoutHandler(h, timeout, "late"))
		},
	} {
		t.Run("R-526 "+name, func(t *testing.T) {
			page := mount(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var looking sync.WaitGroup
				for range 4 {
					looking.Go(func() { latchkey.SessionFrom(r.Context()) })
				}
				for i := range 200 {
					w.Header().Add("Set-Cookie", fmt.Sprint("own", i%3, "=1"))
				}
				looking.Wait()
				_, _ = io.WriteString(w, "here")
			}))
			for range 20 {
				a := httptest.NewRecorder()
				page.ServeHTTP(a, b.request(http.MethodGet, "/shop", "", ""))
				if got := a.Result().Header; a.Code != http.StatusOK || !setsSession(got) || len(got["Set-Cookie"]) < 201 {
					t.Fatalf("status %d, %d cookies", a.Code, len(got["Set-Cookie"]))
				}
			}
		})
	}
}

// TestLookingLate is R-526: a session that is looked at when the answer has begun
// changes no header, whoever looks, and a handler that timed out does not hold up the
// answer. If a late look writes to the response, it finds that for every way to begin
// one, and for a handler that timed out.
func TestLookingLate(t *testing.T) {
	s, b := newEnteredSite(t)
	for name, begin := range map[string]func(http.ResponseWriter){
		"a status":      func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) },
		"a body":        func(w http.ResponseWriter) { _, _ = w.Write([]byte("x")) },
		"text":          func(w http.ResponseWriter) { _, _ = io.WriteString(w, "x") },
		"a flush":       func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
		"a flush error": func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() },
	} {
		t.Run("R-526 "+name, func(t *testing.T) {
			a := httptest.NewRecorder()
			s.auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				begin(w)
				if latchkey.SessionFrom(r.Context()) == nil {
					t.Error("nobody is signed in")
				}
			})).ServeHTTP(a, b.request(http.MethodGet, "/shop", "", ""))
			if setsSession(a.Header()) {
				t.Errorf("the header has changed: %v", a.Header())
			}
		})
	}
	t.Run("R-526 an informational status begins nothing", func(t *testing.T) {
		a := httptest.NewRecorder()
		s.auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			latchkey.SessionFrom(r.Context())
		})).ServeHTTP(a, b.request(http.MethodGet, "/shop", "", ""))
		if !setsSession(a.Header()) {
			t.Errorf("no cookie: %v", a.Header())
		}
	})
	t.Run("R-526 a slow store does not hold up the answer", func(t *testing.T) {
		asked, answered := make(chan struct{}), make(chan struct{})
		slow := newSite(t, func(c *latchkey.Config) {
			c.Callbacks.Session = func(_ context.Context, in latchkey.SessionInfo) (*latchkey.Session, error) {
				close(asked)
				<-answered
				return in.Session, nil
			}
		})
		b := slow.newBrowser()
		b.signIn()
		a, done := httptest.NewRecorder(), make(chan struct{})
		slow.auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			go func() {
				defer close(done)
				latchkey.SessionFrom(r.Context())
			}()
			<-asked
			w.WriteHeader(http.StatusServiceUnavailable) // as a TimeoutHandler would
		})).ServeHTTP(a, b.request(http.MethodGet, "/shop", "", ""))
		close(answered)
		<-done
		if a.Code != http.StatusServiceUnavailable || setsSession(a.Header()) {
			t.Errorf("status %d, %v", a.Code, a.Header())
		}
	})
}

// TestClonedRequest is R-527: all ways to ask who is signed in agree for one request,
// by its own credentials. It found that guards judged a clone without credentials by
// the request that it was made of.
func TestClonedRequest(t *testing.T) {
	s := newSite(t)
	ada, stranger := s.newBrowser(), s.newBrowser()
	ada.signIn()
	cookies := ada.request(http.MethodGet, "/shop", "", "").Header["Cookie"]
	clones := map[string]struct {
		change func(*http.Request)
		own    bool // signed in
	}{
		"as it is":                 {func(*http.Request) {}, true},
		"with a header more":       {func(r *http.Request) { r.Header.Set("X-Request-Id", "1") }, true},
		"with another path":        {func(r *http.Request) { r.URL.Path = "/elsewhere" }, true},
		"without credentials":      {func(r *http.Request) { r.Header.Del("Cookie") }, false},
		"with credentials of none": {func(r *http.Request) { r.Header.Set("Cookie", "authjs.session-token=x") }, false},
	}
	for name, c := range clones {
		t.Run("R-527 "+name, func(t *testing.T) {
			for _, outer := range []bool{true, false} {
				b := ada
				if !outer {
					b = stranger
				}
				s.auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					latchkey.SessionFrom(r.Context())
					clone := r.Clone(r.Context())
					c.change(clone)
					proveAgreement(t, s.auth, clone, c.own && outer)
					if got := latchkey.SessionFrom(r.Context()) != nil; got != outer {
						t.Errorf("the outer request: signed in %t", got)
					}
				})).ServeHTTP(httptest.NewRecorder(), b.request(http.MethodGet, "/shop", "", ""))
			}
		})
	}
	t.Run("R-527 with credentials of a member", func(t *testing.T) {
		s.auth.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			latchkey.SessionFrom(r.Context())
			clone := r.Clone(r.Context())
			clone.Header["Cookie"] = cookies
			proveAgreement(t, s.auth, clone, true)
		})).ServeHTTP(httptest.NewRecorder(), stranger.request(http.MethodGet, "/shop", "", ""))
	})
}

// proveAgreement asks in every way that takes a request whether it is signed in.
func proveAgreement(t *testing.T, auth *latchkey.Auth, r *http.Request, want bool) {
	t.Helper()
	passes := func(guard func(http.Handler) http.Handler) bool {
		passed := false
		guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			s, err := auth.Session(r.Context())
			passed = latchkey.SessionFrom(r.Context()) != nil && s != nil && err == nil
		})).ServeHTTP(httptest.NewRecorder(), r)
		return passed
	}
	neutral := &latchkey.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: r.Header, RemoteAddr: r.RemoteAddr, TLS: r.TLS != nil}
	core := auth.Core()
	read, _ := auth.ReadSession(httptest.NewRecorder(), r)
	forms, err := auth.Forms(httptest.NewRecorder(), r)
	if err != nil {
		t.Fatal(err)
	}
	fromCore, _, _ := core.ReadSession(r.Context(), neutral)
	access := core.Authorize(r.Context(), neutral, func(_ *latchkey.Request, s *latchkey.Session) error {
		if s == nil {
			return latchkey.ErrNoSession
		}
		return nil
	})
	route := httptest.NewRecorder()
	session := r.Clone(r.Context())
	session.URL.Path = "/auth/session"
	auth.ServeHTTP(route, session)
	for way, got := range map[string]bool{
		"RequireSession": passes(auth.RequireSession), "LoadSession": passes(auth.LoadSession), "Middleware": passes(auth.Middleware),
		"Attach":      latchkey.SessionFrom(auth.Attach(httptest.NewRecorder(), r).Context()) != nil,
		"ReadSession": read != nil, "Forms": forms.Session != nil,
		"Core.ReadSession": fromCore != nil, "Core.Authorize": access.Response == nil && access.Session != nil,
		"the route": strings.Contains(route.Body.String(), "user"),
	} {
		if got != want {
			t.Errorf("%s: signed in %t, want %t", way, got, want)
		}
	}
}
