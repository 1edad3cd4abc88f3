package storagetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// directoryStore is a store that can list users.
type directoryStore interface {
	storage.Adapter
	storage.DirectoryAdapter
}

// listOf reads all pages of a list, or of a search if q has a Prefix or Folded. between,
// unless it is nil, runs between two pages. A zero Limit is 50, a zero Window 5,000.
func listOf(t *testing.T, a directoryStore, q storage.PeopleQuery, between func()) (all []storage.User) {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 50
	}
	if q.Window == 0 {
		q.Window = 5000
	}
	for range 100_000 {
		read := a.People().List
		if q.Prefix != "" || q.Folded != "" {
			read = a.People().Search
		}
		users, next, err := read(t.Context(), q)
		ok(t, err)
		if len(users) > q.Limit {
			t.Fatalf("%d users on a page of %d", len(users), q.Limit)
		}
		all = append(all, users...)
		if next == "" {
			return all
		}
		if q.After = next; between != nil {
			between()
		}
	}
	t.Fatal("the list has no end")
	return nil
}

// orders returns the orders in which a store lists users.
func orders(t *testing.T, a directoryStore) (kept []storage.Order) {
	for _, o := range []storage.Order{storage.Newest, storage.ByID} {
		if _, _, err := a.People().List(t.Context(), storage.PeopleQuery{Order: o, Limit: 1, Window: 1}); err == nil {
			kept = append(kept, o)
		}
	}
	if len(kept) == 0 {
		t.Fatal("the store keeps no order")
	}
	return kept
}

// people stores n users and returns their ids. Most were created at one instant, and a
// few are older or of unknown age.
func people(t *testing.T, a storage.Adapter, n int) (ids []string) {
	t.Helper()
	for i := range n {
		created := instant
		switch i % 5 {
		case 3:
			created = instant.Add(-time.Duration(i) * time.Hour)
		case 4:
			created = time.Time{}
		}
		u, err := a.CreateUser(t.Context(), storage.User{Name: fmt.Sprint("User ", i), Email: fmt.Sprintf("u%d@example.com", i), Created: created})
		ok(t, err)
		ids = append(ids, u.ID)
	}
	return ids
}

func idsOf(users []storage.User) (ids []string) {
	for _, u := range users {
		ids = append(ids, u.ID)
	}
	return ids
}

var directoryPromises = []promise[directoryStore]{
	{"P-002, P-003 a list has every user once, in order, on pages of any size", func(t *testing.T, a directoryStore) {
		want := people(t, a, 60)
		slices.Sort(want)
		for _, o := range orders(t, a) {
			whole := listOf(t, a, storage.PeopleQuery{Order: o, Limit: 200}, nil)
			inOrder(t, o, whole)
			for _, size := range []int{1, 7, 50} {
				paged := listOf(t, a, storage.PeopleQuery{Order: o, Limit: size}, nil)
				if !slices.Equal(idsOf(paged), idsOf(whole)) {
					t.Errorf("%s: pages of %d have other users, or in another order, than one page", o, size)
				}
			}
			got := idsOf(whole)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d users listed, want %d", o, len(got), len(want))
			}
		}
	}},
	{"P-002 a user who is there throughout is listed once, whatever is written meanwhile", listUnderWrites},
	{"P-004 filters leave out what they say", filtered},
	{"P-005 Count stops at the most", func(t *testing.T, a directoryStore) {
		people(t, a, 12)
		for most, want := range map[int]int{5: 5, 11: 11, 12: 12, 13: 12} {
			n, err := a.People().Count(t.Context(), storage.PeopleQuery{}, most)
			ok(t, err)
			if n != want {
				t.Errorf("Count to %d: %d, want %d", most, n, want)
			}
		}
	}},
	{"P-011 a search finds addresses, and names without case and accents, each user once", searched},
	{"P-012 patterns are plain text", func(t *testing.T, a directoryStore) {
		newUser(t, a, "ada@example.com")
		odd, err := a.CreateUser(t.Context(), storage.User{Name: `%_\.*'`, Email: "a%_@example.com"})
		ok(t, err)
		for search, want := range map[string]int{"%": 1, "_": 0, "a%": 1, "a%_": 1, `\`: 0, ".*": 0, "'": 0, "ad": 1, "a": 2} {
			found := listOf(t, a, storage.PeopleQuery{Prefix: search, Folded: storage.FoldName(search)}, nil)
			if len(found) != want {
				t.Errorf("%q finds %d users, want %d", search, len(found), want)
			}
		}
		ok(t, a.LinkAccount(t.Context(), storage.Account{UserID: odd.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOIDC}))
	}},
	{"P-013 a changed name is found by its new beginning", func(t *testing.T, a directoryStore) {
		u := newUser(t, a, "")
		_, err := a.UpdateUser(t.Context(), u.ID, storage.UserChange{Name: new("Grace Hopper")})
		ok(t, err)
		for search, want := range map[string]int{"grace": 1, "ada": 0} {
			if found := listOf(t, a, storage.PeopleQuery{Prefix: search, Folded: search}, nil); len(found) != want {
				t.Errorf("%q finds %d users, want %d", search, len(found), want)
			}
		}
	}},
}

// inOrder fails unless users are in the order.
func inOrder(t *testing.T, o storage.Order, users []storage.User) {
	t.Helper()
	for i := 1; i < len(users); i++ {
		before, u := users[i-1], users[i]
		good := before.ID < u.ID
		if o == storage.Newest && !before.Created.IsZero() {
			good = u.Created.IsZero() || before.Created.After(u.Created) || before.Created.Equal(u.Created) && before.ID > u.ID
		} else if o == storage.Newest {
			good = u.Created.IsZero() && good
		}
		if !good {
			t.Errorf("%s: user %d of %d is out of order", o, i, len(users))
		}
	}
}

// listUnderWrites expects each lasting user once in a list, while users come, go and change.
func listUnderWrites(t *testing.T, a directoryStore) {
	seed, _ := race.Steps(t, 1)
	random := rand.New(rand.NewPCG(seed, 1))
	for _, o := range orders(t, a) {
		stay, others := crowdOf(t, a, 40, o+"s"), crowdOf(t, a, 20, o+"o")
		made := 0
		seen := map[string]int{}
		for _, u := range listOf(t, a, storage.PeopleQuery{Order: o, Limit: 1 + random.IntN(6)}, func() {
			switch random.IntN(3) {
			case 0:
				made++
				crowdOf(t, a, 1, storage.Order(fmt.Sprint(o, "new", made)))
			case 1:
				_, err := a.UpdateUser(t.Context(), stay[random.IntN(len(stay))], storage.UserChange{Name: new(fmt.Sprint("Renamed ", random.IntN(100)))})
				ok(t, err)
			case 2:
				if able, can := a.(storage.UserDeletionAdapter); can && len(others) > 0 {
					_, err := able.DeleteUser(t.Context(), others[0])
					ok(t, err)
					others = others[1:]
				}
			}
		}) {
			seen[u.ID]++
		}
		for _, id := range stay {
			if seen[id] != 1 {
				t.Errorf("%s: a user who was there throughout was listed %d times", o, seen[id])
			}
		}
		for id, n := range seen {
			if n > 1 {
				t.Errorf("%s: the user %s was listed %d times", o, id, n)
			}
		}
	}
}

// crowdOf stores n users with addresses that begin with mark, and returns their ids.
func crowdOf(t *testing.T, a storage.Adapter, n int, mark storage.Order) (ids []string) {
	t.Helper()
	for i := range n {
		u, err := a.CreateUser(t.Context(), storage.User{Name: "Ada", Email: fmt.Sprintf("%s%d@example.com", mark, i), Created: instant.Add(time.Duration(i%7) * time.Minute)})
		ok(t, err)
		ids = append(ids, u.ID)
	}
	return ids
}

// searched expects a search to find each user once, by address or by name in many scripts.
func searched(t *testing.T, a directoryStore) {
	for i, name := range []string{"Erdős Pál", "Straße", "İstanbul", "Zoe\u0308", "ＡＤＡ", "한국어", "مرحبا", "O'Brien"} {
		_, err := a.CreateUser(t.Context(), storage.User{Name: name, Email: fmt.Sprintf("user%d@example.com", i)})
		ok(t, err)
	}
	_, err := a.CreateUser(t.Context(), storage.User{Name: "Erdos", Email: "erdos@example.com"}) // found by both
	ok(t, err)
	for search, want := range map[string]int{
		"erdos": 2, "ERDŐS": 2, "strasse": 1, "i": 1, "zoë": 1, "ada": 1, "한국": 1, "مرح": 1, "o'b": 1, "user": 8, "nobody": 0, "user3@e": 1,
	} {
		q := storage.PeopleQuery{Prefix: strings.ToLower(search), Folded: storage.FoldName(search), Limit: 1}
		if found := listOf(t, a, q, nil); len(found) != want {
			t.Errorf("%q finds %d users, want %d", search, len(found), want)
		}
		if n, err := a.People().Count(t.Context(), q, 100); err != nil || n != want {
			t.Errorf("%q: Count says %d, %v, want %d", search, n, err, want)
		}
	}
	found := listOf(t, a, storage.PeopleQuery{Prefix: "erdos", Folded: "erdos", Limit: 1}, nil)
	if len(found) == 2 && found[0].Name != "Erdos" {
		t.Error("addresses come after names")
	}
}
