package audit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/storage"
)

// listOf returns a list of n records, the newest first, as stores keep it.
func listOf(n int) func(context.Context, storage.AuditQuery) ([]storage.AuditRecord, error) {
	var ids IDs
	var rows []storage.AuditRecord
	for i := range n {
		e := event.Event{ID: ids.Next(start()), Type: event.SignIn, Outcome: event.Succeeded, Time: start().Add(time.Duration(i/3) * time.Millisecond), UserID: "42"}
		rows = append(rows, RecordOf(&e, Full))
	}
	slices.Reverse(rows)
	return func(_ context.Context, q storage.AuditQuery) (found []storage.AuditRecord, err error) {
		for _, r := range rows {
			isBefore := q.AfterID == "" || r.Time.Before(q.AfterTime) || r.Time.Equal(q.AfterTime) && r.ID < q.AfterID
			if isBefore && (q.UserID == "" || q.UserID == r.UserID) && len(found) < q.Limit {
				found = append(found, r)
			}
		}
		return found, nil
	}
}

func testReader(n int) *Reader {
	return &Reader{List: listOf(n), Cursors: NewCursors([]string{"a secret of the site"}, "", start)}
}

// FuzzQuery: no query panics, what is refused is a wrong configuration, and pages by
// cursor have each event once.
func FuzzQuery(f *testing.F) {
	f.Add("42", "sign_in", "success", "192.0.2.7", "", int64(0), int64(0), 3)
	f.Add("", "account.", "", "", "7QM2-9XDK-4T1B", int64(5), int64(1), -1)
	f.Add("a\x00b", "%.", "maybe", "\xff", strings.Repeat("x", 300), int64(-1<<62), int64(1<<62), 1001)
	f.Fuzz(func(t *testing.T, user, kind, outcome, client, code string, from, before int64, limit int) {
		q := Query{UserID: user, Type: event.Type(kind), Outcome: event.Outcome(outcome), Client: client, Reference: code, Limit: limit}
		if from != 0 {
			q.From = time.Unix(from%1e11, 0)
		}
		if before != 0 {
			q.Before = time.Unix(before%1e11, 0)
		}
		r := testReader(10)
		seen := map[string]bool{}
		for range 12 {
			page, err := r.Page(t.Context(), q)
			if err != nil {
				if !errors.Is(err, fault.ErrInvalidConfig) {
					t.Fatalf("%+v: %v", q, err)
				}
				return
			}
			for _, e := range page.Events {
				if seen[e.ID] {
					t.Fatalf("%+v: %s twice", q, e.ID)
				}
				seen[e.ID] = true
			}
			if page.Next == "" {
				return
			}
			q.After = page.Next
		}
		t.Fatalf("%+v: the pages have no end", q)
	})
}

// FuzzCursor: only a cursor of the same query opens, and none panics.
func FuzzCursor(f *testing.F) {
	page, err := testReader(10).Page(f.Context(), Query{UserID: "42", Limit: 3})
	if err != nil || page.Next == "" {
		f.Fatal(err)
	}
	f.Add(page.Next)
	f.Add(page.Next[:len(page.Next)-1])
	f.Add("")
	f.Add("....")
	f.Fuzz(func(t *testing.T, after string) {
		r := testReader(10)
		for _, user := range []string{"42", "43"} {
			q := Query{UserID: user, Limit: 3, After: after}
			got, err := r.Page(t.Context(), q)
			isForeign := after != "" && user == "43" // all cursors of the seeds are of 42
			if isForeign && err == nil || err != nil && (got.Events != nil || !errors.Is(err, fault.ErrInvalidConfig)) {
				t.Errorf("%q of %s: %+v, %v", after, user, got, err)
			}
		}
	})
}
