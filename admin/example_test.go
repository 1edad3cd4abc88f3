package admin_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/admin"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// Staff are the users in a table of the application's. Each request asks it, so a row
// that is deleted takes effect at once.
func ExampleNew_staffFromATable() {
	var db *sql.DB // the application's own
	auth, _ := exampleSite()
	pages, err := admin.New(auth, admin.Options{
		Staff: func(ctx context.Context, u latchkey.User) (isStaff bool, err error) {
			err = db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM staff WHERE user_id = $1)", u.ID).Scan(&isStaff)
			return isStaff, err // an error refuses
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	http.NewServeMux().Handle("/admin/", pages)

	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequest("GET", "https://app.example/admin/users", nil))
	fmt.Println(w.Code, strings.HasPrefix(w.Header().Get("Location"), "https://app.example/auth/signin"))
	// Output: 302 true
}

// A front end of the application's own finds a user and suspends the user for a week, by
// the JSON of the same paths. A browser does the same with fetch.
func ExampleHandler_ownFrontEnd() {
	auth, store := exampleSite()
	staff, _ := store.CreateUser(context.Background(), storage.User{Name: "Sam", Email: "sam@app.example"})
	_, _ = store.CreateUser(context.Background(), storage.User{Name: "Ada Lovelace", Email: "ada@app.example"})
	_ = store.CreateSession(context.Background(), storage.StoredSession{Token: "sams", UserID: staff.ID, Created: time.Now(), Expires: time.Now().Add(time.Hour)})
	pages, err := admin.New(auth, admin.Options{
		Staff: func(_ context.Context, u latchkey.User) (bool, error) { return u.ID == staff.ID, nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	post := func(path string, body, answer any) int {
		raw, _ := json.Marshal(body)
		r := httptest.NewRequest("POST", "https://app.example/admin"+path, strings.NewReader(string(raw)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", "https://app.example") // browsers add both
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.AddCookie(&http.Cookie{Name: "__Secure-authjs.session-token", Value: "sams"})
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		_ = json.Unmarshal(w.Body.Bytes(), answer)
		return w.Code
	}
	var found struct{ Users []struct{ ID, Name string } }
	post("/users/search", map[string]string{"search": "ada"}, &found)
	fmt.Println(found.Users[0].Name)

	var done struct{ Done string }
	code := post("/users/"+found.Users[0].ID+"/suspend", map[string]string{"until": time.Now().AddDate(0, 0, 7).Format(time.RFC3339), "reason": "spam"}, &done)
	fmt.Println(code, done.Done)
	// Output:
	// Ada Lovelace
	// 200 suspended
}

// A nightly job suspends the users that a report names. A user who is suspended already
// keeps the earlier suspension, so the job can be repeated.
func Example_suspendNightly() {
	auth, store := exampleSite()
	ada, _ := store.CreateUser(context.Background(), storage.User{Name: "Ada", Email: "ada@app.example"})
	report := []string{ada.ID, "a user who has been deleted"}

	ctx := event.WithActor(context.Background(), event.Actor{Kind: event.ActorSystem, ID: "abuse report"})
	for range 2 { // as on two nights
		for _, id := range report {
			u, err := auth.Users().Get(ctx, id)
			switch {
			case err != nil:
				fmt.Println("not there any more")
			case u.Suspension.Holds(time.Now()):
				fmt.Println(u.Name, "is suspended already")
			default:
				err := auth.Users().Suspend(ctx, id, users.SuspendOptions{Until: time.Now().AddDate(0, 1, 0), Reason: "abuse report"})
				fmt.Println(u.Name, "suspended", err)
			}
		}
	}
	// Output:
	// Ada suspended <nil>
	// not there any more
	// Ada is suspended already
	// not there any more
}

// exampleSite returns a site with stored sessions, and its store.
func exampleSite() (*latchkey.Auth, *memoryadapter.Adapter) {
	store := memoryadapter.New(memoryadapter.Options{})
	auth, err := latchkey.New(latchkey.Config{
		Adapter: store, Secrets: []string{"a secret that is long enough for every use of it"}, Site: latchkey.Site{URL: "https://app.example"},
		Providers: []latchkey.Provider{&latchkey.Email{Send: func(context.Context, latchkey.Message) error { return nil }}},
		Session:   latchkey.SessionConfig{Strategy: latchkey.DatabaseSessions},
		Runtime:   latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
	})
	if err != nil {
		panic(err)
	}
	return auth, store
}
