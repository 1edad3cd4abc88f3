package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/storage"
)

// report is what Auth.js saw last in the schema of an app, and did there.
type report struct {
	Schema            string
	Renewals, Visited int // sessions that it renewed, users that it signed in
	Errors            []string
	Users             []userWire
	Accounts          []storage.AccountRecord
	Sessions          []storage.StoredSessionRecord
}

// besideDrizzle starts PostgreSQL, and Auth.js with its Drizzle adapter beside the
// apps. In the end each row is the same to both.
func besideDrizzle(t *testing.T) (env []string, compare func(*testing.T)) {
	const folder = "../../adapters/sqladapter/test"
	dir := realservers.Postgres(t, false).Dir
	dsn := "postgres://latchkey@/postgres?host=" + url.QueryEscape(dir)
	tables, err := filepath.Abs(folder + "/testdata/schemas/drizzle_postgres.sql")
	noError(t, err)
	c := exec.CommandContext(t.Context(), realservers.NodeJS(t, folder+"/js", "@auth/drizzle-adapter"), "beside.mjs", dir)
	c.Dir, c.Stderr = folder+"/js", os.Stderr
	in, err := c.StdinPipe()
	noError(t, err)
	out, err := c.StdoutPipe()
	noError(t, err)
	noError(t, c.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	said := json.NewDecoder(bufio.NewReader(out))
	var port int
	noError(t, said.Decode(&port))
	return []string{"POSTGRES=" + dsn, "TABLES=" + tables, "PEER=127.0.0.1:" + strconv.Itoa(port)}, func(t *testing.T) {
		noError(t, in.Close())
		var all report
		for said.More() {
			var r report
			noError(t, said.Decode(&r))
			r.compare(t, dsn)
			all.Renewals, all.Visited = all.Renewals+r.Renewals, all.Visited+r.Visited
		}
		if all.Visited == 0 || all.Renewals < all.Visited {
			t.Errorf("Auth.js signed in %d users of the app and renewed %d sessions", all.Visited, all.Renewals)
		}
		t.Logf("Auth.js signed in %d users of the app and renewed %d sessions", all.Visited, all.Renewals)
	}
}

// compare reads what Auth.js saw last.
func (r report) compare(t *testing.T, dsn string) {
	t.Helper()
	if len(r.Errors) > 0 || len(r.Accounts) == 0 || len(r.Sessions) == 0 {
		t.Errorf("%s: %d accounts, %d sessions, %q", r.Schema, len(r.Accounts), len(r.Sessions), r.Errors)
	}
	layout, err := sqlstore.SharedWith(sqlstore.Postgres, "drizzle")
	noError(t, err)
	pool, err := pgxpool.New(t.Context(), dsn+"&search_path="+r.Schema)
	noError(t, err)
	defer pool.Close()
	a, err := pgxadapter.New(pool, pgxadapter.Options{Layout: layout})
	noError(t, err)
	for _, w := range r.Users {
		u, err := a.GetUser(t.Context(), w.ID)
		same(t, r.Schema, u, w.user(), err)
	}
	for _, w := range r.Accounts {
		got, err := a.GetAccount(t.Context(), w.Provider, w.ProviderAccountID)
		same(t, r.Schema, text(t, storage.AccountRecord(got)), text(t, w), err)
	}
	for _, w := range r.Sessions {
		s, u, err := a.GetSessionAndUser(t.Context(), w.Token)
		same(t, r.Schema, [2]any{s.Expires.UTC(), u.ID}, [2]any{w.Expires.UTC(), w.UserID}, err)
	}
}

// text is JSON, since accounts hide their tokens when they are printed.
func text(t *testing.T, r storage.AccountRecord) string {
	t.Helper()
	raw, err := json.Marshal(r)
	noError(t, err)
	return string(raw)
}

// same compares by what is printed.
func same(t *testing.T, where string, got, want any, err error) {
	t.Helper()
	if fmt.Sprintf("%v", got) != fmt.Sprintf("%v", want) || err != nil {
		t.Errorf("%s: Latchkey reads %v, Auth.js %v, error %v", where, got, want, err)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
