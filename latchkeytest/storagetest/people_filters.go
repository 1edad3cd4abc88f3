package storagetest

import (
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// labelled are the users that filters are tried on, and what is known of them.
type labelled struct {
	suspended map[string]bool   // whether a suspension holds, by user
	providers map[string]string // of the only account, by user
}

// labels verifies, links and suspends some users. It returns which it has linked or suspended.
func labels(t *testing.T, a directoryStore, ids []string) labelled {
	t.Helper()
	l := labelled{map[string]bool{}, map[string]string{}}
	store, can := a.(storage.SuspensionAdapter)
	for i, id := range ids {
		if i%2 == 0 {
			_, err := a.UpdateUser(t.Context(), id, storage.UserChange{EmailVerified: new(instant)})
			ok(t, err)
		}
		if i%3 == 0 {
			l.providers[id] = []string{"acme", "other"}[i%2]
			ok(t, a.LinkAccount(t.Context(), storage.Account{UserID: id, Provider: l.providers[id], ProviderAccountID: id, Type: storage.TypeOIDC}))
		}
		if can && i%7 == 0 {
			until := time.Time{}
			if i%2 == 1 {
				until = instant // over by then
			}
			ok(t, store.Suspensions().Put(t.Context(), id, storage.Suspension{Since: instant, Until: until}))
			l.suspended[id] = until.IsZero()
		}
	}
	return l
}

// filters returns one query for each filter that the store has.
func filters(t *testing.T, a directoryStore) []storage.PeopleQuery {
	t.Helper()
	yes, no, day := new(true), new(false), instant.Truncate(time.Millisecond)
	queries := []storage.PeopleQuery{{}, {Verified: yes}, {Verified: no}, {Provider: "acme"}, {Kind: storage.TypeOIDC}, {Kind: storage.TypeEmail}}
	if slices.Contains(orders(t, a), storage.Newest) {
		queries = append(queries, storage.PeopleQuery{From: day}, storage.PeopleQuery{Before: day})
	}
	if _, can := a.(storage.SuspensionAdapter); can {
		queries = append(queries, storage.PeopleQuery{Suspended: yes}, storage.PeopleQuery{Suspended: no})
	}
	return queries
}

// filtered fails the test unless lists and counts with any two filters have the users
// that fits finds.
func filtered(t *testing.T, a directoryStore) {
	known := labels(t, a, people(t, a, 30))
	everyone := listOf(t, a, storage.PeopleQuery{Order: storage.ByID}, nil)
	queries := filters(t, a)
	for _, one := range queries {
		for _, two := range queries {
			q := both(one, two)
			q.Now, q.Order, q.Window, q.Limit = instant.Add(time.Hour), storage.ByID, 7, 4
			var want []string
			for _, u := range everyone {
				if fits(&q, &u, known.suspended[u.ID], known.providers[u.ID]) {
					want = append(want, u.ID)
				}
			}
			got := listOf(t, a, q, nil)
			if !slices.Equal(idsOf(got), want) {
				t.Errorf("%+v: %d users, want %d", q, len(got), len(want))
			}
			n, err := a.People().Count(t.Context(), q, 1000)
			ok(t, err)
			if n != len(want) {
				t.Errorf("%+v: Count says %d, want %d", q, n, len(want))
			}
			for _, u := range got {
				if (u.Suspension != nil) != hasKey(known.suspended, u.ID) {
					t.Errorf("the list does not say whether a user is suspended")
				}
			}
		}
	}
}

func hasKey[V any](m map[string]V, k string) bool { _, has := m[k]; return has }

// both returns a with the filters of b, which win.
func both(a, b storage.PeopleQuery) storage.PeopleQuery {
	if b.Verified != nil {
		a.Verified = b.Verified
	}
	if b.Suspended != nil {
		a.Suspended = b.Suspended
	}
	if b.Provider != "" {
		a.Provider = b.Provider
	}
	if b.Kind != "" {
		a.Kind = b.Kind
	}
	if !b.From.IsZero() {
		a.From = b.From
	}
	if !b.Before.IsZero() {
		a.Before = b.Before
	}
	return a
}

// fits reports whether a user fits all filters of q. suspended and provider are what
// labels returned for the user.
func fits(q *storage.PeopleQuery, u *storage.User, suspended bool, provider string) bool {
	day := u.Created
	return (q.Verified == nil || *q.Verified == !u.EmailVerified.IsZero()) &&
		(q.Suspended == nil || *q.Suspended == suspended) &&
		(q.Provider == "" || q.Provider == provider) &&
		(q.Kind == "" || provider != "" && q.Kind == storage.TypeOIDC) &&
		(q.From.IsZero() || !day.IsZero() && !day.Before(q.From)) &&
		(q.Before.IsZero() || !day.IsZero() && day.Before(q.Before))
}
