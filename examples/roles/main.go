// Command roles is a site with members and administrators, whose roles come with
// permissions. It prints magic links instead of sending them. Ask for one as
// ada@example.com, who becomes the administrator, or with any other address.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net/http"
	"slices"
	"sync"

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
	}, "ada@example.com")
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:3000", site))
}

// newSite returns the site, for main and for its test. The user who proves that the
// mailbox administrator is theirs becomes an administrator.
func newSite(c latchkey.Config, administrator string) (http.Handler, error) {
	roles := &roleTable{byUser: map[string]string{}}
	c.Events.SignIn = func(_ context.Context, e latchkey.SignInEvent) error {
		if e.Account.EmailVouched && e.Account.Email == administrator { // proven at this sign-in, and not only claimed
			roles.set(e.User.ID, "admin")
		}
		return nil
	}
	c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
		role := roles.of(r.Session.UserID)
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

// whoMay returns a guard that admits users with a permission.
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

// permissions lists what each role may do. Handlers ask for a permission and never
// for a role.
var permissions = map[string][]string{
	"admin":  {"read", "write", "invite"},
	"member": {"read"},
}

// roleTable stands for a table in your database. Its key is the user's id: an
// address may be unproven, and it may belong to another person next year.
type roleTable struct {
	mu     sync.Mutex
	byUser map[string]string
}

func (t *roleTable) set(userID, role string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byUser[userID] = role
}

func (t *roleTable) of(userID string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if role := t.byUser[userID]; role != "" {
		return role
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
