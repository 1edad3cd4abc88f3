package crash

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/realservers"
)

// TestMailerFails asks for links that cannot be delivered.
func TestMailerFails(t *testing.T) {
	iss := newIssuer(t)
	server := realservers.Postgres(t, false)
	for i, by := range drivers {
		l := newLedger(t, server.DSN("postgres"), fmt.Sprintf("mail%d", i))
		a := store(t, by, l.dsn, 4)
		for name, fails := range map[string]func(ctx context.Context, leave func()) error{
			"refuses":                        func(context.Context, func()) error { return errors.New("no such mailbox") },
			"waits until the browser leaves": func(ctx context.Context, leave func()) error { leave(); <-ctx.Done(); return ctx.Err() },
		} {
			t.Run("R-149 "+string(by)+": the mailer "+name, func(t *testing.T) {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				link := ""
				site := newMailingSite(t, a, iss, func(ctx context.Context, made latchkey.Message) error {
					if n := l.count(t, `SELECT count(*) FROM verification_token`); n != 1 {
						t.Errorf("there are %d links to be delivered", n)
					}
					link = made.URL
					return fails(ctx, leave)
				})
				if got := askForLink(ctx, newBrowser(site), "ada@example.com"); !got.isPolite() || got.path() != "/auth/error" {
					t.Errorf("the browser gets %v", got)
				}
				if n := l.count(t, `SELECT count(*) FROM verification_token`); n != 0 {
					t.Errorf("%d links are left", n)
				}
				if got := newBrowser(site).send(t.Context(), link, nil); !got.isPolite() || got.fault() != "Verification" {
					t.Errorf("the link that was not delivered: %v", got)
				}
				if r := l.of(t, "ada@example.com"); r != (rows{}) {
					t.Errorf("there are %v", r)
				}
			})
		}
	}
}
