package storagetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

type auditStore interface {
	storage.Adapter
	storage.AuditAdapter
}

// auditRecord returns a record with all fields. Later numbers have later times and ids.
func auditRecord(n int) storage.AuditRecord {
	return storage.AuditRecord{
		ID: fmt.Sprintf("019ab000-0000-7000-8000-%012d", n), Type: "sign_in", Outcome: "success",
		Time: instant.Truncate(time.Millisecond).Add(time.Duration(n) * time.Minute), Tenant: "acme", UserID: "42", SessionID: "s1", Client: "192.0.2.7",
		Data: []byte(`{"detail":"` + unicode[0] + `"}`), Personal: []byte(`{"agent":"x"}`),
	}
}

// appendRecords stores the records 0 to n-1 after change has changed them, and returns
// them.
func appendRecords(t *testing.T, a auditStore, n int, change func(i int, r *storage.AuditRecord)) (all []storage.AuditRecord) {
	t.Helper()
	for i := range n {
		r := auditRecord(i)
		change(i, &r)
		all = append(all, r)
	}
	ok(t, a.Audit().Append(t.Context(), all))
	return all
}

// listIDs returns the last two digits of the ids of a list. A zero Limit is 100.
func listIDs(t *testing.T, a auditStore, q storage.AuditQuery) (ids []string) {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	list, err := a.Audit().List(t.Context(), q)
	ok(t, err)
	for _, r := range list {
		ids = append(ids, r.ID[len(r.ID)-2:])
	}
	return ids
}

func sameIDs(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: records %v, want %v", what, got, want)
	}
}

var auditPromises = []promise[auditStore]{
	{"O-047 a record is read as it was stored", func(t *testing.T, a auditStore) {
		least := storage.AuditRecord{ID: "1", Type: "fault", Outcome: "failure", Time: instant.Truncate(time.Millisecond), Data: []byte("{}"), Personal: []byte("{}")}
		ok(t, a.Audit().Append(t.Context(), []storage.AuditRecord{auditRecord(1), least}))
		list, err := a.Audit().List(t.Context(), storage.AuditQuery{Limit: 10})
		ok(t, err)
		if len(list) != 2 {
			t.Fatalf("%d records, want 2", len(list))
		}
		same(t, "record", list[0], auditRecord(1))
		same(t, "record", list[1], least)
		ok(t, a.Audit().Append(t.Context(), nil))
	}},
	{"O-034 a record whose id is stored is left as it is", func(t *testing.T, a auditStore) {
		first, other := auditRecord(1), auditRecord(1)
		other.Outcome = "failure"
		ok(t, a.Audit().Append(t.Context(), []storage.AuditRecord{first}))
		ok(t, a.Audit().Append(t.Context(), []storage.AuditRecord{other, auditRecord(2)}))
		sameIDs(t, "all", listIDs(t, a, storage.AuditQuery{}), "02", "01")
		sameIDs(t, "failures", listIDs(t, a, storage.AuditQuery{Outcome: "failure"}))
	}},
	{"O-047 many records at once", func(t *testing.T, a auditStore) {
		appendRecords(t, a, 200, func(int, *storage.AuditRecord) {})
		list, err := a.Audit().List(t.Context(), storage.AuditQuery{Limit: 1000})
		ok(t, err)
		if len(list) != 200 || list[0].ID != auditRecord(199).ID {
			t.Errorf("%d records, want 200, the newest first", len(list))
		}
	}},
	{"O-047 each filter leaves out what it should", func(t *testing.T, a auditStore) {
		appendRecords(t, a, 6, func(i int, r *storage.AuditRecord) {
			switch i {
			case 1:
				r.Tenant = "globex"
			case 2:
				r.UserID = "43"
			case 3:
				r.Type = "account.linked"
			case 4:
				r.Outcome = "failure"
			case 5:
				r.Client = "192.0.2.8"
			}
		})
		at := func(n int) time.Time { return auditRecord(n).Time }
		for what, c := range map[string]struct {
			q    storage.AuditQuery
			want []string
		}{
			"tenant":            {storage.AuditQuery{Tenant: "globex"}, []string{"01"}},
			"user":              {storage.AuditQuery{UserID: "43"}, []string{"02"}},
			"type":              {storage.AuditQuery{Type: "account.linked"}, []string{"03"}},
			"types":             {storage.AuditQuery{Type: "account."}, []string{"03"}},
			"part of a type":    {storage.AuditQuery{Type: "account"}, nil},
			"pattern":           {storage.AuditQuery{Type: "%."}, nil},
			"outcome":           {storage.AuditQuery{Outcome: "failure"}, []string{"04"}},
			"client":            {storage.AuditQuery{Client: "192.0.2.8"}, []string{"05"}},
			"time":              {storage.AuditQuery{From: at(1), Before: at(3)}, []string{"02", "01"}},
			"all of them":       {storage.AuditQuery{Tenant: "acme", UserID: "42", Type: "sign_in", Outcome: "success", Client: "192.0.2.7", From: at(0), Before: at(9)}, []string{"00"}},
			"unknown user":      {storage.AuditQuery{UserID: "nobody"}, nil},
			"text of no client": {storage.AuditQuery{Client: hostile[0]}, nil},
			"invalid text":      {storage.AuditQuery{UserID: "a\x00b", Type: "\xff."}, nil},
		} {
			sameIDs(t, what, listIDs(t, a, c.q), c.want...)
		}
	}},
	{"O-047 pages have each record once while others arrive", func(t *testing.T, a auditStore) {
		appendRecords(t, a, 20, func(i int, r *storage.AuditRecord) { r.Time = auditRecord(i / 7).Time }) // many of one instant
		var got []string
		q := storage.AuditQuery{Type: "sign_in", Limit: 3}
		for {
			list, err := a.Audit().List(t.Context(), q)
			ok(t, err)
			for _, r := range list {
				got = append(got, r.ID)
			}
			if len(list) < q.Limit {
				break
			}
			last := list[len(list)-1]
			q.AfterTime, q.AfterID = last.Time, last.ID
			ok(t, a.Audit().Append(t.Context(), []storage.AuditRecord{auditRecord(100 + len(got))}))
		}
		var want []string
		for i := range 20 {
			want = append([]string{auditRecord(i).ID}, want...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages have\n%v, want\n%v", got, want)
		}
	}},
	{"O-033 a record is part of the transaction", func(t *testing.T, a auditStore) {
		able, can := a.(storage.TxAdapter)
		if !can {
			t.Log("the store has no transactions")
			return
		}
		for id, outcome := range []error{errRollback, nil} {
			is(t, "InTx", able.InTx(t.Context(), func(tx storage.Adapter) error {
				ok(t, tx.(storage.AuditAdapter).Audit().Append(t.Context(), []storage.AuditRecord{auditRecord(id), auditRecord(id)}))
				return outcome
			}), outcome)
		}
		sameIDs(t, "all", listIDs(t, a, storage.AuditQuery{}), "01")
	}},
	{"O-046 Prune removes the oldest, some at a time", func(t *testing.T, a auditStore) {
		appendRecords(t, a, 10, func(int, *storage.AuditRecord) {})
		for _, want := range []int{4, 3, 0} {
			n, err := a.Audit().Prune(t.Context(), auditRecord(7).Time, time.Time{}, 4)
			ok(t, err)
			if n != want {
				t.Errorf("Prune changed %d records, want %d", n, want)
			}
			if want == 4 {
				sameIDs(t, "the rest", listIDs(t, a, storage.AuditQuery{}), "09", "08", "07", "06", "05", "04")
			}
		}
		n, err := a.Audit().Prune(t.Context(), time.Time{}, time.Time{}, 100)
		ok(t, err)
		sameIDs(t, fmt.Sprintf("the rest, after %d more", n), listIDs(t, a, storage.AuditQuery{}), "09", "08", "07")
	}},
	{"O-046 records that two prune at once are counted once", func(t *testing.T, a auditStore) {
		appendRecords(t, a, 60, func(int, *storage.AuditRecord) {})
		counts := make([]int, 4)
		for _, err := range race.Run(len(counts), func(i int) error {
			for {
				n, err := a.Audit().Prune(t.Context(), auditRecord(50).Time, time.Time{}, 7)
				if counts[i] += n; n == 0 || err != nil {
					return err
				}
			}
		}) {
			ok(t, err)
		}
		total := 0
		for _, n := range counts {
			total += n
		}
		if left := listIDs(t, a, storage.AuditQuery{}); total != 50 || len(left) != 10 {
			t.Errorf("%d records were counted and %d are left, want 50 and 10", total, len(left))
		}
	}},
	{"O-045 Prune erases what is personal earlier", func(t *testing.T, a auditStore) {
		appendRecords(t, a, 5, func(int, *storage.AuditRecord) {})
		for _, want := range []int{1, 2, 1, 0} { // one is removed, then three are erased
			n, err := a.Audit().Prune(t.Context(), auditRecord(1).Time, auditRecord(4).Time, 2)
			ok(t, err)
			if n != want {
				t.Errorf("Prune changed %d records, want %d", n, want)
			}
		}
		erasedAlone(t, a, 4)
	}},
	{"O-045 Erase leaves the records of a person, and no sign of the person", func(t *testing.T, a auditStore) {
		appendRecords(t, a, 3, func(i int, r *storage.AuditRecord) {
			if i == 2 {
				r.UserID = "43"
			}
		})
		for _, row := range []struct {
			id   string
			want int
		}{{"42", 2}, {"nobody", 0}, {"", 0}} { // nobody comes last, as then there are records without a person
			n, err := a.Audit().Erase(t.Context(), row.id)
			ok(t, err)
			if n != row.want {
				t.Errorf("Erase(%q) changed %d records, want %d", row.id, n, row.want)
			}
		}
		erasedAlone(t, a, 2)
	}},
	{"O-049 records outlive their user", func(t *testing.T, a auditStore) {
		able, can := a.(storage.UserDeletionAdapter)
		if !can {
			t.Log("the store deletes no users")
			return
		}
		u := newUser(t, a, "ada@example.com")
		appendRecords(t, a, 1, func(_ int, r *storage.AuditRecord) { r.UserID = u.ID })
		_, err := able.DeleteUser(t.Context(), u.ID)
		ok(t, err)
		sameIDs(t, "of the user", listIDs(t, a, storage.AuditQuery{UserID: u.ID}), "00")
	}},
	{"a call that was cancelled before is not made", func(t *testing.T, a auditStore) {
		if err := a.Audit().Append(cancelled(t), []storage.AuditRecord{auditRecord(1)}); err == nil {
			t.Error("Append succeeds")
		}
		if _, err := a.Audit().List(cancelled(t), storage.AuditQuery{Limit: 1}); err == nil {
			t.Error("List succeeds")
		}
		sameIDs(t, "all", listIDs(t, a, storage.AuditQuery{}))
	}},
}

// erasedAlone expects that the records before a number have lost what is personal, and
// those from it on nothing.
func erasedAlone(t *testing.T, a auditStore, from int) {
	t.Helper()
	list, err := a.Audit().List(t.Context(), storage.AuditQuery{Limit: 100})
	ok(t, err)
	for _, r := range list {
		var n int
		_, err := fmt.Sscanf(r.ID[24:], "%d", &n)
		ok(t, err)
		want := auditRecord(n)
		want.UserID = r.UserID
		if n < from {
			want.UserID, want.Client, want.Personal = "", "", nil
		}
		same(t, "record", r, want)
		if (r.Personal == nil) != (n < from) || (r.UserID == "") != (n < from) {
			t.Errorf("record %d is %+v", n, r)
		}
	}
}
