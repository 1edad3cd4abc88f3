package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
)

func start() time.Time { return time.Date(2026, 11, 24, 6, 0, 0, 0, time.UTC) }

// sinkAt returns a sink that writes JSON at once, and its clock.
func sinkAt(out *bytes.Buffer) (*Sink, *time.Time) {
	now := start()
	return &Sink{Logger: slog.New(slog.NewJSONHandler(out, nil)), Now: func() time.Time { return now }, Go: func(f func()) bool { f(); return true }}, &now
}

func lines(t *testing.T, out *bytes.Buffer) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, m)
	}
	return all
}

func wrongPassword(client string) event.Event {
	return event.Event{Type: event.SignIn, Outcome: event.Failed, Time: start(), Reason: fault.ErrCredentialsSignin, Detail: fault.SignInWrong, Provider: "password", Client: client}
}

// O-037: floods fold, and no attempt is lost.
func TestFloodsFold(t *testing.T) {
	for name, clients := range map[string]int{"one client": 1, "many clients": 10_000} {
		var out bytes.Buffer
		s, now := sinkAt(&out)
		const tries = 100_000
		for i := range tries {
			*now = start().Add(time.Duration(i) * time.Minute / tries)
			s.Add(wrongPassword(fmt.Sprintf("10.%d.%d.%d", i%clients/250, i%clients%250, i%200+1)))
		}
		s.Flush()
		total, rows := 0, lines(t, &out)
		for _, row := range rows {
			n, folded := row["count"].(float64)
			if !folded {
				n = 1
			}
			total += int(n)
		}
		most := mostKept * 62
		if clients == 1 { // six windows and what is left, each with the one that stands for the rest
			most = 7 * (foldAfter + 1)
		}
		if total != tries || len(rows) > most {
			t.Errorf("O-037 %s: %d attempts in %d rows, want %d", name, total, len(rows), tries)
		}
	}
}

// O-039: a handler that hangs holds up nothing; the oldest failures go first.
func TestHangingHandler(t *testing.T) {
	var out bytes.Buffer
	s, now := sinkAt(&out)
	var waiting []func()
	s.Go = func(f func()) bool { waiting = append(waiting, f); return true }
	dropped := 0
	s.Told = func(outcome string, n int) {
		if outcome == "dropped" {
			dropped += n
		}
	}
	for i := range mostQueued {
		*now = now.Add(5 * time.Millisecond) // fewer failures than fold
		e := event.Event{Type: event.SignIn, Outcome: event.Succeeded, UserID: fmt.Sprint(i), Time: *now}
		if i%2 == 0 {
			e = wrongPassword(fmt.Sprintf("10.1.%d.1", i/8))
		}
		s.Add(e)
	}
	for i := range 100 {
		s.Add(event.Event{Type: event.SessionEnded, Outcome: event.Succeeded, UserID: fmt.Sprint(i), Time: *now})
	}
	if dropped != 100 || len(s.queue) != mostQueued || len(waiting) != 1 {
		t.Fatalf("O-039 %d dropped, %d wait, %d workers", dropped, len(s.queue), len(waiting))
	}
	waiting[0]()
	rows := lines(t, &out)
	successes := 0
	for _, row := range rows {
		if row["outcome"] == "success" {
			successes++
		}
	}
	if rows[0]["type"] != "audit.failed" || rows[0]["count"] != 100.0 || successes != mostQueued/2+100 {
		t.Errorf("O-039 %d successes, first line %v", successes, rows[0])
	}
}

// O-039: what could not be begun is written with the next event, and a panic loses one line.
func TestRefusedWorker(t *testing.T) {
	var out bytes.Buffer
	s, _ := sinkAt(&out)
	s.Go = func(func()) bool { return false }
	s.Add(wrongPassword("192.0.2.1"))
	s.Go = func(f func()) bool { f(); return true }
	s.Add(wrongPassword("192.0.2.1"))
	if rows := lines(t, &out); len(rows) != 2 {
		t.Errorf("O-039 %v", rows)
	}
	s.Logger = slog.New(panicking{})
	s.Add(wrongPassword("192.0.2.1"))
	if s.running {
		t.Error("O-039 the worker still runs")
	}
	(*Sink)(nil).Add(event.Event{})
	(*Sink)(nil).Flush()
}

type panicking struct{ slog.Handler }

func (panicking) Enabled(context.Context, slog.Level) bool  { panic("handler") }
func (panicking) Handle(context.Context, slog.Record) error { panic("handler") }

// O-027, O-029: what clients send is one line, cut; addresses are as detailed as asked for.
func TestLines(t *testing.T) {
	for name, c := range map[string]struct {
		address Address
		client  string
		want    any
	}{
		"O-029 full":        {Full, "192.0.2.77", "192.0.2.77"},
		"O-029 prefix":      {Prefix, "192.0.2.77", "192.0.2.0/24"},
		"O-029 prefix IPv6": {Prefix, "2001:db8:1:2::3", "2001:db8:1::/48"},
		"O-029 none":        {None, "192.0.2.77", nil},
	} {
		var out bytes.Buffer
		s, _ := sinkAt(&out)
		s.Address = c.address
		e := wrongPassword(c.client)
		e.ID, e.Reference, e.UserAgent = "0", "7QM2-9XDK-4T1B", "a\n\x1b[31m\"}{"+strings.Repeat("x", 1<<20)
		s.Add(e)
		rows := lines(t, &out)
		if len(rows) != 1 || rows[0]["client"] != c.want || rows[0]["schema"] != 1.0 || rows[0]["reference"] != e.Reference {
			t.Fatalf("%s: %v", name, rows)
		}
		if agent := rows[0]["agent"].(string); len(agent) > 2*longestText || strings.ContainsAny(agent, "\n\x1b") {
			t.Errorf("O-027 %.80q", agent)
		}
	}
}

// O-031: ids rise in a process, whatever the clock does.
func TestIDsRise(t *testing.T) {
	var g IDs
	now, last := start(), ""
	for i := range 10_000 {
		switch {
		case i == 5000:
			now = now.Add(-time.Hour)
		case i%100 == 0:
			now = now.Add(time.Millisecond)
		}
		id := g.Next(now)
		if id <= last || len(id) != 36 || id[14] != '7' || !strings.ContainsRune("89ab", rune(id[19])) {
			t.Fatalf("O-031 %s after %s", id, last)
		}
		last = id
	}
}

func FuzzLine(f *testing.F) {
	f.Add("agent", "request")
	f.Fuzz(func(t *testing.T, agent, request string) {
		var out bytes.Buffer
		s, _ := sinkAt(&out)
		s.Add(event.Event{Type: event.SignIn, Outcome: event.Succeeded, UserAgent: agent, RequestID: request})
		if n := strings.Count(out.String(), "\n"); n != 1 || strings.ContainsRune(out.String(), '\x1b') {
			t.Errorf("%d lines: %q", n, out.String())
		}
	})
}
