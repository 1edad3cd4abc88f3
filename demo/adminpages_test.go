package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/admin"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// deskSite is a site with the pages of package admin, for one staff member.
type deskSite struct {
	t     *testing.T
	tag   string // the language of the browser
	store *memoryadapter.Adapter
	pages *admin.Handler
	staff storage.User
	all   []exhibit
}

// adminPages returns the pages of package admin in a language, with all that they can have.
func adminPages(t *testing.T, tag string) []exhibit {
	t.Helper()
	s := newDeskSite(t, tag)
	full, bare := s.fullUser(), s.user("Grace", "grace@example.com")
	suspended := s.user("Charles", "charles@example.com")
	s.must(s.store.Suspensions().Put(t.Context(), suspended.ID, storage.Suspension{Since: time.Unix(1_700_000_000, 0), Until: time.Now().Add(time.Hour), Reason: "sends unwanted mails to everybody", By: s.staff.ID}))
	s.get("/users")
	s.get("/users?done=created&suspended=true")
	s.get("/users?verified=false")
	s.get("/users?search=nobody-has-this-name")
	s.get("/users/new")
	s.get("/users/" + full)
	s.get("/users/" + bare.ID + "?done=suspended-partly")
	s.get("/users/" + suspended.ID + "?done=stale")
	s.get("/users/" + s.staff.ID)
	s.get("/users/" + full + "/delete")
	s.get("/users/unknown")
	s.post("/users", url.Values{"email": {"none"}, "name": {"Ada"}})
	for _, wrong := range []struct {
		action string
		form   url.Values
	}{
		{"suspend", url.Values{"until": {"2001-01-01T00:00"}, "reason": {"why"}}},
		{"update", url.Values{"image": {"javascript:x"}}},
		{"email", url.Values{"email": {"none"}}},
		{"recover", url.Values{"email": {"none"}}},
		{"act-as", url.Values{"reason": {"short"}}},
		{"delete", nil},
	} {
		s.post("/users/"+full+"/"+wrong.action, wrong.form)
	}
	s.post("/users/"+full+"/act-as", url.Values{"reason": {"case 4711 of today"}})
	foreign := s.request(http.MethodPost, "/users/"+full+"/restore", nil)
	foreign.Header.Del("Sec-Fetch-Site")
	foreign.Header.Del("Origin")
	s.keep(foreign, s.answer(foreign))
	for range 5 {
		s.answer(s.request(http.MethodPost, "/users/"+full+"/sign-in-link", nil))
	}
	s.post("/users/"+full+"/sign-in-link", nil) // one mail too many
	return s.all
}

func newDeskSite(t *testing.T, tag string) *deskSite {
	t.Helper()
	s := &deskSite{t: t, tag: tag, store: memoryadapter.New(memoryadapter.Options{})}
	s.staff = s.user("Staff", "staff@example.com")
	c := plainsite.Config(s.store)
	plainsite.Whole(&c)
	c.AccountPage.Activity = true
	c.Operations.ShowReference = true
	c.Providers = append(c.Providers, webauthn.Passkey(latchkey.WebAuthn{}))
	auth, err := latchkey.New(c)
	s.must(err)
	s.pages, err = admin.New(auth, admin.Options{
		Staff: func(_ context.Context, u latchkey.User) (bool, error) { return u.ID == s.staff.ID, nil },
		Allow: func(context.Context, admin.Attempt) error { return nil },
	})
	s.must(err)
	s.session(s.staff.ID, "token-of-the-staff-member-of-the-desk")
	return s
}

func (s *deskSite) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *deskSite) user(name, email string) storage.User {
	s.t.Helper()
	u, err := s.store.CreateUser(s.t.Context(), storage.User{Name: name, Email: email, EmailVerified: time.Now(), Created: time.Unix(1_700_000_000, 0)})
	s.must(err)
	return u
}

func (s *deskSite) session(user, token string) {
	s.t.Helper()
	s.must(s.store.CreateSession(s.t.Context(), storage.StoredSession{
		Token: token, UserID: user, Created: time.Now(), Proved: time.Now(), Expires: time.Now().Add(time.Hour), AMR: []string{"pwd", "otp", "mfa"}, ACR: "aal2",
		UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
	}))
}

// fullUser stores a user with everything that staff see, and returns the id.
func (s *deskSite) fullUser() string {
	s.t.Helper()
	ctx, u := s.t.Context(), s.user("Somebody With A Long Name", longEmail)
	s.session(u.ID, "token-of-a-session-of-somebody-else")
	for _, provider := range []string{"away", "elsewhere"} {
		s.must(s.store.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: provider, ProviderAccountID: longEmail, Email: longEmail, Type: storage.TypeOIDC}))
	}
	s.must(s.store.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "passkey", ProviderAccountID: "key", Type: storage.TypeWebAuthn}))
	s.must(s.store.CreateAuthenticator(ctx, storage.Authenticator{CredentialID: []byte("key"), UserID: u.ID, ProviderAccountID: "key", Name: longHost, Created: time.Unix(1_700_000_000, 0)}))
	s.must(s.store.Factors().Create(ctx, storage.Factor{ID: "app", UserID: u.ID, Kind: storage.FactorTOTP, Name: longHost, Secret: "sealed", Created: time.Unix(1_700_000_000, 0)}))
	for _, kind := range []string{"sign_in", "password.changed", "user.updated", "unknown"} {
		s.must(s.store.Activities().Append(ctx, storage.Activity{ID: kind, UserID: u.ID, Time: time.Now(), Type: kind, Provider: "away", UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", ActorKind: "admin"}))
	}
	return u.ID
}

func (s *deskSite) get(path string) {
	s.t.Helper()
	r := s.request(http.MethodGet, path, nil)
	s.keep(r, s.answer(r))
}

func (s *deskSite) post(path string, form url.Values) {
	s.t.Helper()
	r := s.request(http.MethodPost, path, form)
	s.keep(r, s.answer(r))
}

// request returns a request of the staff member from a page of the site.
func (s *deskSite) request(method, path string, form url.Values) *http.Request {
	r := httptest.NewRequestWithContext(s.t.Context(), method, plainsite.URL+"/admin"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Accept-Language", s.tag)
	r.Header.Set("Cookie", "__Secure-authjs.session-token=token-of-the-staff-member-of-the-desk")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", plainsite.URL)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return r
}

func (s *deskSite) answer(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.pages.ServeHTTP(w, r)
	return w
}

var userID = regexp.MustCompile(`[A-Z0-9]{26}`)

// keep adds the page that has answered r.
func (s *deskSite) keep(r *http.Request, w *httptest.ResponseRecorder) {
	s.t.Helper()
	if w.Body.Len() == 0 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		s.t.Fatalf("%s %s answers %d and leads to %s", r.Method, r.URL, w.Code, w.Header().Get("Location"))
	}
	path := strings.ReplaceAll(strings.TrimPrefix(r.URL.Path, "/admin/users"), "/", "-")
	path = userID.ReplaceAllString(path, "user")
	s.all = append(s.all, exhibit{name: "admin" + path, status: w.Code, header: w.Result().Header, body: w.Body.Bytes()})
}
