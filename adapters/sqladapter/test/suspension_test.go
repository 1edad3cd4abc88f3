package test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// TestSuspension: P-015, P-016, P-018 on databases: sign-ins and a suspension at once
// leave no live session.
func TestSuspension(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		for name, strategy := range map[string]latchkey.Strategy{"rows": latchkey.DatabaseSessions, "tokens": latchkey.JWTSessions} {
			t.Run(name, func(t *testing.T) {
				open := e.emptied(e.migrated(t, empty), sqladapter.Options{})
				for range max(2, race.Rounds(t)/10) {
					a := open(t)
					ada, err := a.CreateUser(t.Context(), storage.User{ID: plainsite.UserID, Name: "Ada"})
					ok(t, err)
					change := func(c *latchkey.Config) { c.Adapter, c.Session.Strategy = a, strategy }
					s := plainsite.New(t, change)
					browsers := make([]*plainsite.Site, 4)
					for i := range browsers {
						browsers[i] = &plainsite.Site{T: t, Auth: s.Auth, Store: s.Store, Jar: map[string]string{}}
					}
					browsers[0].SignIn()
					if browsers[0].Session() == nil {
						t.Fatal("no session")
					}
					var all sync.WaitGroup
					for _, b := range browsers[1:] {
						all.Go(func() { b.SignIn() })
					}
					all.Go(func() {
						if err := s.Auth.Users().Suspend(t.Context(), ada.ID, users.SuspendOptions{Reason: "spam"}); err != nil {
							t.Error(err)
						}
					})
					all.Wait()
					for _, b := range browsers {
						if b.Session() != nil {
							t.Error("P-018 a session is alive")
						}
					}
					late := &plainsite.Site{T: t, Auth: s.Auth, Store: s.Store, Jar: map[string]string{}}
					w := late.Send(s.Auth, http.MethodPost, "/auth/callback/password", url.Values{"name": {"ada"}, "password": {"lovelace"}})
					if to := w.Header().Get("Location"); !strings.Contains(to, "code=suspended") || late.Session() != nil {
						t.Errorf("P-015 to %q", to)
					}
				}
			})
		}
	})
}
