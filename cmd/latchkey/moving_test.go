package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// The commands and statements of docs/moving/django-devise-laravel.md, beside the tables
// of Devise in one database: a schema of its own, new ids, the column that leads from the
// new to the old ones, and users who were locked out.
func TestMovingFromDevise(t *testing.T) {
	guide, err := os.ReadFile("../../docs/moving/django-devise-laravel.md")
	if err != nil {
		t.Fatal(err)
	}
	_, link, _ := strings.Cut(string(guide), "```sql\n")
	link, _, _ = strings.Cut(link, "```")
	old := startPostgres(t)
	d, err := parseDatabase(old)
	if err != nil {
		t.Fatal(err)
	}
	db, err := d.open(false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	do := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	do(`CREATE TABLE public.users (id bigserial PRIMARY KEY, email text NOT NULL, encrypted_password text NOT NULL, confirmed_at timestamptz, locked_at timestamptz)`)
	do(`INSERT INTO public.users (email, encrypted_password, confirmed_at) VALUES ('Ada@example.com ', '', now()), ('bob@example.com', '', NULL)`)

	s := &peopleSite{T: t, now: time.Now(), env: environment{"DATABASE_URL=" + old, "AUTH_URL=https://app.example/auth", "AUTH_SECRET=" + newerSecret}}
	s.says(exitProblem, "users", "migrate")
	do(`CREATE SCHEMA latchkey`)
	s.env[0] += "&search_path=latchkey"
	s.says(exitOK, "at version", "migrate")
	const users = "email,hash,email_verified\nada@example.com,$2a$04$abcdefghijklmnopqrstuuS6dr1O41yVMBCVHuXUScIwtSZC9MfXK,true\nbob@example.com,$2a$04$abcdefghijklmnopqrstuuS6dr1O41yVMBCVHuXUScIwtSZC9MfXK,false\n"
	if out, errs, code := s.run(users, "password", "import", "--write", "-"); code != exitOK {
		t.Fatalf("%s%s", out, errs)
	}
	for statement := range strings.SplitSeq(strings.TrimSpace(link), ";") {
		if statement != "" {
			do(statement)
		}
	}
	var linked, unlinked bool
	err = db.QueryRowContext(t.Context(), `SELECT
		EXISTS (SELECT FROM public.users o JOIN latchkey.users n ON o.latchkey_id = n.id WHERE o.id = 1 AND n.email = 'ada@example.com'),
		EXISTS (SELECT FROM public.users WHERE id = 2 AND latchkey_id IS NULL)`).Scan(&linked, &unlinked)
	if err != nil || !linked || !unlinked {
		t.Errorf("proven address linked: %t, unproven one not: %t, error %v", linked, unlinked, err)
	}
	s.says(exitOK, "suspended user", "user", "suspend", "--reason", "locked before the move", "--", "ada@example.com")
}
