package sitetest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// WriteError answers for a handler as a guard in front of it would.
func TestWriteError(t *testing.T) {
	s, user, store := newAwaySite(t, func(c *latchkey.Config) { c.Pages.SignIn = "/login" })
	visitor := s.newPerson()
	signIn := siteOrigin + "/login?callbackUrl=" + url.QueryEscape(siteOrigin+"/note")
	for policy, c := range map[string]struct {
		by       *browser
		how      http.Header
		target   string
		err      error
		status   int
		location string
	}{
		"a visitor without a session is led to the sign-in page":      {visitor, opens, "/note", latchkey.ErrNoSession, 302, signIn},
		"a script without a session is told to sign in":               {visitor, fetches, "/note", latchkey.ErrNoSession, 401, ""},
		"a visitor who is refused may sign in first":                  {visitor, opens, "/note", latchkey.ErrAccessDenied, 302, signIn},
		"a user who is refused sees a page":                           {user, opens, "/note", latchkey.ErrAccessDenied, 403, ""},
		"a script of a user is refused":                               {user, fetches, "/note", latchkey.ErrAccessDenied, 403, ""},
		"a wrapped refusal is a refusal":                              {user, opens, "/note", errors.Join(errors.New("note 7"), latchkey.ErrAccessDenied), 403, ""},
		"RedirectTo leads elsewhere":                                  {user, opens, "/note", latchkey.RedirectTo("/pay"), 302, siteOrigin + "/pay"},
		"R-124 RedirectTo leads nobody abroad":                        {user, opens, "/note", latchkey.RedirectTo("https://evil.example/"), 500, ""},
		"a page is not redirected to itself":                          {user, opens, "/note", latchkey.RedirectTo("/note?again=1"), 403, ""},
		"the sign-in page is not redirected to itself":                {visitor, opens, "/login", latchkey.ErrNoSession, 403, ""},
		"RespondWith answers":                                         {user, opens, "/note", latchkey.RespondWith(&latchkey.Response{Status: http.StatusPaymentRequired}), 402, ""},
		"RespondWith without a response is a fault":                   {user, opens, "/note", latchkey.RespondWith(nil), 500, ""},
		"another error about a user is a fault":                       {user, opens, "/note", errors.New("no such table"), 500, ""},
		"another error about a visitor is a fault, and no invitation": {visitor, opens, "/note", errors.New("no such table"), 500, ""},
		"a script is told of a fault":                                 {visitor, fetches, "/note", errors.New("no such table"), 500, ""},
		"a middleware that is missing is a fault":                     {user, opens, "/note", latchkey.ErrInvalidConfig, 500, ""},
		"R-682 a post of another site is refused":                     {user, opens, "/note", latchkey.ErrMissingCSRF, 403, ""},
		"R-682 a script's post of another site is refused":            {visitor, fetches, "/note", fmt.Errorf("note 7: %w", latchkey.ErrMissingCSRF), 403, ""},
		"no error is a fault":                                         {user, opens, "/note", nil, 500, ""},
	} {
		t.Run(policy, func(t *testing.T) {
			a := c.by.as(c.how, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.auth.WriteError(w, r, c.err) }), c.target)
			if a.Code != c.status || a.location() != c.location {
				t.Errorf("status %d to %q", a.Code, a.location())
			}
			if c.status != 402 && c.status != 302 && (c.how.Get("Sec-Fetch-Mode") == "navigate") != a.isPage() {
				t.Errorf("a page: %t, headers %v", a.isPage(), a.Header())
			}
			if strings.Contains(a.Body.String(), "no such table") {
				t.Error("the visitor is told the fault")
			}
		})
	}
	t.Run("a guard would have answered the same", func(t *testing.T) {
		for _, err := range []error{latchkey.ErrNoSession, latchkey.ErrAccessDenied, latchkey.RedirectTo("/pay")} {
			for _, b := range []*browser{visitor, user} {
				guard := s.auth.Authorize(func(*http.Request, *latchkey.Session) error { return err })(http.NotFoundHandler())
				want := b.as(opens, guard, "/note")
				got := b.as(opens, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.auth.WriteError(w, r, err) }), "/note")
				if got.Code != want.Code || got.location() != want.location() || got.Body.Len() != want.Body.Len() {
					t.Errorf("%v: %d to %q, a guard %d to %q", err, got.Code, got.location(), want.Code, want.location())
				}
			}
		}
	})
	t.Run("nothing of the document stays", func(t *testing.T) {
		a := user.as(opens, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for name, value := range map[string]string{"Etag": `"7"`, "Content-Length": "7", "Content-Encoding": "br", "Last-Modified": "yesterday", "Cache-Control": "public, max-age=60"} {
				w.Header().Set(name, value)
			}
			s.auth.WriteError(w, r, latchkey.RespondWith(&latchkey.Response{Status: http.StatusGone}))
		}), "/note")
		h := a.Header()
		if h.Get("Cache-Control") != "private" || h.Get("Etag")+h.Get("Content-Length")+h.Get("Content-Encoding")+h.Get("Last-Modified") != "" {
			t.Errorf("headers %v", h)
		}
	})
	t.Run("R-465 an outage is status 503", func(t *testing.T) {
		store.why = errRefused
		defer func() { store.why = nil }()
		for name, h := range map[string]http.HandlerFunc{
			"of the session": func(w http.ResponseWriter, r *http.Request) {
				_, err := s.auth.Session(r.Context())
				s.auth.WriteError(w, r, err)
			},
			"while a refusal wants the session": func(w http.ResponseWriter, r *http.Request) { s.auth.WriteError(w, r, latchkey.ErrAccessDenied) },
			"of the handler's own call": func(w http.ResponseWriter, r *http.Request) {
				_, err := s.auth.Users().Get(r.Context(), "1")
				s.auth.WriteError(w, r, err)
			},
		} {
			a := user.as(opens, s.auth.LoadSession(h), "/note")
			if a.Code != http.StatusServiceUnavailable || a.Header().Get("Retry-After") == "" || !a.isPage() {
				t.Errorf("%s: %d %v", name, a.Code, a.Header())
			}
		}
	})
	t.Run("R-465 one failure is one line of the log", func(t *testing.T) {
		store.why = errRefused
		defer func() { store.why = nil }()
		lines := func(h http.Handler) int {
			before := len(s.log.records(t))
			if a := user.as(opens, h, "/note"); a.Code != http.StatusServiceUnavailable {
				t.Errorf("status %d", a.Code)
			}
			return len(s.log.records(t)) - before
		}
		for name, h := range map[string]http.Handler{
			"LoadSession": s.auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, err := s.auth.Session(r.Context())
				s.auth.WriteError(w, r, fmt.Errorf("note 7: %w", err))
			})),
			"Core.Attach": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ctx := s.auth.Core().Attach(r.Context(), func() *latchkey.Request { return requestOf(r) })
				_, err := s.auth.Core().Session(ctx)
				s.auth.Core().ErrorResponse(ctx, requestOf(r), err).Send(w)
			}),
			"another failure than the session's": s.auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = s.auth.Session(r.Context())
				_, err := s.auth.Users().Get(r.Context(), "1")
				s.auth.WriteError(w, r, err)
			})),
		} {
			isOther := strings.HasPrefix(name, "another")
			if got := lines(h); got != 1 && !isOther || got < 2 && isOther {
				t.Errorf("R-465 %s: %d lines", name, got)
			}
		}
	})
	t.Run("R-242 the zero Auth fails", func(t *testing.T) {
		w := httptest.NewRecorder()
		new(latchkey.Auth).WriteError(w, httptest.NewRequest(http.MethodGet, siteOrigin+"/note", nil), latchkey.ErrNoSession)
		if w.Code != http.StatusInternalServerError {
			t.Errorf("%d", w.Code)
		}
	})
}
