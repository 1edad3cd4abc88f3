package challenge_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/storage"
)

// table is a ChallengeStore in memory.
type table struct {
	mu    sync.Mutex
	rows  map[string]storage.Challenge
	asked int // how often a row was to be taken
}

func (s *table) Create(_ context.Context, c storage.Challenge) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.rows[c.ID]; taken {
		return storage.ErrConflict
	}
	s.rows[c.ID] = c
	return nil
}

func (s *table) Get(_ context.Context, id string) (storage.Challenge, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.rows[id]
	if !ok {
		return c, storage.ErrNotFound
	}
	return c, nil
}

func (s *table) List(_ context.Context, q storage.ChallengeQuery) (found []storage.Challenge, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.rows {
		if c.Purpose == q.Purpose && c.Tenant == q.Tenant && (q.UserID == "" || c.UserID == q.UserID) {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b storage.Challenge) int { return b.Created.Compare(a.Created) })
	return found[:min(len(found), cmp.Or(q.Limit, 1000))], nil
}

func (s *table) Try(_ context.Context, id string, most int) (storage.Challenge, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.rows[id]
	if !ok {
		return c, storage.ErrNotFound
	}
	if c.Tries >= most {
		return c, storage.ErrConflict
	}
	c.Tries++
	s.rows[id] = c
	return c, nil
}

func (s *table) Take(_ context.Context, id string) (storage.Challenge, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	c, ok := s.rows[id]
	if !ok {
		return c, storage.ErrNotFound
	}
	delete(s.rows, id)
	return c, nil
}

func (s *table) Delete(context.Context, string, ...string) (int, error) { return 0, nil }

// site is one configuration with a clock.
type site struct {
	*challenge.Rows
	table *table
	now   time.Time
}

func newSite(tenant string, secrets ...string) *site {
	s := &site{table: &table{rows: map[string]storage.Challenge{}}, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s.Rows = &challenge.Rows{Box: challenge.NewBox(secrets, tenant), Store: s.table, Now: func() time.Time { return s.now }}
	return s
}

const (
	oldSecret = "0123456789abcdef0123456789abcdef"
	newSecret = "fedcba9876543210fedcba9876543210"
)

func (s *site) make(t *testing.T, d challenge.Draft) string {
	t.Helper()
	if d.Life == 0 {
		d.Life = time.Hour
	}
	handle, err := s.Create(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return handle
}

func TestRowsHoldWhatWasAsked(t *testing.T) {
	s := newSite("", newSecret)
	handle := s.make(t, challenge.Draft{Purpose: challenge.Reset, UserID: "1", Identifier: "ann@example.com", Data: map[string]string{"a": "b"}})
	row, err := s.Get(t.Context(), challenge.Reset, handle)
	if err != nil {
		t.Fatal(err)
	}
	var data map[string]string
	if err := row.Read(&data); err != nil || data["a"] != "b" || row.UserID != "1" || row.Identifier != "ann@example.com" {
		t.Errorf("%+v, %v, %v", row, data, err)
	}
	for id, c := range s.table.rows {
		if strings.Contains(c.Data, handle) || id == handle {
			t.Error("the store knows the handle")
		}
	}
}

// F-204: a handle serves one purpose in one tenant.
func TestHandleServesOnePurpose(t *testing.T) {
	s := newSite("red", newSecret)
	handle := s.make(t, challenge.Draft{Purpose: challenge.Reset, UserID: "1"})
	blue := newSite("blue", newSecret)
	blue.table = s.table
	blue.Store = s.table
	for name, look := range map[string]func() error{
		"another purpose": func() error { _, err := s.Take(t.Context(), challenge.Invite, handle); return err },
		"another tenant":  func() error { _, err := blue.Take(t.Context(), challenge.Reset, handle); return err },
		"the id as a handle": func() error {
			_, err := s.Take(t.Context(), challenge.Reset, s.Box.ID(challenge.Reset, handle))
			return err
		},
		"nothing": func() error { _, err := s.Take(t.Context(), challenge.Reset, ""); return err },
		"64 KiB":  func() error { _, err := s.Take(t.Context(), challenge.Reset, strings.Repeat("a", 1<<16)); return err },
	} {
		if err := look(); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.table.asked != 3 {
		t.Errorf("the store was asked %d times, want 3: never for nothing and for 64 KiB", s.table.asked)
	}
	if _, err := s.Take(t.Context(), challenge.Reset, handle); err != nil {
		t.Error(err)
	}
}

// F-014, F-204: edited columns and data that was moved open nothing, or say what was
// sealed.
func TestColumnsAreNotBelieved(t *testing.T) {
	s := newSite("", newSecret)
	handle := s.make(t, challenge.Draft{Purpose: challenge.SignIn, UserID: "1"})
	other := s.make(t, challenge.Draft{Purpose: challenge.SignIn, UserID: "2"})
	id, otherID := s.Box.ID(challenge.SignIn, handle), s.Box.ID(challenge.SignIn, other)

	edited := s.table.rows[id]
	edited.UserID, edited.Expires = "2", s.now.Add(1000*time.Hour)
	s.table.rows[id] = edited
	if row, err := s.Get(t.Context(), challenge.SignIn, handle); err != nil || row.UserID != "1" {
		t.Errorf("an edited user: %+v, %v", row, err)
	}
	s.now = s.now.Add(time.Hour)
	if _, err := s.Get(t.Context(), challenge.SignIn, handle); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("an edited expiry: %v", err)
	}
	s.now = s.now.Add(-time.Hour)

	edited.Data = s.table.rows[otherID].Data
	s.table.rows[id] = edited
	if _, err := s.Get(t.Context(), challenge.SignIn, handle); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("data of another row: %v", err)
	}
}

// F-012: a challenge ends at its instant.
func TestExpiryIsExact(t *testing.T) {
	s := newSite("", newSecret)
	handle := s.make(t, challenge.Draft{Purpose: challenge.SignIn, Life: 10 * time.Minute})
	s.now = s.now.Add(10*time.Minute - time.Millisecond)
	if _, err := s.Get(t.Context(), challenge.SignIn, handle); err != nil {
		t.Error(err)
	}
	s.now = s.now.Add(time.Millisecond)
	if _, err := s.Get(t.Context(), challenge.SignIn, handle); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("after its life: %v", err)
	}
}

// F-020: what was sealed under an older secret opens under both.
func TestSecretsRotate(t *testing.T) {
	s := newSite("", oldSecret)
	handle := s.make(t, challenge.Draft{Purpose: challenge.SignIn})
	s.Box = challenge.NewBox([]string{newSecret, oldSecret}, "")
	if _, err := s.Get(t.Context(), challenge.SignIn, handle); err != nil {
		t.Error(err)
	}
	s.Box = challenge.NewBox([]string{newSecret}, "")
	if _, err := s.Get(t.Context(), challenge.SignIn, handle); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("without the secret: %v", err)
	}
}

// F-071: tries are counted before an answer is looked at, and the row ends with
// the last.
func TestTriesAreBounded(t *testing.T) {
	s := newSite("", newSecret)
	handle := s.make(t, challenge.Draft{Purpose: challenge.SignIn})
	var tried sync.WaitGroup
	looked := make(chan *challenge.Row, 100)
	for range 100 {
		tried.Go(func() {
			if row, err := s.Try(t.Context(), challenge.SignIn, handle, 5); err == nil {
				looked <- row
			}
		})
	}
	tried.Wait()
	if close(looked); len(looked) != 5 {
		t.Errorf("%d answers were looked at, want 5", len(looked))
	}
	if len(s.table.rows) != 0 {
		t.Error("the row is still there")
	}
}

// a try that is given back counts no more, and no order of tries and returns has
// more than five answers looked at.
func TestReturnedTries(t *testing.T) {
	try := func(s *site, handle string) (int, error) {
		row, err := s.Count(t.Context(), challenge.Reauth, handle, 5)
		if err != nil {
			return 0, err
		}
		return row.Tries, nil
	}
	back := func(t *testing.T, s *site, handle string) {
		t.Helper()
		if err := s.Return(t.Context(), challenge.Reauth, handle); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("R-709 it counts no more", func(t *testing.T) {
		s := newSite("", newSecret)
		handle := s.make(t, challenge.Draft{Purpose: challenge.Reauth, UserID: "1"})
		for range 20 {
			if n, err := try(s, handle); n != 1 || err != nil {
				t.Fatalf("try %d, %v", n, err)
			}
			back(t, s, handle)
		}
		if row, err := s.Get(t.Context(), challenge.Reauth, handle); err != nil || row.Tries != 0 {
			t.Errorf("%+v, %v", row, err)
		}
		for i := range 5 {
			if n, err := try(s, handle); n != i+1 || err != nil {
				t.Errorf("wrong answer %d is try %d, %v", i+1, n, err)
			}
		}
		if _, err := try(s, handle); !errors.Is(err, challenge.ErrSpent) {
			t.Errorf("a sixth wrong answer is looked at: %v", err)
		}
		back(t, s, handle)
		if _, err := try(s, handle); !errors.Is(err, challenge.ErrSpent) {
			t.Errorf("a return after twenty counts: %v", err)
		}
	})
	t.Run("R-709 not for a later challenge of that handle", func(t *testing.T) {
		s := newSite("", newSecret)
		d := challenge.Draft{Purpose: challenge.Reauth, Handle: "session", Life: time.Hour}
		s.make(t, d)
		_, _ = try(s, d.Handle)
		back(t, s, d.Handle)
		if err := s.End(t.Context(), challenge.Reauth, d.Handle); err != nil {
			t.Fatal(err)
		}
		s.now = s.now.Add(time.Second)
		back(t, s, d.Handle)
		s.make(t, d)
		for range 5 {
			_, _ = try(s, d.Handle)
		}
		if _, err := try(s, d.Handle); !errors.Is(err, challenge.ErrSpent) {
			t.Errorf("a sixth answer is looked at: %v", err)
		}
	})
	t.Run("R-709 at once", func(t *testing.T) {
		s := newSite("", newSecret)
		handle := s.make(t, challenge.Draft{Purpose: challenge.Reauth})
		var all sync.WaitGroup
		var wrong atomic.Int64
		for i := range 100 {
			all.Go(func() {
				if _, err := try(s, handle); err != nil {
					return
				}
				if i%2 == 0 { // an outage
					_ = s.Return(t.Context(), challenge.Reauth, handle)
					return
				}
				wrong.Add(1)
			})
		}
		all.Wait()
		if n := wrong.Load(); n > 5 {
			t.Errorf("%d wrong answers were looked at", n)
		}
	})
}

func TestKeepEndsTheOldest(t *testing.T) {
	s := newSite("", newSecret)
	var handles []string
	for range 4 {
		handles = append(handles, s.make(t, challenge.Draft{Purpose: challenge.SignIn, UserID: "1"}))
		s.now = s.now.Add(time.Second)
	}
	if err := s.Keep(t.Context(), challenge.SignIn, "1", 2); err != nil {
		t.Fatal(err)
	}
	live := func(handle string) bool { _, err := s.Get(t.Context(), challenge.SignIn, handle); return err == nil }
	if got := slices.IndexFunc(handles, live); got != 2 {
		t.Errorf("the first live one is %d, want 2", got)
	}
}

// FuzzOpen feeds arbitrary data columns.
func FuzzOpen(f *testing.F) {
	box := challenge.NewBox([]string{newSecret}, "")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	handle, row, err := box.Make(challenge.Draft{Purpose: challenge.SignIn, UserID: "1", Life: time.Hour}, now)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(row.Data, row.ID)
	f.Add("", handle)
	f.Fuzz(func(t *testing.T, data, id string) {
		c := storage.Challenge{ID: id, Data: data}
		if got, err := box.Open(challenge.SignIn, &c, now); err == nil && (got.ID != id || got.UserID != "1") { // the row may be of another process
			t.Errorf("%+v", got)
		}
	})
}

func TestLongListsAreWhole(t *testing.T) {
	s := newSite("", newSecret)
	const n = 4100 // more than twice a store is asked
	oldest := s.make(t, challenge.Draft{Purpose: challenge.Lost, UserID: "oldest"})
	for range n {
		s.now = s.now.Add(time.Millisecond)
		s.make(t, challenge.Draft{Purpose: challenge.Lost, UserID: "newer"})
	}
	rows, err := s.List(t.Context(), challenge.Lost, "", "")
	if err != nil || len(rows) != n+1 || rows[n].UserID != "oldest" || rows[n].ID != s.Box.ID(challenge.Lost, oldest) {
		t.Errorf("%d rows, error %v, want %d", len(rows), err, n+1)
	}
}
