package admin_test

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/admin"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestHostileTexts: P-056, nothing that users and providers set becomes markup, and no
// page asks another site for anything.
func TestHostileTexts(t *testing.T) {
	corpus, err := os.ReadFile("../internal/page/testdata/xss.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, nil)
	cookie := s.session(t, s.staff.ID, 0)
	for line := range strings.Lines(string(corpus)) {
		evil := strings.TrimRight(line, "\n") + "<script src=https://evil.example>"
		u, err := s.store.CreateUser(t.Context(), latchkey.User{Name: evil, Email: "x" + evil, Image: "https://evil.example/look.png"})
		if err != nil {
			continue // the same line again
		}
		_ = s.store.LinkAccount(t.Context(), storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: evil, Email: evil, Type: latchkey.TypeOIDC})
		w := s.do(t, ask{method: "GET", path: "/admin/users/" + url.PathEscape(u.ID), cookie: cookie})
		checkInert(t, evil, w.Code, w.Body.String(), w.Header())
	}
	w := s.do(t, ask{method: "GET", path: "/admin/users?limit=200", cookie: cookie})
	checkInert(t, "the list", w.Code, w.Body.String(), w.Header())
}

func checkInert(t *testing.T, what string, status int, body string, h http.Header) {
	t.Helper()
	for _, markup := range []string{"<script src", "<img", "<svg/", "<iframe", "src=\"https://evil"} {
		if strings.Contains(body, markup) {
			t.Errorf("P-056 %q: the page has %s", what, markup)
		}
	}
	policy := h.Get("Content-Security-Policy")
	if status != http.StatusOK || !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("P-056 %q: %d, %s", what, status, policy)
	}
}

// TestNoPersonalData: P-007, no name and no address in URLs and events.
func TestNoPersonalData(t *testing.T) {
	s := newSite(t, nil)
	cookie := s.session(t, s.staff.ID, 0)
	u := s.user(t, "Canary Name", "canary@app.example")
	w := s.do(t, ask{method: "POST", path: "/admin/users/search", form: url.Values{"search": {"canary@app"}}, cookie: cookie})
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || strings.Contains(strings.ToLower(to), "canary") {
		t.Fatalf("P-007 %d %s", w.Code, to)
	}
	if w := s.do(t, ask{method: "GET", path: to, cookie: cookie}); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Canary Name") {
		t.Errorf("P-007 the search finds nothing: %d", w.Code)
	}
	if w := s.do(t, ask{method: "GET", path: to, cookie: s.session(t, s.other.ID, 0)}); !strings.HasSuffix(w.Header().Get("Location"), "?done=stale") {
		t.Error("P-007 a saved search works in another session")
	}
	if w := s.do(t, ask{method: "GET", path: to, json: "-", cookie: s.session(t, s.other.ID, 0)}); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `"field":"s"`) {
		t.Errorf("R-809 the error names another parameter: %d %s", w.Code, w.Body)
	}
	s.do(t, ask{method: "POST", path: "/admin/users/" + u.ID + "/suspend", form: url.Values{"reason": {"Canary reason"}}, cookie: cookie})
	for _, kind := range []event.Type{event.UserSearched, event.UserViewed, event.UserSuspended} {
		for _, e := range s.told(kind) {
			if strings.Contains(strings.ToLower(string(e.Detail)+e.RequestID+string(e.Reason)), "canary") {
				t.Errorf("P-007 %+v", e)
			}
		}
	}
}

// plainStore is a store without lists.
type plainStore struct {
	storage.Adapter
	storage.SessionAdapter
	storage.AccountAdapter
}

// TestStoreWithoutLists: P-014, the exact search works, and the ability is named.
func TestStoreWithoutLists(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config, _ *admin.Options) {
		store := c.Adapter.(interface {
			storage.Adapter
			storage.SessionAdapter
			storage.AccountAdapter
		})
		c.Adapter, c.Providers = plainStore{store, store, store}, []latchkey.Provider{&latchkey.OAuth{ID: "acme", Issuer: "https://acme.example", ClientID: "id", ClientSecret: "secret", OIDC: true}}
		c.AccountPage = latchkey.AccountPage{}
	})
	cookie := s.session(t, s.staff.ID, 0)
	u := s.user(t, "Ada", "ada@app.example")
	w := s.do(t, ask{method: "GET", path: "/admin/users", json: "-", cookie: cookie})
	if w.Code != http.StatusNotImplemented || !strings.Contains(w.Body.String(), "DirectoryAdapter") {
		t.Errorf("P-014 %d %s", w.Code, w.Body)
	}
	if w := s.do(t, ask{method: "GET", path: "/admin/users", cookie: cookie}); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "cannot list") {
		t.Errorf("P-014 the page: %d", w.Code)
	}
	for _, search := range []string{"ADA@app.example", u.ID} {
		w := s.do(t, ask{method: "POST", path: "/admin/users/search", json: `{"search":"` + search + `"}`, cookie: cookie})
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), u.ID) {
			t.Errorf("P-014 %s: %d %s", search, w.Code, w.Body)
		}
	}
	w = s.do(t, ask{method: "POST", path: "/admin/users/search", json: `{"search":"ada@app.example","suspended":true}`, cookie: cookie})
	if w.Code != http.StatusNotImplemented || strings.Contains(w.Body.String(), u.ID) {
		t.Errorf("P-014 a filter that the store lacks: %d %s", w.Code, w.Body)
	}
	if w := s.do(t, ask{method: "GET", path: "/admin/users/" + u.ID, cookie: cookie}); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "/suspend\"") {
		t.Errorf("P-014 the page offers what the store cannot do: %d", w.Code)
	}
}
