package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
)

// said finds the commands on a page: inline, or at the start of a line of a
// block.
var said = regexp.MustCompile("(?m)`(latchkey [a-z][^`\n]*)`|^(?:\\$ )?(latchkey [a-z][^`\n]*)$")

func commandsOf(t *testing.T, page string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range said.FindAllStringSubmatch(string(text), -1) {
		command, _, _ := strings.Cut(m[1]+m[2], "#")
		if command = regexp.MustCompile(`[|<>].*`).ReplaceAllString(command, ""); !strings.Contains(command, ": ") { // an error message begins so, too
			list = append(list, strings.TrimSpace(command))
		}
	}
	return list
}

// TestDocumentedCommands parses every command that the pages show.
func TestDocumentedCommands(t *testing.T) {
	pages := []string{"../../README.md"}
	for _, pattern := range []string{"*.md", "[^i]*/*.md"} { // of docs/internals and docs/images none
		more, err := filepath.Glob("../../docs/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, more...)
	}
	found := 0
	for _, page := range pages {
		for _, command := range commandsOf(t, page) {
			words := strings.Fields(command)[1:]
			if words[0] == "help" {
				continue
			}
			found++
			c, rest, err := (&program{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}).command().Find(words)
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err == nil {
				err = c.ValidateArgs(c.Flags().Args())
			}
			if err != nil {
				t.Errorf("R-330 %s: %s: %v", filepath.Base(page), command, err)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d commands were found", found)
	}
}

// authJSTables are those that Auth.js' PostgreSQL adapter asks for.
var authJSTables = []string{
	`CREATE TABLE verification_token (identifier TEXT NOT NULL, expires TIMESTAMPTZ NOT NULL, token TEXT NOT NULL, PRIMARY KEY (identifier, token))`,
	`CREATE TABLE accounts (id SERIAL PRIMARY KEY, "userId" INTEGER NOT NULL, type VARCHAR(255) NOT NULL, provider VARCHAR(255) NOT NULL,
		"providerAccountId" VARCHAR(255) NOT NULL, refresh_token TEXT, access_token TEXT, expires_at BIGINT, id_token TEXT, scope TEXT,
		session_state TEXT, token_type TEXT)`,
	`CREATE TABLE sessions (id SERIAL PRIMARY KEY, "userId" INTEGER NOT NULL, expires TIMESTAMPTZ NOT NULL, "sessionToken" VARCHAR(255) NOT NULL)`,
	`CREATE TABLE users (id SERIAL PRIMARY KEY, name VARCHAR(255), email VARCHAR(255), "emailVerified" TIMESTAMPTZ, image TEXT)`,
	`INSERT INTO users (email) VALUES ('ada@example.com')`,
	`INSERT INTO sessions ("userId", expires, "sessionToken") VALUES (1, '2100-01-01', 'theirs')`,
}

// TestMovingGuide does to a database of Auth.js what the guide says.
func TestMovingGuide(t *testing.T) {
	rawURL := startPostgres(t)
	d, err := parseDatabase(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	db, err := d.open(false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range authJSTables {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range commandsOf(t, "../../docs/moving-from-authjs.md") {
		if !strings.HasPrefix(command, "latchkey migrate") {
			continue
		}
		var out bytes.Buffer
		code := run(t.Context(), strings.Fields(command)[1:], nil, &out, &out, []string{"DATABASE_URL=" + rawURL})
		if code != exitOK {
			t.Fatalf("R-330 %s: %s", command, &out)
		}
	}
	found, err := sqladapter.Detect(t.Context(), db, sqladapter.Postgres)
	if err != nil || !found.Usable() || found.Layout.PlainTokens {
		t.Fatalf("R-330 the guide leaves %+v, error %v", found, err)
	}
	store, err := sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{Layout: found.Layout})
	if err != nil {
		t.Fatal(err)
	}
	if _, u, err := store.GetSessionAndUser(t.Context(), "theirs"); err != nil || u.Email != "ada@example.com" {
		t.Errorf("R-330 the session is %v's, error %v", u, err)
	}
	if _, err := store.CreateUser(t.Context(), latchkey.User{Email: "eve@example.com"}); err != nil {
		t.Errorf("R-330 a new user: %v", err)
	}
}
