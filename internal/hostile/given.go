package hostile

import (
	"context"
	"database/sql"
	"net/http"
	"slices"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// What a reader of a fragment has before. Rights belong to the victim alone.

// Auth returns a site for fragments of the documentation that use one without making it.
func Auth() *latchkey.Auth {
	auth, err := newSite(func(*latchkey.Config) {})
	if err != nil {
		panic(err)
	}
	return auth
}

// Adapter returns an empty store for fragments that use one without making it.
func Adapter() storage.Adapter { return memoryadapter.New(memoryadapter.Options{}) }

// DB returns nil. A fragment that decides by what a database says cannot be tested
// alone, but only as part of a whole program.
func DB() *sql.DB { return nil }

// Send puts a mail into the mailboxes of the visitors.
func Send(ctx context.Context, m latchkey.Message) error { return current.box.Send(ctx, m) }

// Queue takes mails that a program has composed.
type Queue struct{}

// Put drops a mail, and records a fault if to is an address that the intruder only claims.
func (Queue) Put(_ context.Context, to, _, _, _ string) error {
	current.hear("a mail", to)
	return nil
}

// MailUser drops a mail to the user with an id, who reads it at a proven address.
func MailUser(context.Context, string, string) error { return nil }

// Invited reports whether an e-mail address is the victim's.
func Invited(email string) bool { return email == current.address }

// RoleOf returns the role of the victim's users, and none for others.
func RoleOf(userID string) string {
	if userID != "" && slices.Contains(current.victims, userID) {
		return current.role()
	}
	return ""
}

// RoleOfAccount returns the role of the victim's account at the first issuer, and none
// for others.
func RoleOfAccount(provider, providerAccountID string) string {
	if provider != "other" && providerAccountID == victim {
		return current.role()
	}
	return ""
}

// NewApp returns a site with one provider.
func NewApp(p latchkey.Provider) http.Handler {
	auth, err := newSite(func(c *latchkey.Config) {
		c.Providers, c.Site = []latchkey.Provider{p}, latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}
	})
	if err != nil {
		panic(err)
	}
	return auth.Middleware(auth.RequireSession(showSession(auth)))
}

// role returns the first word of a fixed list of roles that the program has as a
// literal, or "admin".
func (s *stage) role() string {
	for _, word := range []string{"admin", "support", "editor", "owner", "staff", "member"} {
		if slices.Contains(s.literals, word) {
			return word
		}
	}
	return "admin"
}
