package sitetest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/storage"
)

// awayStore fails as why says; nil: it answers.
type awayStore struct {
	*memoryadapter.Adapter
	why error
}

func (s *awayStore) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, latchkey.User, error) {
	if s.why != nil {
		return storage.StoredSession{}, latchkey.User{}, s.why
	}
	return s.Adapter.GetSessionAndUser(ctx, token)
}

func (s *awayStore) GetUser(ctx context.Context, id string) (latchkey.User, error) {
	if s.why != nil {
		return latchkey.User{}, s.why
	}
	return s.Adapter.GetUser(ctx, id)
}

func (s *awayStore) GetUserByEmail(ctx context.Context, email string) (latchkey.User, error) {
	if s.why != nil {
		return latchkey.User{}, s.why
	}
	return s.Adapter.GetUserByEmail(ctx, email)
}

func (s *awayStore) RevokedAt(ctx context.Context, keys ...string) (map[string]time.Time, error) {
	if s.why != nil {
		return nil, s.why
	}
	return s.Adapter.RevokedAt(ctx, keys...)
}

func (s *awayStore) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	if s.why != nil {
		return storage.StoredSession{}, s.why
	}
	return s.Adapter.DeleteSession(ctx, token)
}

// newAwaySite is a site whose store can be away, and a browser that is signed in.
func newAwaySite(t *testing.T, change ...func(*latchkey.Config)) (*testSite, *browser, *awayStore) {
	t.Helper()
	store := &awayStore{Adapter: memoryadapter.New(memoryadapter.Options{})}
	s := newSite(t, append([]func(*latchkey.Config){stored, func(c *latchkey.Config) { c.Adapter, c.AccountPage.Enabled = store, true }}, change...)...)
	b := s.newBrowser()
	b.signInByLink("ada@example.com")
	return s, b, store
}

var errRefused = fmt.Errorf("open: %w", &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED})

// what passes by itself is told from what somebody has to mend.
func TestOutages(t *testing.T) {
	s, b, store := newAwaySite(t)
	guard := s.auth.RequireSession(http.NotFoundHandler())
	for name, c := range map[string]struct {
		why    error
		status int
	}{
		"refused connection":     {errRefused, 503},
		"broken connection":      {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), 503},
		"end of the context":     {context.DeadlineExceeded, 503},
		"one of several hosts":   {errors.Join(errors.New("the other"), errRefused), 503},
		"what an adapter says":   {fmt.Errorf("starting: %w", latchkey.ErrUnavailable), 503},
		"wrong password":         {errors.New("password authentication failed"), 500},
		"wrong certificate":      {&net.OpError{Op: "remote error", Err: tls.AlertError(42)}, 500},
		"missing table":          {errors.ErrUnsupported, 500},
		"answer of another kind": {errors.New("i/o timeout, says a text"), 500},
	} {
		t.Run(name, func(t *testing.T) {
			store.why = c.why
			if a := b.as(opens, guard, "/own"); a.Code != c.status || !a.isPage() {
				t.Errorf("%d %s", a.Code, a.Body)
			}
		})
	}
	store.why = nil
	if a := b.as(opens, guard, "/own"); a.Code != http.StatusNotFound { // the handler's own
		t.Errorf("the store is back: %d", a.Code)
	}
}

// a driver that says nothing of the deadline that it ran into.
func TestOutageByDeadline(t *testing.T) {
	store := newFaultyStore()
	s, b := newSignedInOAuthSite(t, stored, func(c *latchkey.Config) { c.Adapter = mumbling{store} })
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	guard := s.auth.RequireSession(http.NotFoundHandler())
	r := b.request(http.MethodGet, "/own", "", "").WithContext(ctx)
	if a := b.serve(guard, r); a.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

type mumbling struct{ *faultyStore }

func (m mumbling) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, latchkey.User, error) {
	if ctx.Err() != nil {
		return storage.StoredSession{}, latchkey.User{}, errors.New("it did not work")
	}
	return m.faultyStore.GetSessionAndUser(ctx, token)
}

// whoever asks is told in their way that it will pass, and stays signed in.
func TestWhatAnOutageLooksLike(t *testing.T) {
	s, b, store := newAwaySite(t)
	_, tokens, beside := newAwaySite(t, plainsite.AsTokens)
	_, own, another := newAwaySite(t, func(c *latchkey.Config) { c.Pages.Error = "/oops" })
	store.why, beside.why, another.why = errRefused, errRefused, errRefused
	guard := func(s *testSite) http.Handler { return s.auth.RequireSession(http.NotFoundHandler()) }
	const again = `href="` + siteOrigin + `/own?a=1&amp;b=2"`
	for name, c := range map[string]struct {
		b      *browser
		h      http.Handler
		how    http.Header
		target string
		status int
		holds  string
	}{
		"a person":                       {b, guard(s), opens, "/own?a=1&b=2", 503, again},
		"a person with revocable tokens": {tokens, guard(tokens.site), opens, "/own?a=1&b=2", 503, again},
		"a person at two slashes":        {b, guard(s), opens, "//evil.example/", 503, `href="` + siteOrigin + `//evil.example/"`},
		"a script":                       {b, guard(s), fetches, "/own", 503, `"message":"Something is not answering`},
		"htmx":                           {b, guard(s), htmx, "/own", 503, `"message":"Something is not answering`},
		"the account page":               {b, s.auth, opens, "/auth/account", 503, `href="` + siteOrigin + `/auth/account"`},
		"a script at the account page":   {b, s.auth, fetches, "/auth/account", 503, `"message":"Something is not answering`},
		"where errors have a page":       {own, own.site.auth, opens, "/auth/account", 302, ""},
		"a guard of such a site":         {own, guard(own.site), opens, "/own?a=1&b=2", 503, again},
		"the session, as in Auth.js":     {b, s.auth, fetches, "/auth/session", 200, "null"},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.b.as(c.how, c.h, c.target)
			if a.Code != c.status || !strings.Contains(a.Body.String(), c.holds) || (a.Header().Get("Retry-After") == "10") != (c.status == 503) {
				t.Errorf("%d, %v\n%s", a.Code, a.Header(), a.Body)
			}
			for _, set := range a.Result().Cookies() {
				if strings.Contains(set.Name, "session-token") {
					t.Errorf("the cookie is touched: %v", set)
				}
			}
		})
	}
	t.Run("a form that was posted", func(t *testing.T) {
		b.header = opens.Clone()
		a := b.serve(guard(s), b.request(http.MethodPost, "/own", formContentType, "a=1"))
		if a.Code != http.StatusServiceUnavailable || strings.Contains(a.Body.String(), "Try again") || !strings.Contains(a.Body.String(), "Something is not answering") {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	})
	t.Run("a question of the guard's own", func(t *testing.T) {
		store.why = nil
		asks := s.auth.Authorize(func(r *http.Request, in *latchkey.Session) error {
			store.why = errRefused
			_, err := s.auth.Users().Get(r.Context(), in.UserID)
			return err
		})(http.NotFoundHandler())
		if a := b.as(opens, asks, "/own?a=1&b=2"); a.Code != http.StatusServiceUnavailable || !strings.Contains(a.Body.String(), again) {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	})
	t.Run("in the language of whoever reads", func(t *testing.T) {
		how := opens.Clone()
		how.Set("Accept-Language", "de")
		if a := b.as(how, guard(s), "/own"); !strings.Contains(a.Body.String(), "Noch einmal versuchen") {
			t.Errorf("%s", a.Body)
		}
	})
}

// R-465 for apps, and for forms of the application's own.
func TestOutageForAppsAndForms(t *testing.T) {
	store := &awayStore{Adapter: memoryadapter.New(memoryadapter.Options{})}
	s, ada := newBearerSite(t, stored, func(c *latchkey.Config) { c.Adapter = store })
	app := ada.shows("Bearer " + appToken(t, ada))
	store.why = errRefused
	for what, a := range map[string]*answer{
		"the session route": app.get("/auth/session"),
		"the sign-out":      app.do("POST", "/auth/signout", "", ""),
	} {
		if a.Code != http.StatusServiceUnavailable || a.Header().Get("WWW-Authenticate") != "" || a.Header().Get("Retry-After") != "10" {
			t.Errorf("%s: %d, %v", what, a.Code, a.Header())
		}
	}
	b := s.newBrowser()
	a := b.act(s.auth.SignInAction(nil), "/login", "providerId=post&email=ada@example.com", "Accept", "application/json")
	if a.Code != http.StatusServiceUnavailable || a.Header().Get("Retry-After") != "10" {
		t.Errorf("%d, %v\n%s", a.Code, a.Header(), a.Body)
	}
}
