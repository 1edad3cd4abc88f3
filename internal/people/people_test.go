package people_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

const key = "a secret that is long enough for everything"

func reader(store storage.PeopleStore, c *people.Cursors) *people.Reader {
	return &people.Reader{Store: store, Cursors: c, Canonical: mailbox.Canonical}
}

// filled returns a store with n users.
func filled(t *testing.T, n int) *memoryadapter.Adapter {
	t.Helper()
	a := memoryadapter.New(memoryadapter.Options{})
	for i := range n {
		u := storage.User{ID: fmt.Sprintf("id%04d", i), Name: fmt.Sprint("User ", i), Email: fmt.Sprintf("u%d@example.com", i)}
		if i%3 != 0 {
			u.Created = time.UnixMilli(1_800_000_000_000 + int64(i/10))
		}
		if _, err := a.CreateUser(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// TestWrongQueries: P-006, P-012.
func TestWrongQueries(t *testing.T) {
	now := time.Now()
	clock := func() time.Time { return now }
	a := filled(t, 10)
	r := reader(a.People(), people.NewCursors([]string{key}, "", clock))
	first, err := r.List(t.Context(), people.Query{Limit: 2})
	if err != nil || first.Next == "" {
		t.Fatal(first.Next, err)
	}
	other := func(secret, tenant string) string {
		page, err := reader(a.People(), people.NewCursors([]string{secret}, tenant, clock)).List(t.Context(), people.Query{Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		return page.Next
	}
	day := time.Now()
	for name, row := range map[string]struct {
		q     people.Query
		field string
	}{
		"P-006 negative limit":               {people.Query{Limit: -1}, "Limit"},
		"P-006 limit of 201":                 {people.Query{Limit: 201}, "Limit"},
		"P-006 From after Before":            {people.Query{From: day, Before: day.Add(-time.Hour)}, "From"},
		"P-006 unknown order":                {people.Query{Order: "name"}, "Order"},
		"P-006 order of a search":            {people.Query{Order: storage.ByID, Search: "a"}, "Order"},
		"P-006 unknown kind":                 {people.Query{Kind: "saml"}, "Kind"},
		"P-006 cursor altered":               {people.Query{After: first.Next[:len(first.Next)-2] + "AA"}, "After"},
		"P-006 cursor of 1 MB":               {people.Query{After: strings.Repeat("x", 1<<20)}, "After"},
		"P-006 cursor of another query":      {people.Query{After: first.Next, Provider: "acme"}, "After"},
		"P-006 cursor of another order":      {people.Query{After: first.Next, Order: storage.ByID}, "After"},
		"P-006 cursor of another secret":     {people.Query{After: other("another "+key, "")}, "After"},
		"P-009 cursor of another tenant":     {people.Query{After: other(key, "acme")}, "After"},
		"P-012 NUL in a search":              {people.Query{Search: "a\x00"}, "Search"},
		"P-012 a search of 10 KB":            {people.Query{Search: strings.Repeat("a", 10<<10)}, "Search"},
		"P-012 a search that is no text":     {people.Query{Search: "\xff"}, "Search"},
		"P-012 a provider with a line break": {people.Query{Provider: "a\nb"}, "Provider"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.List(t.Context(), row.q)
			wrong, is := errors.AsType[*fault.InputError](err)
			if !is || wrong.Field != row.field || !errors.Is(err, fault.ErrInvalidConfig) {
				t.Errorf("got %v, want an InputError of %s", err, row.field)
			}
			for _, err := range r.All(t.Context(), row.q) {
				if !errors.Is(err, fault.ErrInvalidConfig) {
					t.Errorf("All: %v", err)
				}
			}
		})
	}
	t.Run("P-006 cursor of a day ago", func(t *testing.T) {
		now = now.Add(24 * time.Hour)
		if _, err := r.List(t.Context(), people.Query{After: first.Next}); !errors.Is(err, fault.ErrInvalidConfig) {
			t.Error(err)
		}
	})
}

// TestPagesUnderWrites compares pages with a model: P-002.
func TestPagesUnderWrites(t *testing.T) {
	seed, steps := race.Steps(t, 30)
	for step := range steps {
		random := rand.New(rand.NewPCG(seed, uint64(step)))
		a := filled(t, 80)
		r := reader(a.People(), people.NewCursors([]string{key}, "", time.Now))
		stay, seen := map[string]bool{}, map[string]int{}
		for _, u := range a.Contents().Users {
			stay[u.ID] = true
		}
		q := people.Query{Order: []storage.Order{"", storage.Newest, storage.ByID}[random.IntN(3)]}
		for {
			q.Limit = 1 + random.IntN(20) // pages of any size are of one query
			page, err := r.List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range page.Users {
				seen[u.ID]++
			}
			if q.After = page.Next; page.Next == "" {
				break
			}
			id := fmt.Sprintf("id%04d", random.IntN(80))
			switch random.IntN(3) {
			case 0:
				if _, err := a.DeleteUser(t.Context(), id); err == nil {
					delete(stay, id)
				}
			case 1:
				if stay[id] {
					_, err = a.UpdateUser(t.Context(), id, storage.UserChange{Name: new("Renamed")})
				}
			case 2:
				_, err = a.CreateUser(t.Context(), storage.User{Created: time.UnixMilli(1_800_000_000_000 + int64(random.IntN(10)))})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for id := range stay {
			if seen[id] != 1 {
				t.Errorf("step %d: %s was there throughout and listed %d times", step, id, seen[id])
			}
		}
		for id, n := range seen {
			if n > 1 {
				t.Errorf("step %d: %s was listed %d times", step, id, n)
			}
		}
	}
}

// faulty is a store whose third page fails.
type faulty struct {
	storage.PeopleStore
	pages int
	err   error
}

func (f *faulty) List(ctx context.Context, q storage.PeopleQuery) ([]storage.User, string, error) {
	if f.pages++; f.pages == 3 && f.err != nil {
		return nil, "", f.err
	}
	return f.PeopleStore.List(ctx, q)
}

// TestAll: P-005, P-008.
func TestAll(t *testing.T) {
	a := filled(t, 50)
	cursors := people.NewCursors([]string{key}, "", time.Now)
	t.Run("P-008 an error on page 3 comes once, at the end", func(t *testing.T) {
		broken := errors.New("broken")
		r := reader(&faulty{PeopleStore: a.People(), err: broken}, cursors)
		users, errs := 0, 0
		for _, err := range r.All(t.Context(), people.Query{Limit: 10}) {
			if err != nil {
				errs++
			} else {
				users++
			}
		}
		if users != 20 || errs != 1 {
			t.Errorf("%d users and %d errors, want 20 and 1", users, errs)
		}
	})
	t.Run("P-008 a break reads no further page", func(t *testing.T) {
		store := &faulty{PeopleStore: a.People()}
		for range reader(store, cursors).All(t.Context(), people.Query{Limit: 10}) {
			break
		}
		if store.pages != 1 {
			t.Errorf("%d pages read", store.pages)
		}
	})
	t.Run("P-008 the context is over", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		n := 0
		for _, err := range reader(a.People(), cursors).All(ctx, people.Query{Limit: 10}) {
			if n++; n == 5 {
				cancel()
			}
			last = err
		}
		if !errors.Is(last, context.Canceled) || n != 11 {
			t.Errorf("%d results, the last is %v", n, last)
		}
	})
	t.Run("P-005 a rare filter is found behind empty pages", func(t *testing.T) {
		at := time.UnixMilli(1)
		if _, err := a.CreateUser(t.Context(), storage.User{ID: "rare", EmailVerified: at}); err != nil {
			t.Fatal(err)
		}
		var found []string
		for u, err := range reader(narrow{a.People()}, cursors).All(t.Context(), people.Query{Verified: new(true), Order: storage.ByID}) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, u.ID)
		}
		if !slices.Equal(found, []string{"rare"}) {
			t.Errorf("found %v", found)
		}
	})
}

// narrow looks at three rows a call.
type narrow struct{ storage.PeopleStore }

func (n narrow) List(ctx context.Context, q storage.PeopleQuery) ([]storage.User, string, error) {
	q.Window = 3
	return n.PeopleStore.List(ctx, q)
}

// TestCount: P-005.
func TestCount(t *testing.T) {
	for stored, want := range map[int]string{9_999: "9999 false", 10_000: "10000 false", 10_001: "10000 true", 20_000: "10000 true"} {
		t.Run(fmt.Sprint("P-005 ", stored), func(t *testing.T) {
			r := reader(counting(stored), people.NewCursors([]string{key}, "", time.Now))
			n, more, err := r.Count(t.Context(), people.Query{})
			if got := fmt.Sprint(n, more); got != want || err != nil {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		})
	}
}

// counting is a store of so many users.
type counting int

func (counting) List(context.Context, storage.PeopleQuery) ([]storage.User, string, error) {
	return nil, "", errors.ErrUnsupported
}

func (counting) Search(context.Context, storage.PeopleQuery) ([]storage.User, string, error) {
	return nil, "", errors.ErrUnsupported
}

func (c counting) Count(_ context.Context, _ storage.PeopleQuery, most int) (int, error) {
	return min(int(c), most), nil
}

// FuzzCursor: a cursor that was not made for the query opens nothing, P-006.
func FuzzCursor(f *testing.F) {
	c := people.NewCursors([]string{key}, "", time.Now)
	f.Add("")
	f.Add("a.b.c.d.e")
	f.Add("eyJhbGciOiJkaXIifQ....")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := reader(counting(1), c).List(t.Context(), people.Query{After: text})
		if text == "" {
			return
		}
		if _, is := errors.AsType[*fault.InputError](err); !is {
			t.Errorf("%q: %v", text, err)
		}
	})
}
