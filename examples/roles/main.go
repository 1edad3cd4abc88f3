// Command roles is a site with members and administrators, whose roles come with
// permissions. It prints magic links instead of sending them: ask for one as
// ada@example.com, who is an administrator, or as anybody else.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net/http"
	"slices"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

func main() {
	site, err := newSite(latchkey.Config{
		Site:    latchkey.Site{URL: "http://localhost:3000"},
		Secrets: []string{rand.Text() + rand.Text()}, // for this run; yours is AUTH_SECRET
		Adapter: memoryadapter.New(memoryadapter.Options{}),
		Providers: []latchkey.Provider{&latchkey.Email{
			Send: func(_ context.Context, m latchkey.Message) error {
				fmt.Println("Open", m.URL)
				return nil
			},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:3000", site))
}

// newSite is the site, for main and for its test.
func newSite(c latchkey.Config) (http.Handler, error) {
	c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
		role := roleOf(r.Session.User.Email)
		r.Session.Extra = latchkey.Claims{"role": role, "permissions": permissions[role]} // GET /auth/session has them, too
		return r.Session, nil
	}
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	site := http.NewServeMux()
	site.Handle("GET /{$}", auth.RequireSession(http.HandlerFunc(home)))
	site.Handle("GET /report", whoMay(auth, "read")(say("The report.")))
	site.Handle("GET /admin", whoMay(auth, "invite")(say("Only for administrators.")))
	return auth.Middleware(site), nil
}

// whoMay is a guard: it lets those pass who have a permission.
func whoMay(auth *latchkey.Auth, permission string) func(http.Handler) http.Handler {
	return auth.Authorize(func(_ *http.Request, s *latchkey.Session) error {
		if s == nil {
			return latchkey.ErrNoSession // to the sign-in page, and back here afterwards
		}
		if granted, _ := latchkey.Value[[]string](s.Extra, "permissions"); !slices.Contains(granted, permission) {
			return latchkey.ErrAccessDenied // a page that says so
		}
		return nil
	})
}

// permissions are what each role may do: handlers ask for these, and never for a role.
var permissions = map[string][]string{
	"admin":  {"read", "write", "invite"},
	"member": {"read"},
}

// roleOf stands for the table in which you keep roles.
func roleOf(email string) string {
	if email == "ada@example.com" {
		return "admin"
	}
	return "member"
}

func home(w http.ResponseWriter, r *http.Request) {
	s := latchkey.SessionFrom(r.Context())
	fmt.Fprintf(w, "Hello, %s. You are a %s, with the id %s.", s.User.Email, s.Extra.String("role"), s.UserID)
}

func say(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
}
