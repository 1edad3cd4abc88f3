package interop

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// sharedDatabase is a site of Auth.js and one of ours on one origin, one secret and one
// PostgreSQL database, with what each sends by mail.
type sharedDatabase struct {
	*browser

	site *switchingSite
	mail [2]func(email string) (link string)
	pool *pgxpool.Pool
	iss  *latchkeytest.Issuer
}

// TestWholeRoutesOnOneDatabase is R-732: a user signs up by a link at one site, links a
// provider at the other, and signs out and in again at either, while both run on one
// database. It is one user with one account all the time, with stored sessions and
// with JWTs.
func TestWholeRoutesOnOneDatabase(t *testing.T) {
	server := realservers.Postgres(t, false)
	for _, strategy := range []string{"database", "jwt"} {
		for _, first := range []string{"Auth.js", "Latchkey"} {
			t.Run("R-732 "+strategy+", first "+first, func(t *testing.T) {
				s := shareDatabase(t, server, strategy, strings.ToLower(strategy+"-"+first[:4]))
				if first == "Latchkey" {
					s.site.switchOver()
				}
				s.walk(strategy == "database")
			})
		}
	}
}

func (s *sharedDatabase) walk(stored bool) {
	const email = "ada@example.com"
	s.t.Helper()
	s.open(s.ask(email)) // signs up
	s.is("after the sign-up", email, 1, 0)
	s.site.switchOver()
	s.is("at the other site", email, 1, 0)
	s.leads(s.SignIn(s.iss), "/") // links the provider
	s.is("with a provider", email, 1, 1)
	s.site.switchOver()
	s.is("at the first site, with a provider", email, 1, 1)
	s.leads(s.SignOut(), "/")
	s.isOut(stored)

	for range 2 { // the account, at either
		s.leads(s.SignIn(s.iss), "/")
		s.is("by the provider", email, 1, 1)
		s.site.switchOver()
		s.is("by the provider, at the other site", email, 1, 1)
		s.leads(s.SignOut(), "/")
		s.isOut(stored)
	}
	for range 2 { // a link that one site sends signs in at the other
		link := s.ask(email)
		s.site.switchOver()
		s.open(link)
		s.is("by a link of the other site", email, 1, 1)
		s.site.switchOver()
		s.is("by a link, at the site that sent it", email, 1, 1)
		s.leads(s.SignOut(), "/")
		s.isOut(stored)
		if p := s.Get(link); s.Session() != nil {
			s.t.Errorf("a link signs in twice: %d", p.Status)
		}
		s.site.switchOver()
	}
}

// TestFirstLinkOnOneDatabase is R-732: a first link to a user whom a provider's sign-in made
// detaches the account at our site, as the guide for movers says, because rows of Auth.js do not tell
// who vouched for the address. At Auth.js it does not. The user links it anew either way.
func TestFirstLinkOnOneDatabase(t *testing.T) {
	const email = "ada@example.com"
	server := realservers.Postgres(t, false)
	for name, accounts := range map[string]int{"authjs": 1, "latchkey": 0} {
		t.Run("R-732 "+name, func(t *testing.T) {
			s := shareDatabase(t, server, "database", name)
			s.leads(s.SignIn(s.iss), "/") // at Auth.js
			s.is("after the sign-up", email, 1, 1)
			s.leads(s.SignOut(), "/")
			if name == "latchkey" {
				s.site.switchOver()
			}
			s.open(s.ask(email))
			s.is("by the link", email, 1, accounts)
			s.leads(s.SignIn(s.iss), "/")
			s.is("with the provider anew", email, 1, 1)
			s.site.switchOver()
			s.is("at the other site", email, 1, 1)
		})
	}
}

// ask has the site that answers now send a link.
func (s *sharedDatabase) ask(email string) (link string) {
	s.t.Helper()
	asked := s.Post("/auth/signin/email", url.Values{"csrfToken": {s.CSRFToken()}, "callbackUrl": {s.URL + "/"}, "email": {email}})
	s.leads(asked, "/auth/verify-request?provider=email&type=email")
	return s.mail[s.site.switches.Load()%2](email)
}

func (s *sharedDatabase) open(link string) {
	s.t.Helper()
	s.leads(s.Get(link), "/")
}

// is compares the session with the email, and what the database has.
func (s *sharedDatabase) is(when, email string, users, accounts int) {
	s.t.Helper()
	if session := s.Session(); session == nil || session.User.Email != email {
		s.t.Fatalf("%s the session is %v", when, session)
	}
	s.has(when, "users", users)
	s.has(when, "accounts", accounts)
}

// isOut looks at both sites.
func (s *sharedDatabase) isOut(stored bool) {
	s.t.Helper()
	for range 2 {
		if session := s.Session(); session != nil {
			s.t.Fatalf("after the sign-out the session is %v", session)
		}
		s.site.switchOver()
	}
	if stored {
		s.has("after the sign-out", "sessions", 0)
	}
}

func (s *sharedDatabase) has(when, table string, want int) {
	s.t.Helper()
	var n int
	ok(s.t, s.pool.QueryRow(s.t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	if n != want {
		s.t.Fatalf("%s there are %d %s, want %d", when, n, table, want)
	}
}

func shareDatabase(t *testing.T, server realservers.PG, strategy, database string) *sharedDatabase {
	t.Helper()
	pool := newDatabase(t, server, database)
	iss := latchkeytest.NewIssuer(t)
	p, issuer := atIssuer(iss)
	theirs := startPeer(t, "authjs", "whole.mjs", string(asJSON(t, map[string]any{
		"secret": newSecret, "host": server.Dir, "database": database, "strategy": strategy, "issuer": issuer,
	})))
	box := &latchkeytest.Mailbox{}
	store, err := pgxadapter.New(pool, pgxadapter.Options{Layout: sqlstore.AuthJS()})
	ok(t, err)
	c := latchkey.Config{Providers: []latchkey.Provider{&latchkey.Email{Send: box.Send}, p}, Adapter: store}
	if strategy == "jwt" {
		c.Session.Strategy = latchkey.JWTSessions
	}
	site := &switchingSite{sites: [2]http.Handler{reverseProxy(t, theirs.url()), newAuth(t, c)}}
	return &sharedDatabase{
		browser: &browser{latchkeytest.NewClient(t, site), t, false}, site: site, pool: pool, iss: iss,
		mail: [2]func(string) string{
			func(string) string {
				var sent struct{ Mail string }
				theirs.hear(&sent)
				return sent.Mail
			},
			func(email string) string {
				all := box.Messages(email)
				return all[len(all)-1].URL
			},
		},
	}
}

// newDatabase makes a database with the tables of Auth.js' PostgreSQL adapter.
func newDatabase(t *testing.T, server realservers.PG, name string) *pgxpool.Pool {
	t.Helper()
	for _, step := range []struct{ database, sql string }{{"postgres", `CREATE DATABASE "` + name + `"`}, {name, authJSTables}} {
		pool, err := pgxpool.New(t.Context(), server.DSN(step.database))
		ok(t, err)
		t.Cleanup(pool.Close)
		_, err = pool.Exec(t.Context(), step.sql)
		ok(t, err)
		if step.database == name {
			return pool
		}
	}
	return nil
}
