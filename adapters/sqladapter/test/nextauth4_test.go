package test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestMovedFromNextAuth4 is R-565: a user who signed in at NextAuth v4 with stored
// sessions stays signed in here, if the site keeps the name of the cookie, and signs out
// of both.
func TestMovedFromNextAuth4(t *testing.T) {
	server := servers.Postgres(t)
	db := authJSDatabase(t, postgresSchemas(server), authJS)
	store, err := sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{Layout: sqlstore.AuthJS()})
	ok(t, err)
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{BasePath: "/api/auth", TrustHost: true}, Secrets: []string{"the secret after the move, long enough"},
		Adapter: store, Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
		Providers: []latchkey.Provider{latchkeytest.NewIssuer(t).Provider()},
		Cookies:   latchkey.Cookies{SessionToken: latchkey.CookieOptions{Name: "next-auth.session-token"}}, // __Secure- on https
	})
	ok(t, err)
	b := latchkeytest.NewClient(t, auth)
	b.BasePath = "/api/auth"

	where := onPostgres(t, server, db)
	where["url"] = b.URL
	text, err := json.Marshal(where)
	ok(t, err)
	peer := realservers.NewPeer(t, "nextauth4", "next-auth", string(text))
	result, err := peer.Ask("signIn", "ada@example.com")
	ok(t, err)
	was := result.(record)
	name, _ := was["name"].(string)
	value, _ := was["value"].(string)
	if session, _ := was["session"].(record); session["user"] == nil || name != "next-auth.session-token" {
		t.Fatalf("before the move: %v", was)
	}
	b.SetCookie(&http.Cookie{Name: name, Value: value})
	if s := b.Session(); s == nil || s.User.Email != "ada@example.com" {
		t.Fatalf("after the move the session is %+v", s)
	}
	now, err := peer.Ask("session", name, value)
	ok(t, err)
	if session, _ := now.(record); session["user"] == nil {
		t.Errorf("beside it, there: %v", now)
	}
	b.SignOut()
	now, err = peer.Ask("session", name, value)
	ok(t, err)
	if session, _ := now.(record); session["user"] != nil {
		t.Errorf("signed out here, and there: %v", now)
	}
}
