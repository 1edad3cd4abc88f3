package latchkey_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/providers"
	"github.com/latchkeyhq/latchkey/storage"
)

// A handler is tested without a sign-in: the session is put where SessionFrom
// looks for it.
func ExampleContextWithSession() {
	profile := func(w http.ResponseWriter, r *http.Request) {
		s := latchkey.SessionFrom(r.Context())
		switch {
		case s == nil:
			fmt.Fprint(w, "Hello, stranger")
		case time.Since(s.AuthTime) > time.Hour:
			fmt.Fprintf(w, "%s, is that still you?", s.User.Name)
		default:
			fmt.Fprintf(w, "Hello, %s", s.User.Name)
		}
	}
	ada := latchkey.Session{UserID: "1", User: latchkey.SessionUser{Name: "Ada"}}
	fresh := ada
	fresh.Assurance = latchkey.Assurance{AuthTime: time.Now()}

	for _, s := range []*latchkey.Session{nil, &ada, &fresh} {
		r := httptest.NewRequest(http.MethodGet, "/profile", nil)
		answer := httptest.NewRecorder()
		profile(answer, r.WithContext(latchkey.ContextWithSession(r.Context(), s)))
		fmt.Println(answer.Body)
	}
	// Output:
	// Hello, stranger
	// Ada, is that still you?
	// Hello, Ada
}

// The session is what the browser was told; CurrentUser asks the Adapter.
func ExampleAuth_CurrentUser() {
	ctx, auth := context.Background(), exampleAuthWithUsers()

	ctx = latchkey.ContextWithSession(ctx, &latchkey.Session{UserID: "1"}) // LoadSession or a guard, on a site
	user, err := auth.CurrentUser(ctx)
	fmt.Println(user.Name, user.Email, err)

	_, err = auth.CurrentUser(context.Background())
	fmt.Println(errors.Is(err, latchkey.ErrNoSession))
	// Output:
	// Ada ada@example.com <nil>
	// true
}

// "Sign out everywhere else", as a settings page has it.
func ExampleUsers_EndOtherSessions() {
	ctx, auth := context.Background(), exampleAuthWithUsers()

	devices, err := auth.Users().Sessions(ctx, "1")
	here := devices[slices.IndexFunc(devices, func(d storage.StoredSession) bool { return d.UserAgent == "Firefox" })]
	fmt.Println(len(devices), err)

	s := &latchkey.Session{UserID: "1", ID: here.ID} // SessionFrom returns it, on a site
	if err := auth.Users().EndOtherSessions(ctx, s.UserID, s.ID); err != nil {
		fmt.Println(err)
	}
	devices, err = auth.Users().Sessions(ctx, "1")
	fmt.Println(len(devices), devices[0].UserAgent, err)
	// Output:
	// 2 <nil>
	// 1 Firefox <nil>
}

// A settings page that takes an account away, unless it is the last one.
func ExampleUsers_Unlink() {
	ctx, auth := context.Background(), exampleAuthWithUsers()

	accounts, err := auth.Users().Accounts(ctx, "1")
	for _, a := range accounts {
		err = auth.Users().Unlink(ctx, latchkey.AccountRef{UserID: a.UserID, Provider: a.Provider, ProviderAccountID: a.ProviderAccountID})
		fmt.Println(a.Provider, errors.Is(err, latchkey.ErrLastAccount))
	}
	fmt.Println(len(accounts), err == nil)
	// Output:
	// github true
	// 1 false
}

// exampleAuthWithUsers has one user, with one account and two devices.
func exampleAuthWithUsers() *latchkey.Auth {
	ctx, store := context.Background(), memoryadapter.New(memoryadapter.Options{})
	_, err := store.CreateUser(ctx, latchkey.User{ID: "1", Name: "Ada", Email: "ada@example.com"})
	must(err)
	must(store.LinkAccount(ctx, latchkey.Account{UserID: "1", Provider: "github", ProviderAccountID: "583231", Type: latchkey.TypeOAuth}))
	for token, agent := range map[string]string{"one secret": "Firefox", "another secret": "Safari"} {
		must(store.CreateSession(ctx, storage.StoredSession{
			Token: token, UserID: "1", UserAgent: agent, Expires: time.Now().Add(time.Hour),
		}))
	}
	auth, err := latchkey.New(latchkey.Config{
		Site:      latchkey.Site{URL: "https://app.example"},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Adapter:   store,
		Providers: []latchkey.Provider{&latchkey.OAuth{ID: "github", ClientID: "id", ClientSecret: "secret", Issuer: "https://github.com"}},
		Runtime:   latchkey.Runtime{Logger: quiet},
	})
	must(err)
	return auth
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// A link that the application hands over proves no address: it opens the sign-up for it.
func ExampleUsers_invite() {
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{URL: "https://shop.example"}, Secrets: []string{"a secret of at least thirty-two characters"},
		Adapter: memoryadapter.New(memoryadapter.Options{}), Invitations: true,
		Providers: []latchkey.Provider{&latchkey.Email{From: "hello@shop.example", Send: func(context.Context, latchkey.Message) error { return nil }}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	link, err := auth.Users().Invite(ctx, latchkey.Invitation{Email: "ada@example.com", Data: "team 7", NoMail: true})
	fmt.Println(strings.HasPrefix(link, "https://shop.example/auth/invite?token="), err)

	open, err := auth.Users().Invitations(ctx)
	fmt.Println(len(open), open[0].Email, open[0].Data, err)

	fmt.Println(auth.Users().RevokeInvitation(ctx, open[0].ID))
	// Output:
	// true <nil>
	// 1 ada@example.com team 7 <nil>
	// <nil>
}

// An audit log in the store answers what changed on an account, and by whom.
func ExampleAuditLog() {
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{URL: "https://app.example"}, Secrets: []string{"a-secret-of-at-least-32-characters"},
		Adapter: memoryadapter.New(memoryadapter.Options{}), Providers: []latchkey.Provider{providers.GitHub(latchkey.OAuth{ClientID: "id", ClientSecret: "secret"})},
		Operations: latchkey.Operations{Audit: latchkey.Audit{Store: true, KeepPersonal: 90 * 24 * time.Hour}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := event.WithActor(context.Background(), event.Actor{Kind: event.ActorAdmin, ID: "7"})
	var log *latchkey.AuditLog = auth.Audit()
	if err := log.Record(ctx, latchkey.Event{Type: "app.plan", UserID: "42"}); err != nil {
		fmt.Println(err)
		return
	}
	var page latchkey.AuditPage
	page, err = log.List(ctx, latchkey.AuditQuery{UserID: "42"})
	for _, e := range page.Events {
		fmt.Println(e.Type, e.Outcome, e.By.Kind, e.By.ID)
	}
	fmt.Println(err)
	// Output:
	// app.plan success admin 7
	// <nil>
}
