package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// peopleSite is a database with users, and the environment of its site.
type peopleSite struct {
	*testing.T
	env   environment
	store *sqladapter.Adapter
	ada   storage.User
	now   time.Time
}

// eachDatabase runs a test on SQLite and PostgreSQL.
func eachDatabase(t *testing.T, f func(s *peopleSite)) {
	t.Run("SQLite", func(t *testing.T) { f(newPeopleSite(t, "sqlite:"+filepath.Join(t.TempDir(), "auth.db"))) })
	t.Run("PostgreSQL", func(t *testing.T) { f(newPeopleSite(t, startPostgres(t))) })
}

func newPeopleSite(t *testing.T, url string) *peopleSite {
	s := &peopleSite{
		T: t, now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
		env: environment{"DATABASE_URL=" + url, "AUTH_URL=https://app.example/auth", "AUTH_SECRET=" + newerSecret},
	}
	if out, errs, code := s.run("", "migrate"); code != exitOK {
		t.Fatal(out, errs)
	}
	d, err := parseDatabase(url)
	s.must(err)
	db, err := d.open(false)
	s.must(err)
	t.Cleanup(func() { _ = db.Close() })
	s.store, err = sqladapter.New(db, d.dialect, sqladapter.Options{})
	s.must(err)
	s.ada = s.add("ada@example.com", "Ada Lovelace")
	s.must(s.store.LinkAccount(t.Context(), storage.Account{UserID: s.ada.ID, Provider: "github", ProviderAccountID: "583231", Type: storage.TypeOAuth}))
	return s
}

func (s *peopleSite) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *peopleSite) add(email, name string) storage.User {
	s.Helper()
	u, err := s.store.CreateUser(s.Context(), storage.User{Email: email, Name: name, Created: s.now.Add(-time.Hour)})
	s.must(err)
	s.must(s.store.CreateSession(s.Context(), storage.StoredSession{Token: "token of " + u.ID, UserID: u.ID, Expires: time.Now().Add(time.Hour)}))
	return u
}

// run returns what the command prints, and its exit code. Nothing that it prints is an
// escape sequence or a secret (P-061).
func (s *peopleSite) run(in string, args ...string) (out, errs string, code int) {
	s.Helper()
	var stdout, stderr bytes.Buffer
	p := &program{strings.NewReader(in), &stdout, &stderr, s.env, func() time.Time { return s.now }, &http.Client{}}
	code = p.run(s.Context(), args)
	for _, text := range []string{stdout.String(), stderr.String()} {
		if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			s.Errorf("P-061 %v prints what a terminal may obey: %q", args, text)
		}
		if strings.Contains(text, newerSecret) || strings.Contains(text, "hunter2") || strings.Contains(text, "token of") {
			s.Errorf("P-061 %v prints a secret: %s", args, text)
		}
	}
	return stdout.String(), stderr.String(), code
}

// says expects an exit code and a part of what is printed.
func (s *peopleSite) says(code int, part string, args ...string) {
	s.Helper()
	if out, errs, got := s.run("", args...); got != code || !strings.Contains(out+errs, part) {
		s.Errorf("%v: exit code %d, want %d, and it prints %q, not\n%s%s", args, got, code, part, out, errs)
	}
}

// sessions returns how many sessions a user has.
func (s *peopleSite) sessions(userID string) int {
	s.Helper()
	list, err := s.store.ListSessions(s.Context(), userID)
	s.must(err)
	return len(list)
}

// TestUserReads: P-061, the commands that change nothing.
func TestUserReads(t *testing.T) {
	eachDatabase(t, func(s *peopleSite) {
		eve := s.add("eve@example.com", "\x1b[31mEve\u202e\x07\n=1+1")
		s.env = s.env[:1] // they need neither the secret nor the URL
		s.says(exitOK, "ada@example.com  Ada Lovelace  -         2026-11-21T11:00:00Z  active", "user", "list", "--search", "ÁDA")
		s.says(exitOK, `\u001b[31mEve\u202e\u0007\u000a=1+1`, "user", "list")
		s.says(exitOK, s.ada.ID, "user", "find", "Ada@example.com")
		s.says(exitOK, s.ada.ID, "user", "find", s.ada.ID)
		s.says(exitOK, s.ada.ID, "user", "find", "--provider", "github", "--account", "583231")
		s.says(exitProblem, "there is no such user", "user", "find", "nobody@example.com")
		s.says(exitProblem, "there is no such user", "user", "find", "nobody")
		s.says(exitProblem, "there is no such user", "user", "find", "--provider", "github", "--account", "1")
		s.says(exitUsage, "name a user", "user", "find")
		s.says(exitUsage, "name a user", "user", "find", "x", "--provider", "github", "--account", "1")
		s.says(exitUsage, `--format: there is no form "xml": want text, json or csv`, "user", "list", "--format", "xml")
		s.says(exitUsage, "--limit", "user", "list", "--limit", "-1")
		s.says(exitUsage, "--search: ", "user", "list", "--search", strings.Repeat("a", 300))
		s.says(exitUsage, "show has no CSV", "user", "show", s.ada.ID, "--format", "csv")

		out, _, code := s.run("", "user", "show", "ada@example.com")
		want := "id:        " + s.ada.ID + "\ne-mail:    ada@example.com\nname:      Ada Lovelace\ncreated:   2026-11-21T11:00:00Z\n" +
			"state:     active\naccounts:  github 583231\npasskeys:  0\nfactors:   0\nsessions:  1\n"
		if code != exitOK || out != want {
			s.Errorf("P-061 show prints\n%s, not\n%s", out, want)
		}
		var shown detail
		out, _, _ = s.run("", "user", "show", eve.ID, "--format", "json")
		if err := json.Unmarshal([]byte(out), &shown); err != nil || shown.Name != eve.Name || shown.Sessions != 1 || shown.State != "active" {
			s.Errorf("P-061 %v: %s", err, out)
		}
		var list []person
		out, _, _ = s.run("", "user", "list", "--format", "json", "--limit", "1")
		if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 {
			s.Errorf("P-061 %v: %s", err, out)
		}
		out, _, _ = s.run("", "user", "list", "--suspended", "--format", "json")
		if out != "[]\n" {
			s.Errorf("P-061 %q", out)
		}
		s.says(exitProblem, "latchkey migrate", "user", "list", "--database", "sqlite:"+filepath.Join(s.TempDir(), "none.db"))
	})
}

// TestUserCSV: P-042, no cell is a formula, and each record is one row.
func TestUserCSV(t *testing.T) {
	s := newPeopleSite(t, "sqlite:"+filepath.Join(t.TempDir(), "auth.db"))
	names := []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "a\n=1", `"quoted", and more`, "plain"}
	for i, name := range names {
		s.add("u"+string(rune('a'+i))+"@example.com", name)
	}
	out, _, code := s.run("", "user", "list", "--format", "csv", "--limit", "0")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || code != exitOK || len(rows) != len(names)+2 || strings.Count(out, "\n") != len(rows) {
		t.Fatalf("P-042 %v, %d rows: %s", err, len(rows), out)
	}
	var got []string
	for _, row := range rows[1:] {
		for _, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				t.Errorf("P-042 %q is a formula", cell)
			}
		}
		got = append(got, row[2])
	}
	for _, want := range []string{"'=1+1", "'+1", "'-1", "'@SUM(A1)", `'\u0009=1`, `'\u000d=1`, `a\u000a=1`, `"quoted", and more`, "plain"} {
		if !slices.Contains(got, want) {
			t.Errorf("P-042 %q is not in %q", want, got)
		}
	}
}

// TestUserChanges: P-061, the commands that suspend, end, export and delete.
func TestUserChanges(t *testing.T) {
	eachDatabase(t, func(s *peopleSite) {
		eve := s.add("eve@example.com", "Eve")
		s.says(exitProblem, "the user is not suspended", "user", "restore", "eve@example.com")
		s.says(exitUsage, "--until: want a date", "user", "suspend", eve.ID, "--until", "soon")
		s.says(exitUsage, "--until: it has passed", "user", "suspend", eve.ID, "--until", "2020-01-01")
		s.says(exitUsage, "--reason: it has more than 500", "user", "suspend", eve.ID, "--reason", strings.Repeat("a", 501))
		if s.sessions(eve.ID) != 1 {
			s.Error("P-061 a call that was refused has ended sessions")
		}
		s.says(exitOK, "suspended user "+eve.ID+" until 2026-11-28T12:00:00Z, and ended the user's sessions.", "user", "suspend", "EVE@example.com", "--until", "7d", "--reason", "spam", "--by", "boss")
		kept, err := s.store.Suspensions().Get(s.Context(), eve.ID)
		if err != nil || kept.By != "boss" || kept.Reason != "spam" || s.sessions(eve.ID) != 0 || s.sessions(s.ada.ID) != 1 {
			s.Errorf("P-061 %+v, %v, %d sessions", kept, err, s.sessions(eve.ID))
		}
		s.says(exitOK, "state:     suspended\nuntil:     2026-11-28T12:00:00Z\nreason:    spam\nby:        boss\n", "user", "show", eve.ID)
		s.says(exitOK, "eve@example.com", "user", "list", "--suspended")
		s.says(exitOK, "restored user "+eve.ID, "user", "restore", eve.ID)
		s.says(exitOK, "ended the sessions of user "+s.ada.ID, "user", "end-sessions", "ada@example.com")
		if s.sessions(s.ada.ID) != 0 {
			s.Error("P-061 a session is left")
		}

		out, _, code := s.run("", "user", "export", "ada@example.com")
		var doc struct {
			Version int `json:"version"`
			User    struct {
				Email string `json:"email"`
			} `json:"user"`
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exitOK || doc.Version != 1 || doc.User.Email != "ada@example.com" {
			s.Errorf("P-061 export: %v: %s", err, out)
		}

		for _, answer := range []string{"", "no\n", "y\n"} {
			if out, errs, code := s.run(answer, "user", "erase", eve.ID); code != exitProblem || out != "" || !strings.Contains(errs, "erase user "+eve.ID+" (eve@example.com)?") || !strings.Contains(errs, "nothing was changed") {
				s.Errorf("P-061 %q: %d, %q, %q", answer, code, out, errs)
			}
		}
		if out, _, code := s.run("yes\n", "user", "erase", eve.ID); code != exitOK || !strings.Contains(out, "erased user "+eve.ID) {
			s.Errorf("P-061 %d, %q", code, out)
		}
		s.says(exitProblem, "there is no such user", "user", "erase", eve.ID, "--yes")
		s.says(exitOK, "deleted user "+s.ada.ID, "user", "delete", s.ada.ID, "--yes")
		s.says(exitOK, "wrote 0 folded names", "user", "reindex")
	})
}

// TestUserNeedsTheSite: P-062, what ends sessions takes the secret and the URL.
func TestUserNeedsTheSite(t *testing.T) {
	s := newPeopleSite(t, "sqlite:"+filepath.Join(t.TempDir(), "auth.db"))
	all := s.env
	for _, row := range []struct {
		env  environment
		name string
	}{{all[:1], "AUTH_SECRET is not set"}, {all[:2], "AUTH_SECRET is not set"}, {environment{all[0], all[2]}, "AUTH_URL is not set"}} {
		s.env = row.env
		for _, command := range []string{"suspend", "restore", "end-sessions", "delete", "erase"} {
			args := []string{"user", command, s.ada.ID}
			if command == "delete" || command == "erase" {
				args = append(args, "--yes")
			}
			t.Run("P-062 "+command+", "+row.name, func(t *testing.T) {
				if out, errs, code := s.run("", args...); code != exitProblem || out != "" || !strings.Contains(errs, row.name) || !strings.Contains(errs, "Nothing was changed") {
					t.Errorf("%d, %q, %q", code, out, errs)
				}
			})
		}
	}
	if _, err := s.store.GetUser(t.Context(), s.ada.ID); err != nil || s.sessions(s.ada.ID) != 1 {
		t.Errorf("P-062 %v, %d sessions", err, s.sessions(s.ada.ID))
	}
	if _, err := s.store.Suspensions().Get(t.Context(), s.ada.ID); err == nil {
		t.Error("P-062 the user is suspended")
	}
}

// TestUserOfATenant: P-061, --tenant names the tenant whose sessions end.
func TestUserOfATenant(t *testing.T) {
	s := newPeopleSite(t, "sqlite:"+filepath.Join(t.TempDir(), "auth.db"))
	s.says(exitOK, "ada@example.com", "user", "list", "--tenant", "north")
	s.says(exitOK, "suspended user "+s.ada.ID, "user", "suspend", s.ada.ID, "--tenant", "north")
}

func FuzzVisible(f *testing.F) {
	f.Add("\x1b]0;title\x07\u202e\U000e0041\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, got := range []string{visible(text), neutral(text)} {
			if strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) || got != "" && got == neutral(text) && strings.ContainsRune("=+-@", rune(got[0])) {
				t.Errorf("%q becomes %q", text, got)
			}
		}
	})
}
