package pgxadapter_test

import (
	"context"
	"errors"
	"html/template"
	"log"
	"net/http"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/providers"
)

// A site with roles, a sign-in page of its own and users in PostgreSQL.
func Example_site() {
	pool, err := pgxpool.New(context.Background(), os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	page := template.Must(template.ParseFiles("login.html"))
	site, err := newSite(context.Background(), pool, page, latchkey.Config{
		Providers: []latchkey.Provider{providers.Google(latchkey.OAuth{})},
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:3000", site))
}

func newSite(ctx context.Context, pool *pgxpool.Pool, page *template.Template, c latchkey.Config) (http.Handler, error) {
	o := pgxadapter.Options{}
	if err := pgxadapter.Migrate(ctx, pool, o); err != nil {
		return nil, err
	}
	store, err := pgxadapter.New(pool, o)
	if err != nil {
		return nil, err
	}
	c.Adapter = store
	c.Pages.SignIn = "/login"
	c.Callbacks.Session = func(ctx context.Context, in latchkey.SessionInfo) (*latchkey.Session, error) {
		role, err := roleOf(ctx, pool, in.Session.UserID)
		in.Session.Extra = latchkey.Claims{"role": role}
		return in.Session, err
	}
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	admins := auth.Authorize(func(_ *http.Request, s *latchkey.Session) error {
		switch {
		case s == nil:
			return latchkey.ErrNoSession // to the sign-in page, and back here afterwards
		case s.Extra.String("role") == "admin":
			return nil
		}
		return latchkey.ErrAccessDenied
	})
	login := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		forms, err := auth.Forms(w, r)
		if err != nil {
			auth.WriteError(w, r, err)
			return
		}
		w.WriteHeader(forms.Status)
		_ = page.Execute(w, forms)
	})
	site := http.NewServeMux()
	site.Handle("GET /login", login)
	site.Handle("POST /login", auth.SignInAction(login))
	site.Handle("GET /admin", admins(http.HandlerFunc(showUsers)))
	return auth.Middleware(site), nil
}

// roleOf returns the role of a user from a table of the application's own, and ""
// for a user without one.
func roleOf(ctx context.Context, pool *pgxpool.Pool, userID string) (role string, err error) {
	err = pool.QueryRow(ctx, "SELECT role FROM roles WHERE user_id = $1", userID).Scan(&role)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return role, err
}

func showUsers(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("the users")) }

// TestExampleSite runs the site of the example with an OpenID Provider.
func TestExampleSite(t *testing.T) {
	pool := start(t).empty(t)
	_, err := pool.Exec(t.Context(), "CREATE TABLE roles (user_id text PRIMARY KEY, role text NOT NULL)")
	ok(t, err)
	issuer := latchkeytest.NewIssuer(t)
	issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com"})
	page := template.Must(template.New("").Parse(`{{range .SignIn}}<form method="post"><button name="providerId" value="{{.Provider}}">{{.Submit}}</button></form>{{end}}`))
	site, err := newSite(t.Context(), pool, page, latchkey.Config{
		Site:      latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Providers: []latchkey.Provider{issuer.Provider()},
	})
	ok(t, err)
	browser := latchkeytest.NewClient(t, site)
	if p := browser.Get("/admin"); p.Location() == nil || p.Location().Path != "/login" {
		t.Errorf("a visitor at /admin: %d, to %v; want the sign-in page", p.Status, p.Location())
	}
	if p := browser.Get("/login"); p.Status != http.StatusOK {
		t.Errorf("the sign-in page: %d %s", p.Status, p.Body)
	}
	browser.SignIn(issuer)
	if p := browser.Get("/admin"); p.Status != http.StatusForbidden {
		t.Errorf("a member at /admin: %d, want 403", p.Status)
	}
	_, err = pool.Exec(t.Context(), "INSERT INTO roles SELECT id, 'admin' FROM users WHERE email = 'ada@example.com'")
	ok(t, err)
	if p := browser.Get("/admin"); string(p.Body) != "the users" {
		t.Errorf("an admin at /admin: %d %s", p.Status, p.Body)
	}
}
