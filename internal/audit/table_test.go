package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/storage"
)

// tableInto returns a table whose records are added to rows while err is nil.
func tableInto(rows *[]storage.AuditRecord, err *error) (*Table, *time.Time) {
	now, n := start(), 0
	t := &Table{Now: func() time.Time { return now }, NewID: func() string { n++; return fmt.Sprint(n) }}
	t.Append = func(_ context.Context, records []storage.AuditRecord) error {
		if *err == nil {
			*rows = append(*rows, records...)
		}
		return *err
	}
	return t, &now
}

// O-035: what a store did not take is counted, and its number kept once the store is back.
func TestLostEventsAreCounted(t *testing.T) {
	var rows []storage.AuditRecord
	var err error
	table, now := tableInto(&rows, &err)
	lost := 0
	table.Lost = func(n int, _ error) { lost += n }
	err = errors.New("read-only")
	folded := wrongPassword("192.0.2.1")
	folded.Count = 5
	for _, e := range []event.Event{{Type: event.SignIn, Outcome: event.Succeeded}, folded} {
		if table.Keep(t.Context(), []*event.Event{&e}) == nil {
			t.Error("O-035 no error")
		}
	}
	err = nil
	if table.Keep(t.Context(), nil) != nil || len(rows) != 0 {
		t.Error("O-035 it is tried again at once")
	}
	*now = now.Add(retryAfter)
	if err := table.Keep(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if len(rows) != 1 || rows[0].Type != "audit.failed" || EventOf(&rows[0]).Count != 6 || lost != 6 {
		t.Errorf("O-035 %d rows, %d lost: %+v", len(rows), lost, rows)
	}
	if table.Keep(t.Context(), nil); len(rows) != 1 {
		t.Error("O-035 the number is kept twice")
	}
	(*Table)(nil).Keep(t.Context(), []*event.Event{{}})
}

// O-047: an event is read as it was kept.
func TestRecordsReadBack(t *testing.T) {
	want := event.Event{
		ID: "1", Type: event.SignIn, Outcome: event.Failed, Time: start(), Reason: fault.ErrCredentialsSignin, Detail: fault.SignInWrong,
		Provider: "password", ProviderType: storage.TypeCredentials, UserID: "42", SessionID: "s", By: event.Actor{Kind: event.ActorUser, ID: "42"},
		Client: "192.0.2.7", UserAgent: "agent", RequestID: "r", Tenant: "acme", Reference: "7QM2-9XDK-4T1B", Count: 3, Ended: 2,
		AMR: []string{"pwd", "otp"}, ACR: "aal2", Name: "name:0123",
	}
	r := RecordOf(&want, Full)
	if got := EventOf(&r); !reflect.DeepEqual(got, want) {
		t.Errorf("O-047 got %+v, want %+v", got, want)
	}
	t.Run("O-045 erased", func(t *testing.T) {
		if bytes.Contains(r.Data, []byte("42")) || bytes.Contains(r.Data, []byte("agent")) {
			t.Errorf("Data has what is personal: %s", r.Data)
		}
		r.UserID, r.Client, r.Personal = "", "", nil
		if got := EventOf(&r); !got.Erased || got.By.ID != "" || got.UserAgent != "" || got.Detail != want.Detail {
			t.Errorf("%+v", got)
		}
	})
	t.Run("O-045 the administrator stays", func(t *testing.T) {
		e := want
		e.By = event.Actor{Kind: event.ActorAdmin, ID: "7"}
		r := RecordOf(&e, Full)
		r.Personal = nil
		if got := EventOf(&r); got.By != e.By {
			t.Errorf("by %+v", got.By)
		}
	})
}

// O-037: at most 200 failures are kept in a second, whatever they are. None is lost, memory
// is bounded, and what stands for many names none of them.
func TestFailuresOfASecondAreBounded(t *testing.T) {
	const tries = 30_000
	for name, networks := range map[string]int{"each from elsewhere": tries, "many from each of 300 networks": 300} {
		t.Run("O-037 "+name, func(t *testing.T) {
			var f folder
			total, now := 0, start()
			count := func(list []event.Event) int {
				if len(list) > mostKept+1 {
					t.Errorf("%d rows at once", len(list))
				}
				for _, e := range list {
					total += max(1, e.Count)
					if e.Client == "" && (e.UserID != "" || e.SessionID != "" || e.Reference != "" || e.By.ID != "") {
						t.Fatalf("what stands for many is %+v", e)
					}
				}
				return len(list)
			}
			rows := map[int]int{} // by second
			for i := range tries {
				at := i % networks
				e := wrongPassword(fmt.Sprintf("10.%d.%d.1", at/250, at%250))
				e.UserID, e.SessionID, e.Reference, e.By = "42", "s", "7QM2-9XDK-4T1B", event.Actor{Kind: event.ActorUser, ID: "42"}
				due, _ := f.add(e, now.Add(time.Duration(i)*time.Millisecond))
				rows[i/1000] += count(due)
			}
			for second, n := range rows {
				if n > mostKept {
					t.Errorf("%d rows in second %d", n, second)
				}
			}
			if len(f.kinds) > mostKinds+1 {
				t.Errorf("%d kinds are remembered", len(f.kinds))
			}
			count(f.rest())
			if total != tries {
				t.Errorf("%d attempts, want %d", total, tries)
			}
		})
	}
}

// O-027, R-707: what clients send is one record that every store takes.
func FuzzRecord(f *testing.F) {
	f.Add("agent", "request", "192.0.2.7", "42")
	f.Add("\x00\xff\u202e\x1b[31m", "a\nb", strings.Repeat("é", 500), "\"}{")
	f.Fuzz(func(t *testing.T, agent, request, client, user string) {
		r := RecordOf(&event.Event{Type: event.SignIn, Outcome: event.Failed, UserAgent: agent, RequestID: request, Client: client, UserID: user}, Full)
		for _, text := range []string{r.UserID, r.Client, string(r.Data), string(r.Personal)} {
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\n\x1b") {
				t.Errorf("%q", text)
			}
		}
		if len(r.UserID) > 255 || len(r.Client) > 255 || len(r.Data) > 8<<10 || len(r.Personal) > 8<<10 {
			t.Errorf("%d, %d, %d, %d bytes", len(r.UserID), len(r.Client), len(r.Data), len(r.Personal))
		}
		EventOf(&r)
	})
}

// O-045, R-664: an erasure reaches what is folded or waits of one user, and of no other.
func TestErasureReachesOneUser(t *testing.T) {
	var out bytes.Buffer
	s, now := sinkAt(&out)
	var waiting []func()
	s.Go = func(f func()) bool { waiting = append(waiting, f); return true }
	failures := map[string]string{"42": "192.0.2.1", "43": "198.51.100.1"}
	for user, client := range failures {
		for range foldAfter + 5 { // some wait, and some are folded
			e := wrongPassword(client)
			e.UserID, e.By = user, event.Actor{Kind: event.ActorUser, ID: user}
			s.Add(e)
		}
	}
	s.Erase("42")
	s.Erase("")
	*now = now.Add(foldWindow)
	s.Flush()
	for _, write := range waiting {
		write()
	}
	rows := map[any]int{}
	for _, row := range lines(t, &out) {
		rows[row["user"]]++
		isKept := row["user"] == "43"
		if row["client"] != map[bool]any{true: failures["43"]}[isKept] || row["by_id"] != map[bool]any{true: "43"}[isKept] || (row["erased"] == true) == isKept {
			t.Errorf("O-045 %v", row)
		}
	}
	if rows["43"] != foldAfter+1 || rows[nil] != foldAfter+1 {
		t.Errorf("O-045 rows by user: %v", rows)
	}
}
