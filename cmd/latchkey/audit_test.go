package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/audit"
	"github.com/latchkeyhq/latchkey/storage"
)

// auditSite is a database with users and an audit log.
type auditSite struct {
	*peopleSite
	ids audit.IDs
}

func eachAudit(t *testing.T, f func(s *auditSite)) {
	eachDatabase(t, func(s *peopleSite) { f(&auditSite{peopleSite: s}) })
}

func newAuditSite(t *testing.T) *auditSite {
	return &auditSite{peopleSite: newPeopleSite(t, "sqlite:"+filepath.Join(t.TempDir(), "auth.db"))}
}

// tell adds an event of some time ago, by the user whom it is about unless it says else.
func (s *auditSite) tell(ago time.Duration, e event.Event) {
	s.Helper()
	e.ID, e.Time = s.ids.Next(s.now.Add(-ago)), s.now.Add(-ago)
	if e.Outcome == "" {
		e.Outcome = event.Succeeded
	}
	if e.By.Kind == "" {
		e.By = event.Actor{Kind: event.ActorUser, ID: e.UserID}
	}
	s.must(s.store.Audit().Append(s.Context(), []storage.AuditRecord{audit.RecordOf(&e, audit.Full)}))
}

// list returns the lines of a list in JSON.
func (s *auditSite) list(args ...string) (rows []map[string]any) {
	s.Helper()
	out, errs, code := s.run("", append([]string{"audit", "list", "--format", "json"}, args...)...)
	if code != exitOK {
		s.Fatalf("%v: %s%s", args, out, errs)
	}
	for line := range strings.Lines(out) {
		var row map[string]any
		s.must(json.Unmarshal([]byte(line), &row))
		rows = append(rows, row)
	}
	return rows
}

// month is the log of the auditor's questions: a month in the life of Ada's account.
func (s *auditSite) month() {
	const day = 24 * time.Hour
	admin := event.Actor{Kind: event.ActorAdmin, ID: "7"}
	s.tell(60*day, event.Event{Type: event.SignIn, UserID: s.ada.ID, Provider: "github", AMR: []string{"fed"}, Client: "192.0.2.1"})
	s.tell(20*day, event.Event{Type: event.SignIn, UserID: s.ada.ID, Provider: "password", AMR: []string{"pwd", "otp", "mfa"}, ACR: "aal2", Client: "192.0.2.1"})
	s.tell(19*day, event.Event{Type: event.FactorUsed, UserID: s.ada.ID, Client: "192.0.2.1"})
	s.tell(18*day, event.Event{Type: event.FactorReset, UserID: s.ada.ID, By: admin, Client: "192.0.2.9"})
	s.tell(17*day, event.Event{Type: event.AccountLinked, UserID: s.ada.ID, Provider: "github", Client: "192.0.2.1"})
	s.tell(16*day, event.Event{Type: event.SignIn, UserID: "other", Provider: "github", AMR: []string{"fed"}, Client: "192.0.2.2"})
	for i := range 3 {
		s.tell(time.Duration(3-i)*day, event.Event{
			Type: event.SignIn, Outcome: event.Failed, Reason: "CredentialsSignin", Detail: "signin.wrong", Provider: "password", Client: "203.0.113.7",
			By: event.Actor{Kind: event.ActorVisitor}, Name: "name:0123456789abcdef0123456789abcdef", Reference: "7QM2-9XDK-4T1B", Count: i * 10,
		})
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var question = regexp.MustCompile("(?m)^latchkey (audit [^#\n]*)$")

// O-089: each question of an auditor on the page is one command, whose answer is checked.
func TestAuditorsQuestions(t *testing.T) {
	eachAudit(t, func(s *auditSite) {
		s.month()
		s.env = s.env[:1] // neither the secret nor the URL is needed
		answers := map[string]struct{ has, lacks []string }{
			"--type sign_in --since": {[]string{"password pwd+otp+mfa", "192.0.2.1"}, []string{"github fed", "factor."}},
			"--changes":              {[]string{"factor.reset", "admin 7", "account.linked", "user " + s.ada.ID}, []string{"sign_in", "factor.used"}},
			"--type audit.":          {[]string{"audit.read", "admin 42", "audit.pruned", "audit.erased"}, []string{"sign_in"}},
			"--client":               {[]string{"203.0.113.7", "signin.wrong", "name:0123456789abcdef0123456789abcdef", "7QM2-9XDK-4T1B", "  20 "}, []string{"192.0.2"}},
		}
		s.says(exitOK, "", "audit", "list", "--by", "42")
		s.says(exitOK, "removed or erased 0 events", "audit", "prune", "--keep", "400d")
		s.says(exitOK, "removed or erased 1 event.", "audit", "prune", "--keep", "50d", "--by", "42")
		s.says(exitOK, "erased what was personal of 0 events", "audit", "erase", "gone", "--by", "42")
		found := 0
		for _, m := range question.FindAllStringSubmatch(readFile(t, "../../docs/audit.md"), -1) {
			args := strings.Fields(strings.NewReplacer("ada@example.com", s.ada.ID, "2026-10-01", "2026-10-22", "2026-11-01", "2026-11-22").Replace(m[1]))
			for mark, want := range answers {
				if !strings.Contains(m[1], mark) {
					continue
				}
				found++
				out, errs, code := s.run("", args...)
				if code != exitOK || errs != "" {
					t.Errorf("O-089 %s: %d, %s", m[1], code, errs)
				}
				for _, part := range want.has {
					if !strings.Contains(out, part) {
						t.Errorf("O-089 %s: the answer lacks %q:\n%s", m[1], part, out)
					}
				}
				for _, part := range want.lacks {
					if strings.Contains(out, part) {
						t.Errorf("O-089 %s: the answer has %q:\n%s", m[1], part, out)
					}
				}
			}
		}
		if found != len(answers) {
			t.Errorf("O-089 %d of %d questions are on the page", found, len(answers))
		}
	})
}

// O-047, O-048: filters, pages by cursor, and what reading leaves behind.
func TestAuditList(t *testing.T) {
	eachAudit(t, func(s *auditSite) {
		s.month()
		if rows := s.list("--user", "ADA@example.com", "--type", "account."); len(rows) != 1 || rows[0]["type"] != "account.linked" || rows[0]["user"] != s.ada.ID {
			t.Errorf("O-047 %v", rows)
		}
		if rows := s.list("--since", "18d", "--until", "2026-11-07", "--outcome", "success"); len(rows) != 3 {
			t.Errorf("O-047 %v", rows)
		}
		if rows := s.list("--reference", "7QM2-9XDK-4T1B", "--limit", "2"); len(rows) != 2 {
			t.Errorf("O-047 %v", rows)
		}
		if rows := s.list("--user", s.ada.ID, "--changes", "--limit", "1"); len(rows) != 1 || rows[0]["type"] != "account.linked" {
			t.Errorf("O-047 %v", rows)
		}
		var ids []any
		after := regexp.MustCompile(`--after (\S+)`)
		args := []string{"audit", "list", "--limit", "2", "--format", "json", "--until", "2026-11-20T12:00:00.001Z"}
		for range 20 {
			out, errs, code := s.run("", args...)
			if code != exitOK {
				t.Fatalf("O-047 %s", errs)
			}
			for line := range strings.Lines(out) {
				var row map[string]any
				s.must(json.Unmarshal([]byte(line), &row))
				ids = append(ids, row["id"])
			}
			m := after.FindStringSubmatch(errs)
			if m == nil {
				break
			}
			args = append(args[:8:8], "--after", m[1])
		}
		if len(ids) != 9 {
			t.Errorf("O-047 pages have %d events", len(ids))
		}
		by := map[any]int{}
		read := s.list("--type", "audit.read", "--limit", "0", "--by", "42")
		for _, row := range read {
			by[row["by"]]++
		}
		if len(read) != 6 || by["admin"] != 1 || by["system"] != 5 || read[0]["by"] == "admin" && read[0]["by_id"] != "42" {
			t.Errorf("O-048 %v", read)
		}
	})
}

// O-047: what makes no sense is wrong usage that names the flag, and nothing is read.
func TestAuditUsage(t *testing.T) {
	s := newAuditSite(t)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--limit", []string{"list", "--limit", "-1"}},
		{"--limit", []string{"list", "--limit", "1001"}},
		{"--limit", []string{"tail", "--limit", "0"}},
		{"--every", []string{"tail", "--follow", "--every", "0s"}},
		{"--follow: it has no end", []string{"tail", "--follow", "--until", "1d"}},
		{"--since: want a date", []string{"list", "--since", "lately"}},
		{"--until: it is not after --since", []string{"list", "--since", "1d", "--until", "2d"}},
		{"--outcome: want success or failure", []string{"list", "--outcome", "maybe"}},
		{"--client", []string{"list", "--client", "a\x1b"}},
		{"--type", []string{"list", "--type", strings.Repeat("x", 300)}},
		{"--after: it is not what a list with the same flags", []string{"list", "--after", "xyz"}},
		{"--after: it goes with a --limit", []string{"list", "--after", "xyz", "--limit", "0"}},
		{`--format: there is no form "xml": want text or json or csv`, []string{"list", "--format", "xml"}},
		{`--format: there is no form "text": want json or csv`, []string{"export", "--format", "text"}},
		{"--keep", []string{"prune"}},
		{"--keep-personal: it is not shorter", []string{"prune", "--keep", "1d", "--keep-personal", "2d"}},
	} {
		s.says(exitUsage, c.want, append([]string{"audit"}, c.args...)...)
	}
	s.says(exitProblem, "there is no such user. Of a user who has been deleted, give the id", "audit", "list", "--user", "gone@example.com")
	s.env = s.env[:1]
	s.says(exitUsage, "set AUTH_SECRET", "audit", "list", "--after", "xyz")
	s.month()
	s.says(exitOK, "There are more events: use --limit 0, or set AUTH_SECRET", "audit", "list", "--limit", "1")
	if rows := s.list("--type", "audit."); len(rows) != 1 {
		t.Errorf("O-048 %v", rows)
	}
	s.says(exitProblem, "latchkey migrate", "audit", "list", "--database", "sqlite:"+filepath.Join(t.TempDir(), "none.db"))
}

// hostileTexts begin a formula, or move a cursor.
var hostileTexts = []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\x00=1", "＝1", "a\n=1", "\x1b]0;title\x07", "\u202e\u2066", `"quoted", and more`}

// O-088: an export is safe in a sheet and in a terminal, and one event is one record.
func TestAuditExport(t *testing.T) {
	s := newAuditSite(t)
	for i, text := range hostileTexts {
		// Another program has written these: the library escapes what clients send.
		r := audit.RecordOf(&event.Event{ID: s.ids.Next(s.now), Type: "app.hostile", Outcome: event.Succeeded, Time: s.now.Add(-time.Hour)}, audit.Full)
		r.UserID, r.Client = fmt.Sprint(i), text
		raw, err := json.Marshal(map[string]any{"agent": text, "by_id": text})
		s.must(err)
		r.Personal = raw
		if strings.ContainsRune(text, 0) {
			r.Client = "" // no column of PostgreSQL takes it
		}
		s.must(s.store.Audit().Append(t.Context(), []storage.AuditRecord{r}))
	}
	out, errs, code := s.run("", "audit", "export", "--format", "csv", "--type", "app.")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || code != exitOK || len(rows) != len(hostileTexts)+1 || strings.Count(out, "\n") != len(rows) {
		t.Fatalf("O-088 %v, %d rows: %s%s", err, len(rows), out, errs)
	}
	for _, row := range rows {
		for _, cell := range row {
			if strings.IndexAny(cell, "=+-@\t\r\n\x00＝＋－＠") == 0 || strings.ContainsFunc(cell, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("O-088 the cell %q", cell)
			}
		}
	}
	out, _, code = s.run("", "audit", "export", "--type", "app.")
	if code != exitOK || strings.Count(out, "\n") != len(hostileTexts) {
		t.Fatalf("O-088 %s", out)
	}
	agents := map[string]bool{}
	for line := range strings.Lines(out) {
		var row struct{ Agent string }
		s.must(json.Unmarshal([]byte(line), &row))
		agents[row.Agent] = true
	}
	for _, text := range hostileTexts {
		if !agents[text] {
			t.Errorf("O-088 JSON does not read back as %q", text)
		}
	}
	s.says(exitOK, "app.hostile", "audit", "list", "--type", "app.")
}

// brokenDisk takes some bytes and then no more.
type brokenDisk struct{ left int }

func (d *brokenDisk) Write(b []byte) (int, error) {
	if d.left -= len(b); d.left < 0 {
		return 0, errors.New("no space left")
	}
	return len(b), nil
}

// O-088: an export that is not whole is a problem.
func TestAuditExportThatBreaks(t *testing.T) {
	s := newAuditSite(t)
	for i := range 50 {
		s.tell(time.Duration(i)*time.Minute, event.Event{Type: event.SignIn, UserID: s.ada.ID})
	}
	for _, form := range []string{"json", "csv"} {
		var errs bytes.Buffer
		p := &program{strings.NewReader(""), &brokenDisk{4 << 10}, &errs, s.env, func() time.Time { return s.now }, &http.Client{}}
		if code := p.run(t.Context(), []string{"audit", "export", "--format", form}); code != exitProblem || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("O-088 %s: %d, %s", form, code, &errs)
		}
	}
}

// O-045, O-046: pruning and erasure by the command, with the number that they touched.
func TestAuditPrune(t *testing.T) {
	eachAudit(t, func(s *auditSite) {
		s.month()
		s.says(exitOK, "removed or erased 5 events", "audit", "prune", "--keep", "30d", "--keep-personal", "16d", "--by", "42")
		rows := s.list("--type", "audit.pruned")
		if len(rows) != 1 || rows[0]["count"] != 5.0 || rows[0]["by_id"] != "42" {
			t.Errorf("O-046 %v", rows)
		}
		if rows := s.list("--user", s.ada.ID); len(rows) != 0 {
			t.Errorf("O-045 %v", rows)
		}
		if rows := s.list("--type", "factor.reset"); len(rows) != 1 || rows[0]["erased"] != true || rows[0]["by_id"] != "7" || rows[0]["client"] != nil {
			t.Errorf("O-045 the administrator stays: %v", rows)
		}
		s.says(exitOK, "erased what was personal of 1 event.", "audit", "erase", "other")
		s.says(exitProblem, "there is no such user", "audit", "erase", "gone@example.com")
		if rows := s.list("--type", "audit.erased"); len(rows) != 1 {
			t.Errorf("O-045 %v", rows)
		}
	})
}

// signalled is an output that tells of what is written.
type signalled struct {
	mu   sync.Mutex
	text bytes.Buffer
	told chan struct{}
}

func (w *signalled) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.text.Write(b)
	select {
	case w.told <- struct{}{}:
	default:
	}
	return len(b), nil
}

// until waits for a text.
func (w *signalled) until(t *testing.T, part string) {
	t.Helper()
	for {
		w.mu.Lock()
		found := strings.Contains(w.text.String(), part)
		w.mu.Unlock()
		if found {
			return
		}
		select {
		case <-w.told:
		case <-t.Context().Done():
			t.Fatalf("%q is not printed", part)
		}
	}
}

// O-047: tail shows the newest last, follows what comes, and ends by an interrupt.
func TestAuditTail(t *testing.T) {
	s := newAuditSite(t)
	s.month()
	out, _, code := s.run("", "audit", "tail", "--limit", "2", "--client", "203.0.113.7", "--format", "json")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); code != exitOK || len(lines) != 2 || !strings.Contains(lines[0], `"count":10`) || !strings.Contains(lines[1], `"count":20`) {
		t.Errorf("O-047 %s", out)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w, done := &signalled{told: make(chan struct{}, 1)}, make(chan int)
	p := &program{strings.NewReader(""), w, w, s.env, func() time.Time { return s.now }, &http.Client{}}
	go func() {
		done <- p.run(ctx, []string{"audit", "tail", "--type", "app.", "--follow", "--every", "5ms", "--format", "json"})
	}()
	for _, kind := range []event.Type{"app.one", "app.two"} {
		s.tell(0, event.Event{Type: kind, UserID: s.ada.ID})
		w.until(t, string(kind))
	}
	s.tell(time.Second, event.Event{Type: "app.late", UserID: s.ada.ID}) // its transaction took a while
	w.until(t, "app.late")
	stop()
	if code := <-done; code != exitOK || strings.Count(w.text.String(), "app.one") != 1 {
		t.Errorf("O-047 exit code %d: %s", code, &w.text)
	}
}

// FuzzAuditCSV: whatever an event holds, it is one record without formulas or control
// characters, in each form.
func FuzzAuditCSV(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text, "42", "agent")
	}
	f.Fuzz(func(t *testing.T, client, user, agent string) {
		e := event.Event{ID: "1", Type: "app.x", Outcome: event.Succeeded, UserID: user, Client: client, UserAgent: agent, Provider: client, AMR: []string{agent}}
		for _, form := range []string{formText, formJSON, formCSV} {
			var out bytes.Buffer
			p, err := newEventPrinter(&out, form, formText, formJSON, formCSV)
			if err != nil {
				t.Fatal(err)
			}
			p.print(&e)
			if err := p.end(); err != nil {
				t.Fatal(err)
			}
			rows := 2
			if form == formJSON {
				rows = 1
			}
			if strings.Count(out.String(), "\n") != rows || strings.ContainsFunc(out.String(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Errorf("%s: %q", form, &out)
			}
			if form != formCSV {
				continue
			}
			records, err := csv.NewReader(&out).ReadAll()
			if err != nil || len(records) != 2 {
				t.Fatalf("%v: %q", err, records)
			}
			for _, cell := range records[1] {
				if strings.IndexAny(cell, "=+-@\t\r\n\x00＝＋－＠") == 0 {
					t.Errorf("the cell %q", cell)
				}
			}
		}
	})
}

// O-047: a list without an event of the site says whether none matches or none was
// stored, on standard error alone.
func TestAuditListThatIsEmpty(t *testing.T) {
	s := newAuditSite(t)
	for range 2 { // the second time the log has the event that it was read
		for _, command := range []string{"list", "tail", "export"} {
			s.says(exitOK, "the audit log has no events of the site. A site stores them with Operations.Audit.Store.", "audit", command, "--user", "ada@example.com")
		}
		s.says(exitOK, "no events of the site", "audit", "list", "--limit", "0")
	}
	s.month()
	out, errs, _ := s.run("", "audit", "list", "--user", "nobody", "--format", "json")
	if out != "" || errs != "No event matches.\n" {
		t.Errorf("O-047 it prints %q and says %q", out, errs)
	}
	if _, errs, _ := s.run("", "audit", "list", "--user", s.ada.ID); errs != "" {
		t.Errorf("O-047 a list with events says %q", errs)
	}
	d, err := parseDatabase(s.env.get("DATABASE_URL"))
	s.must(err)
	db, err := d.open(false)
	s.must(err)
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(t.Context(), "DROP TABLE audit_events")
	s.must(err)
	s.says(exitProblem, "audit_events", "audit", "list")
}
