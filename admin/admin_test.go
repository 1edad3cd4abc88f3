package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/admin"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

const origin = "https://app.example"

// site is a site with the pages, and two staff members.
type site struct {
	*admin.Handler
	auth   *latchkey.Auth
	store  *memoryadapter.Adapter
	staff  latchkey.User
	other  latchkey.User // staff, too
	mu     sync.Mutex
	events []event.Event
	mails  []latchkey.Message
}

func newSite(t *testing.T, change func(*latchkey.Config, *admin.Options)) *site {
	t.Helper()
	s := &site{store: memoryadapter.New(memoryadapter.Options{})}
	s.staff = s.user(t, "Staff", "staff@app.example")
	s.other = s.user(t, "Other", "other@app.example")
	c := latchkey.Config{
		Adapter: s.store, Secrets: []string{"a secret that is long enough for every use of it"}, Site: latchkey.Site{URL: origin},
		Providers: []latchkey.Provider{&latchkey.Email{Send: func(_ context.Context, m latchkey.Message) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.mails = append(s.mails, m)
			return nil
		}}},
		Session:     latchkey.SessionConfig{Strategy: latchkey.DatabaseSessions},
		AccountPage: latchkey.AccountPage{Enabled: true, Activity: true},
		Runtime:     latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
		Events: latchkey.Events{Observe: func(_ context.Context, e event.Event) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.events = append(s.events, e)
			return nil
		}},
	}
	o := admin.Options{Staff: func(_ context.Context, u latchkey.User) (bool, error) {
		return u.ID == s.staff.ID || u.ID == s.other.ID, nil
	}}
	if change != nil {
		change(&c, &o)
	}
	var err error
	if s.auth, err = latchkey.New(c); err != nil {
		t.Fatal(err)
	}
	if s.Handler, err = admin.New(s.auth, o); err != nil {
		t.Fatal(err)
	}
	return s
}

// user stores a user.
func (s *site) user(t *testing.T, name, email string) latchkey.User {
	t.Helper()
	u, err := s.store.CreateUser(t.Context(), latchkey.User{Name: name, Email: email, EmailVerified: time.Now(), Created: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// session opens a session of a user who proved who they are some time ago, and returns
// its cookie.
func (s *site) session(t *testing.T, userID string, ago time.Duration) string {
	t.Helper()
	token := "token-of-a-session-" + userID + ago.String()
	at := time.Now().Add(-ago)
	err := s.store.CreateSession(t.Context(), storage.StoredSession{Token: token, UserID: userID, Created: at, Expires: time.Now().Add(time.Hour)})
	if err != nil && !errors.Is(err, latchkey.ErrConflict) {
		t.Fatal(err)
	}
	return "__Secure-authjs.session-token=" + token
}

// ask is a request to the pages.
type ask struct {
	method, path string
	cookie       string
	form         url.Values
	json         string            // a body, or "-" for a GET that accepts JSON
	header       map[string]string // besides
	foreign      bool              // without the marks of the same origin
}

func (s *site) do(t *testing.T, a ask) *httptest.ResponseRecorder {
	t.Helper()
	body := io.Reader(nil)
	switch {
	case a.form != nil:
		body = strings.NewReader(a.form.Encode())
	case a.json != "" && a.json != "-":
		body = strings.NewReader(a.json)
	}
	r := httptest.NewRequestWithContext(t.Context(), a.method, origin+a.path, body)
	r.Header.Set("Accept", "text/html")
	if a.form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if a.json != "" {
		r.Header.Set("Accept", "application/json")
		if body != nil {
			r.Header.Set("Content-Type", "application/json")
		}
	}
	if a.cookie != "" {
		r.Header.Set("Cookie", a.cookie)
	}
	if a.method == http.MethodPost && !a.foreign {
		r.Header.Set("Origin", origin)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// told returns the events of a type.
func (s *site) told(kind event.Type) (list []event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Type == kind {
			list = append(list, e)
		}
	}
	return list
}

// routes are all routes about a user.
func routes(id string) []ask {
	list := []ask{
		{method: "GET", path: "/admin/"},
		{method: "GET", path: "/admin/users"},
		{method: "GET", path: "/admin/users/new"},
		{method: "GET", path: "/admin/users/" + id},
		{method: "GET", path: "/admin/users/" + id + "/delete"},
		{method: "GET", path: "/admin/nothing"},
		{method: "POST", path: "/admin/users", form: url.Values{"email": {"new@app.example"}}},
		{method: "POST", path: "/admin/users/search", form: url.Values{"search": {"a"}}},
	}
	for action, form := range posts {
		list = append(list, ask{method: "POST", path: "/admin/users/" + id + "/" + action, form: form})
	}
	return list
}

// posts are forms that every action takes.
var posts = map[string]url.Values{
	"suspend": {"reason": {"spam"}}, "restore": {}, "update": {"name": {"Changed"}}, "email": {"email": {"changed@app.example"}},
	"sign-in-link": {}, "password-reset": {}, "end-sessions": {"all": {"true"}}, "unlink": {"provider": {"acme"}, "account": {"1"}},
	"remove-passkey": {"passkey": {"AQ"}}, "reset-factors": {}, "export": {}, "delete": {"confirm": {"delete"}},
}

func TestWhoComesIn(t *testing.T) {
	s := newSite(t, nil)
	target := s.user(t, "Ada", "ada@app.example")
	plain := s.session(t, s.user(t, "Plain", "plain@app.example").ID, 0)
	for _, a := range append(routes(target.ID), routes("no-such-user")...) {
		a.cookie = ""
		want := http.StatusFound
		if a.method == http.MethodPost {
			want = http.StatusSeeOther
		}
		if w := s.do(t, a); w.Code != want || !strings.Contains(w.Header().Get("Location"), "/auth/signin") {
			t.Errorf("P-051 nobody at %s %s: %d %s", a.method, a.path, w.Code, w.Header().Get("Location"))
		}
		a.cookie = plain
		if w := s.do(t, a); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "Ada") {
			t.Errorf("P-051 a user at %s %s: %d", a.method, a.path, w.Code)
		}
	}
	t.Run("P-051 ids are not told apart", func(t *testing.T) {
		known := s.do(t, ask{method: "GET", path: "/admin/users/" + target.ID, cookie: plain}).Body.String()
		if unknown := s.do(t, ask{method: "GET", path: "/admin/users/none", cookie: plain}).Body.String(); known != unknown {
			t.Error("a user learns which ids there are")
		}
	})
	t.Run("P-051 suspended staff", func(t *testing.T) {
		cookie := s.session(t, s.other.ID, 0)
		if w := s.do(t, ask{method: "GET", path: "/admin/users", cookie: cookie}); w.Code != http.StatusOK {
			t.Fatal(w.Code)
		}
		if err := s.auth.Users().Suspend(t.Context(), s.other.ID, users.SuspendOptions{}); err != nil {
			t.Fatal(err)
		}
		if w := s.do(t, ask{method: "GET", path: "/admin/users", cookie: cookie}); w.Code != http.StatusFound {
			t.Errorf("%d", w.Code)
		}
	})
	t.Run("P-051 suspended staff whose session goes on", func(t *testing.T) { // as a token without revocations
		third := s.user(t, "Third", "third@app.example")
		id := s.staff.ID
		s.staff.ID = third.ID
		defer func() { s.staff.ID = id }()
		cookie := s.session(t, third.ID, 0)
		if w := s.do(t, ask{method: "GET", path: "/admin/users", cookie: cookie}); w.Code != http.StatusOK {
			t.Fatal(w.Code)
		}
		if err := s.store.Suspensions().Put(t.Context(), third.ID, storage.Suspension{Since: time.Now().Add(-time.Minute)}); err != nil {
			t.Fatal(err)
		}
		if w := s.do(t, ask{method: "GET", path: "/admin/users", cookie: cookie}); w.Code == http.StatusOK || strings.Contains(w.Body.String(), "Ada") {
			t.Errorf("%d", w.Code)
		}
	})
	t.Run("P-051 staff no more", func(t *testing.T) {
		id := s.staff.ID
		cookie := s.session(t, id, 0)
		s.staff.ID = "another"
		defer func() { s.staff.ID = id }()
		if w := s.do(t, ask{method: "GET", path: "/admin/users", cookie: cookie}); w.Code != http.StatusNotFound {
			t.Errorf("%d", w.Code)
		}
	})
	if u, err := s.store.GetUser(t.Context(), target.ID); err != nil || u.Name != "Ada" || u.Suspension != nil {
		t.Errorf("P-051 the user was changed: %+v, %v", u, err)
	}
}

func TestApplicationDecides(t *testing.T) {
	for name, refuse := range map[string]func() error{
		"P-052 an error": func() error { return errors.New("no database") },
		"P-052 a panic":  func() error { panic("no database") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(_ *latchkey.Config, o *admin.Options) {
				o.Staff = func(context.Context, latchkey.User) (bool, error) { return true, refuse() }
			})
			w := s.do(t, ask{method: "GET", path: "/admin/users", cookie: s.session(t, s.staff.ID, 0)})
			if w.Code != http.StatusForbidden || len(s.told(event.AccessRefused)) != 1 {
				t.Errorf("Staff: %d, %v", w.Code, s.told(event.AccessRefused))
			}
			s = newSite(t, func(_ *latchkey.Config, o *admin.Options) {
				o.Allow = func(_ context.Context, a admin.Attempt) error {
					if a.Action == admin.Suspend {
						return refuse()
					}
					return nil
				}
			})
			target, cookie := s.user(t, "Ada", "ada@app.example"), s.session(t, s.staff.ID, 0)
			page := s.do(t, ask{method: "GET", path: "/admin/users/" + target.ID, cookie: cookie})
			if page.Code != http.StatusOK || strings.Contains(page.Body.String(), "/suspend\"") || !strings.Contains(page.Body.String(), "/update\"") {
				t.Errorf("the page offers what is refused: %d", page.Code)
			}
			w = s.do(t, ask{method: "POST", path: "/admin/users/" + target.ID + "/suspend", form: url.Values{}, cookie: cookie})
			if u, _ := s.store.GetUser(t.Context(), target.ID); w.Code != http.StatusForbidden || u.Suspension != nil {
				t.Errorf("Allow: %d, %+v", w.Code, u.Suspension)
			}
			refused := s.told(event.AccessRefused)
			if len(refused) != 1 || refused[0].By.ID != s.staff.ID || refused[0].UserID != target.ID {
				t.Errorf("%+v", refused)
			}
		})
	}
}

func TestForeignForms(t *testing.T) {
	s := newSite(t, nil)
	target, cookie := s.user(t, "Ada", "ada@app.example"), s.session(t, s.staff.ID, 0)
	before, _ := s.store.GetUser(t.Context(), target.ID)
	for action, form := range posts {
		path := "/admin/users/" + target.ID + "/" + action
		for name, a := range map[string]ask{
			"P-053 without token and mark": {method: "POST", form: form, foreign: true},
			"P-053 cross-site":             {method: "POST", form: form, foreign: true, header: map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}},
			"P-053 JSON of another site":   {method: "POST", json: "{}", foreign: true, header: map[string]string{"Origin": "https://evil.example"}},
		} {
			a.path, a.cookie = path, cookie
			if w := s.do(t, a); w.Code != http.StatusForbidden {
				t.Errorf("%s: %s: %d", name, action, w.Code)
			}
		}
		if w := s.do(t, ask{method: "GET", path: path, cookie: cookie}); action != "delete" && w.Code != http.StatusNotFound {
			t.Errorf("P-053 GET %s: %d", action, w.Code)
		}
		twice := url.Values{}
		for field, values := range form {
			twice[field] = append(values, values...)
		}
		if len(twice) > 0 {
			if w := s.do(t, ask{method: "POST", path: path, form: twice, cookie: cookie}); w.Code != http.StatusUnprocessableEntity {
				t.Errorf("P-053 a field twice: %s: %d", action, w.Code)
			}
		}
	}
	after, err := s.store.GetUser(t.Context(), target.ID)
	if err != nil || after.Name != before.Name || after.Suspension != nil || after.Email != before.Email {
		t.Errorf("P-053 something was written: %+v, %v", after, err)
	}
	t.Run("P-053 with the token of the page", func(t *testing.T) {
		page := s.do(t, ask{method: "GET", path: "/admin/users/" + target.ID, cookie: cookie})
		_, rest, _ := strings.Cut(page.Body.String(), `name="csrfToken" value="`)
		token, _, _ := strings.Cut(rest, `"`)
		sent := cookie
		for _, set := range page.Result().Cookies() {
			sent += "; " + set.Name + "=" + set.Value
		}
		w := s.do(t, ask{
			method: "POST", path: "/admin/users/" + target.ID + "/update", foreign: true,
			form: url.Values{"name": {"Ada Lovelace"}, "csrfToken": {token}}, cookie: sent,
		})
		if w.Code != http.StatusSeeOther {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func TestStaffAgainstStaff(t *testing.T) {
	s := newSite(t, nil)
	cookie := s.session(t, s.staff.ID, 0)
	for _, id := range []string{s.staff.ID, s.other.ID} {
		for action, form := range posts {
			if action == "restore" || action == "sign-in-link" || action == "export" {
				continue
			}
			w := s.do(t, ask{method: "POST", path: "/admin/users/" + id + "/" + action, form: form, cookie: cookie})
			if w.Code != http.StatusForbidden {
				t.Errorf("P-054 %s: %d", action, w.Code)
			}
		}
		page := s.do(t, ask{method: "GET", path: "/admin/users/" + id, cookie: cookie}).Body.String()
		if strings.Contains(page, "/suspend\"") || strings.Contains(page, "/delete\"") || !strings.Contains(page, "is staff") {
			t.Error("P-054 the page offers it")
		}
	}
	if u, err := s.store.GetUser(t.Context(), s.other.ID); err != nil || u.Suspension != nil {
		t.Error("P-054", err)
	}
}

func TestOldProofs(t *testing.T) {
	s := newSite(t, nil)
	target := s.user(t, "Ada", "ada@app.example")
	old, ancient := s.session(t, s.staff.ID, 20*time.Minute), s.session(t, s.staff.ID, 13*time.Hour)
	update := ask{method: "POST", path: "/admin/users/" + target.ID + "/update", form: url.Values{"name": {"X"}}, cookie: old}
	if w := s.do(t, ask{method: "GET", path: "/admin/users/" + target.ID, cookie: old}); w.Code != http.StatusOK {
		t.Errorf("P-055 looking within the shift: %d", w.Code)
	}
	if w := s.do(t, update); w.Code != http.StatusSeeOther || !strings.Contains(w.Header().Get("Location"), url.QueryEscape("/admin/users/"+target.ID)) {
		t.Errorf("P-055 a change: %d %s", w.Code, w.Header().Get("Location"))
	}
	if w := s.do(t, ask{method: "GET", path: "/admin/users", cookie: ancient}); w.Code == http.StatusOK {
		t.Errorf("P-055 looking after the shift: %d", w.Code)
	}
	update.form, update.json = nil, `{"name":"X"}`
	w := s.do(t, update)
	if w.Code != http.StatusUnauthorized || !strings.Contains(w.Header().Get("WWW-Authenticate"), `error="insufficient_user_authentication"`) {
		t.Errorf("P-055 JSON: %d %v", w.Code, w.Header())
	}
	if u, _ := s.store.GetUser(t.Context(), target.ID); u.Name != "Ada" {
		t.Error("P-055 it was changed")
	}
}

// decoded is a JSON answer.
func decoded(t *testing.T, w *httptest.ResponseRecorder) (v map[string]any) {
	t.Helper()
	if kind := w.Header().Get("Content-Type"); kind != "application/json" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", w.Header())
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Errorf("%v: %s", err, w.Body)
	}
	return v
}

func TestJSON(t *testing.T) {
	s := newSite(t, nil)
	target, cookie := s.user(t, "Ada Lovelace", "ada@app.example"), s.session(t, s.staff.ID, 0)
	at := "/admin/users/" + target.ID
	get := func(path string) map[string]any {
		t.Helper()
		w := s.do(t, ask{method: "GET", path: path, json: "-", cookie: cookie})
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return decoded(t, w)
	}
	post := func(path, body string, want int) map[string]any {
		t.Helper()
		w := s.do(t, ask{method: "POST", path: path, json: body, cookie: cookie})
		if w.Code != want {
			t.Fatalf("POST %s %s: %d %s, want %d", path, body, w.Code, w.Body, want)
		}
		return decoded(t, w)
	}
	t.Run("P-060 lists, pages and searches", func(t *testing.T) {
		first := get("/admin/users?limit=2")
		if len(first["users"].([]any)) != 2 || first["order"] != "newest" {
			t.Fatalf("%v", first)
		}
		next := get("/admin/users?limit=2&after=" + url.QueryEscape(first["next"].(string)))
		if len(next["users"].([]any)) != 1 || next["next"] != nil {
			t.Errorf("%v", next)
		}
		found := post("/admin/users/search", `{"search":"ada love"}`, http.StatusOK)
		if list := found["users"].([]any); len(list) != 1 || list[0].(map[string]any)["id"] != target.ID {
			t.Errorf("%v", found)
		}
		searched := s.told(event.UserSearched)
		if len(searched) != 1 || searched[0].Detail != "name 1" || searched[0].By.ID != s.staff.ID {
			t.Errorf("%+v", searched)
		}
	})
	t.Run("P-060 suspends and restores", func(t *testing.T) {
		post(at+"/suspend", `{"reason":"spam","until":"2099-01-01T00:00:00Z"}`, http.StatusOK)
		shown := get(at)
		if held := shown["user"].(map[string]any)["suspension"].(map[string]any); held["reason"] != "spam" || held["by"] != s.staff.ID || held["until"] != "2099-01-01T00:00:00Z" {
			t.Errorf("%v", held)
		}
		if list := get("/admin/users?suspended=true"); len(list["users"].([]any)) != 1 {
			t.Errorf("%v", list)
		}
		post(at+"/restore", "{}", http.StatusOK)
		post(at+"/restore", "{}", http.StatusNotFound)
		if e := s.told(event.UserSuspended); len(e) != 1 || e[0].By != (event.Actor{Kind: event.ActorAdmin, ID: s.staff.ID}) {
			t.Errorf("%+v", e)
		}
		if list := get(at)["activity"].([]any); len(list) != 2 || list[0].(map[string]any)["actor"] != "admin" {
			t.Errorf("%v", list)
		}
	})
	t.Run("P-060 creates, changes, exports and deletes", func(t *testing.T) {
		made := post("/admin/users", `{"email":"New@App.example","name":"New"}`, http.StatusCreated)["user"].(map[string]any)
		if made["email"] != "new@app.example" || made["provisioned"] != true {
			t.Errorf("%v", made)
		}
		at := "/admin/users/" + made["id"].(string)
		post(at+"/email", `{"email":"newer@app.example"}`, http.StatusOK)
		post(at+"/update", `{"name":"Newest"}`, http.StatusOK)
		if u := get(at)["user"].(map[string]any); u["name"] != "Newest" || u["email"] != "newer@app.example" || u["emailVerified"] != nil {
			t.Errorf("%v", u)
		}
		post(at+"/sign-in-link", "{}", http.StatusOK)
		if len(s.mails) != 1 || s.mails[0].To != "newer@app.example" {
			t.Errorf("%d mails", len(s.mails))
		}
		w := s.do(t, ask{method: "POST", path: at + "/export", json: "{}", cookie: cookie})
		if doc := map[string]any{}; json.Unmarshal(w.Body.Bytes(), &doc) != nil || doc["version"] != 1.0 || !strings.HasPrefix(w.Header().Get("Content-Disposition"), "attachment") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		post(at+"/delete", `{}`, http.StatusUnprocessableEntity)
		post(at+"/delete", `{"confirm":"delete"}`, http.StatusOK)
		if w := s.do(t, ask{method: "GET", path: at, json: "-", cookie: cookie}); w.Code != http.StatusNotFound {
			t.Errorf("%d", w.Code)
		}
	})
	for name, row := range map[string]struct {
		path, body string
		status     int
		field      string
	}{
		"P-058 an unknown field":    {at + "/suspend", `{"reasons":"x"}`, 422, "reasons"},
		"P-058 a wrong type":        {at + "/suspend", `{"reason":1}`, 422, "reason"},
		"P-058 a wrong time":        {at + "/suspend", `{"until":"soon"}`, 422, "until"},
		"P-058 a time that passed":  {at + "/suspend", `{"until":"2001-01-01"}`, 422, "until"},
		"P-058 no object":           {at + "/suspend", `[]`, 422, ""},
		"P-058 a taken address":     {"/admin/users", `{"email":"ada@app.example"}`, 422, "email"},
		"P-058 no address":          {"/admin/users", `{"email":"ada"}`, 422, "email"},
		"P-058 a flag that is text": {"/admin/users/search", `{"suspended":"yes"}`, 422, "suspended"},
		"P-058 2 MB":                {at + "/suspend", `{"reason":"` + strings.Repeat("x", 2<<20) + `"}`, 413, ""},
		"P-058 a reason of 501":     {at + "/suspend", `{"reason":"` + strings.Repeat("x", 501) + `"}`, 422, "reason"},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.do(t, ask{method: "POST", path: row.path, json: row.body, cookie: cookie})
			if w.Code != row.status {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if row.status == 422 {
				if v := decoded(t, w); v["field"] != orNil(row.field) {
					t.Errorf("%v", v)
				}
			}
		})
	}
	t.Run("a body that breaks off", func(t *testing.T) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, origin+at+"/suspend", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(`{"reason":"spam"}`))))
		for name, value := range map[string]string{"Cookie": cookie, "Content-Type": "application/json", "Origin": origin, "Sec-Fetch-Site": "same-origin"} {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest || strings.Contains(w.Body.String(), "timeout") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
	t.Run("P-059 mail limit", func(t *testing.T) {
		codes := map[int]int{}
		for range 8 {
			codes[s.do(t, ask{method: "POST", path: at + "/sign-in-link", json: "{}", cookie: cookie}).Code]++
		}
		if codes[200] != 5 || codes[429] != 3 {
			t.Errorf("%v", codes)
		}
	})
	t.Run("P-059 a stale page, a double click", func(t *testing.T) {
		form := ask{method: "POST", path: at + "/suspend", form: url.Values{"reason": {"twice"}}, cookie: cookie}
		for range 2 {
			if w := s.do(t, form); w.Code != http.StatusSeeOther || !strings.HasSuffix(w.Header().Get("Location"), "?done=suspended") {
				t.Errorf("%d", w.Code)
			}
		}
		restore := ask{method: "POST", path: at + "/restore", form: url.Values{}, cookie: cookie}
		s.do(t, restore)
		w := s.do(t, restore)
		if w.Code != http.StatusSeeOther || !strings.HasSuffix(w.Header().Get("Location"), "?done=stale") {
			t.Errorf("%d %s", w.Code, w.Header().Get("Location"))
		}
		if w := s.do(t, ask{method: "GET", path: at + "?done=stale", cookie: cookie}); !strings.Contains(w.Body.String(), "out of date") {
			t.Error("no notice")
		}
	})
}

// TestEndSessionsNamesWhat checks that a field that was forgotten or misspelt ends no
// session.
func TestEndSessionsNamesWhat(t *testing.T) {
	s := newSite(t, nil)
	target, cookie := s.user(t, "Ada", "ada@app.example"), s.session(t, s.staff.ID, 0)
	s.session(t, target.ID, 0)
	s.session(t, target.ID, time.Minute)
	at := "/admin/users/" + target.ID
	open := func() []storage.StoredSession {
		t.Helper()
		rows, err := s.store.ListSessions(t.Context(), target.ID)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	one := open()[0].ID
	for _, row := range []struct{ body, field string }{
		{`{}`, "session"},
		{`{"session":""}`, "session"},
		{`{"session":null}`, "session"},
		{`{"all":false}`, "session"},
		{`{"all":"true"}`, "all"},
		{`{"sesion":"` + one + `"}`, "sesion"},
		{`{"session":"` + one + `","all":true}`, "all"},
	} {
		t.Run("P-058 end-sessions with "+row.body, func(t *testing.T) {
			w := s.do(t, ask{method: "POST", path: at + "/end-sessions", json: row.body, cookie: cookie})
			if w.Code != http.StatusUnprocessableEntity || decoded(t, w)["field"] != row.field || len(open()) != 2 {
				t.Errorf("%d %s, %d sessions are left", w.Code, w.Body, len(open()))
			}
		})
	}
	t.Run("P-058 end-sessions by an empty form", func(t *testing.T) {
		w := s.do(t, ask{method: "POST", path: at + "/end-sessions", form: url.Values{"all": {""}}, cookie: cookie})
		if w.Code != http.StatusUnprocessableEntity || len(open()) != 2 {
			t.Errorf("%d, %d sessions are left", w.Code, len(open()))
		}
	})
	t.Run("P-060 end-sessions ends one, then all", func(t *testing.T) {
		if w := s.do(t, ask{method: "POST", path: at + "/end-sessions", json: `{"session":"` + one + `"}`, cookie: cookie}); w.Code != http.StatusOK || len(open()) != 1 {
			t.Fatalf("%d %s, %d sessions are left", w.Code, w.Body, len(open()))
		}
		if w := s.do(t, ask{method: "POST", path: at + "/end-sessions", json: `{"all":true}`, cookie: cookie}); w.Code != http.StatusOK || len(open()) != 0 {
			t.Errorf("%d %s, %d sessions are left", w.Code, w.Body, len(open()))
		}
	})
	t.Run("P-060 the page has a button for all", func(t *testing.T) {
		s.session(t, target.ID, 2*time.Minute)
		if page := s.do(t, ask{method: "GET", path: at, cookie: cookie}).Body.String(); !strings.Contains(page, `name="all" value="true"`) {
			t.Error("there is none")
		}
		w := s.do(t, ask{method: "POST", path: at + "/end-sessions", form: url.Values{"all": {"true"}}, cookie: cookie})
		if w.Code != http.StatusSeeOther || !strings.HasSuffix(w.Header().Get("Location"), "?done=ended") || len(open()) != 0 {
			t.Errorf("%d %s, %d sessions are left", w.Code, w.Header().Get("Location"), len(open()))
		}
	})
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// TestVisitorOfJSON: P-060. A program without a session gets an object, as for all other
// errors.
func TestVisitorOfJSON(t *testing.T) {
	s := newSite(t, nil)
	r := httptest.NewRequest(http.MethodGet, "https://app.example/admin/users", nil)
	r.Header.Set("Accept", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var e struct{ Error string }
	if err := json.Unmarshal(w.Body.Bytes(), &e); w.Code != http.StatusUnauthorized || err != nil || e.Error != "Unauthorized" {
		t.Errorf("%d %s, %v", w.Code, w.Body, err)
	}
}

func TestNew(t *testing.T) {
	s := newSite(t, nil)
	staff := func(context.Context, latchkey.User) (bool, error) { return false, nil }
	for name, o := range map[string]admin.Options{"no Staff": {}, "a URL": {Staff: staff, Path: "https://app.example"}, "a negative time": {Staff: staff, Recent: -1}} {
		if _, err := admin.New(s.auth, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	t.Run("no Adapter", func(t *testing.T) {
		auth, err := latchkey.New(latchkey.Config{Site: latchkey.Site{URL: "https://app.example"}, Secrets: []string{strings.Repeat("s", 40)}, Providers: []latchkey.Provider{&latchkey.OAuth{ID: "id", OIDC: true, Issuer: "https://id.example", ClientID: "x", ClientSecret: "y"}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := admin.New(auth, admin.Options{Staff: staff}); !errors.Is(err, latchkey.ErrMissingAdapter) || !strings.Contains(err.Error(), "Config.Adapter") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("P-009 tenants", func(t *testing.T) {
		auth, err := latchkey.NewTenants(latchkey.Tenants{
			Name:   func(context.Context, *latchkey.Request) (string, error) { return "acme", nil },
			Config: func(context.Context, string) (*latchkey.Config, error) { return &latchkey.Config{}, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := admin.New(auth, admin.Options{Staff: staff}); err == nil {
			t.Error("tenants that share users are not refused")
		}
		if _, err := admin.New(auth, admin.Options{Staff: staff, SharedUsers: true}); err != nil {
			t.Error(err)
		}
	})
}

// TestActingIsNotStaff: P-046. An administrator who acts as a staff member is not that
// person: every page answers as to a user who is no staff.
func TestActingIsNotStaff(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config, _ *admin.Options) { c.Session.ActAs.Max = time.Hour })
	s.session(t, s.other.ID, 0)
	rows, err := s.store.ListSessions(t.Context(), s.other.ID)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d sessions, %v", len(rows), err)
	}
	err = s.store.CreateSession(t.Context(), storage.StoredSession{
		Token: "acting", UserID: s.staff.ID, Actor: s.other.ID, ActorSession: rows[0].ID, Created: time.Now(), Expires: time.Now().Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	cookie := "__Secure-authjs.session-token=acting"
	r := httptest.NewRequestWithContext(t.Context(), "GET", origin+"/", nil)
	r.Header.Set("Cookie", cookie)
	if acting, err := s.auth.ReadSession(httptest.NewRecorder(), r); err != nil || acting.Actor == nil {
		t.Fatalf("the session does not act: %+v, %v", acting, err)
	}
	for _, a := range []ask{{method: "GET", path: "/admin/users"}, {method: "POST", path: "/admin/users/" + s.other.ID + "/suspend", form: url.Values{"reason": {"spam"}}}} {
		a.cookie = cookie
		if w := s.do(t, a); w.Code != http.StatusNotFound {
			t.Errorf("P-046 %s %s: %d", a.method, a.path, w.Code)
		}
	}
}
