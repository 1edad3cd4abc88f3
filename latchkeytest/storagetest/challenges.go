package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

var challengePromises = []promise[storage.ChallengeAdapter]{
	{"what is not there is ErrNotFound", func(t *testing.T, a storage.ChallengeAdapter) {
		noChallenge(t, a, "none")
		listChallenges(t, a, storage.ChallengeQuery{})
		deleteChallenges(t, a, 0, "nobody")
	}},
	{"a challenge is read, listed, tried and taken as it was stored", func(t *testing.T, a storage.ChallengeAdapter) {
		want := newChallenge(t, a, "c", nil)
		got, err := a.Challenges().Get(t.Context(), "c")
		ok(t, err)
		same(t, "challenge", got, want)
		listChallenges(t, a, storage.ChallengeQuery{Tenant: want.Tenant}, want)
		want.Tries = 1
		got, err = a.Challenges().Try(t.Context(), "c", 5)
		ok(t, err)
		same(t, "tried challenge", got, want)
		listChallenges(t, a, storage.ChallengeQuery{Tenant: want.Tenant}, want)
		got, err = a.Challenges().Take(t.Context(), "c")
		ok(t, err)
		same(t, "taken challenge", got, want)
		noChallenge(t, a, "c")
	}},
	{"what is empty reads back empty", func(t *testing.T, a storage.ChallengeAdapter) {
		want := storage.Challenge{ID: "c", Purpose: "signup", Created: instant.Add(-time.Hour), Expires: instant}
		ok(t, a.Challenges().Create(t.Context(), want))
		got, err := a.Challenges().Get(t.Context(), "c")
		ok(t, err)
		same(t, "challenge", got, want)
	}},
	{"a challenge that has expired is found as it was, or not at all", func(t *testing.T, a storage.ChallengeAdapter) {
		want := newChallenge(t, a, "c", func(c *storage.Challenge) { c.Expires = time.Now().Add(-time.Hour) })
		got, err := a.Challenges().Take(t.Context(), "c")
		if errors.Is(err, storage.ErrNotFound) {
			t.Log("the store has removed it")
			return
		}
		ok(t, err)
		same(t, "challenge", got, want)
	}},
	{"a taken id is ErrConflict", func(t *testing.T, a storage.ChallengeAdapter) {
		want := newChallenge(t, a, "c", nil)
		is(t, "Create", a.Challenges().Create(t.Context(), storage.Challenge{ID: "c", Purpose: "reset", Created: instant, Expires: instant}), storage.ErrConflict)
		got, err := a.Challenges().Get(t.Context(), "c")
		ok(t, err)
		same(t, "challenge", got, want)
	}},
	{"ids are compared exactly", func(t *testing.T, a storage.ChallengeAdapter) {
		for _, id := range alike {
			newChallenge(t, a, id, func(c *storage.Challenge) { c.Data = "of " + id })
		}
		for _, id := range alike {
			got, err := a.Challenges().Take(t.Context(), id)
			if err != nil || got.Data != "of "+id {
				t.Errorf("Take(%q): %q, error %v", id, got.Data, err)
			}
		}
	}},
	{"hostile ids find nothing", func(t *testing.T, a storage.ChallengeAdapter) {
		want := newChallenge(t, a, "c", nil)
		for _, text := range hostile {
			noChallenge(t, a, text)
			listChallenges(t, a, storage.ChallengeQuery{Tenant: text})
			listChallenges(t, a, storage.ChallengeQuery{Tenant: want.Tenant, UserID: text})
			listChallenges(t, a, storage.ChallengeQuery{Tenant: want.Tenant, Purpose: text, Identifier: text})
			deleteChallenges(t, a, 0, text)
			deleteChallenges(t, a, 0, want.UserID, text)
		}
		noChallenge(t, a, "")
		deleteChallenges(t, a, 0, "")
		listChallenges(t, a, storage.ChallengeQuery{Tenant: want.Tenant}, want)
	}},
	{"a hostile text is kept whole or refused", func(t *testing.T, a storage.ChallengeAdapter) {
		for i, text := range slices.Concat(hostile, unicode) {
			want := filledChallenge(fmt.Sprint("c", i))
			want.Tenant, want.UserID, want.Identifier, want.Data = text, text, text, text
			if a.Challenges().Create(t.Context(), want) != nil {
				noChallenge(t, a, want.ID)
				continue
			}
			listChallenges(t, a, storage.ChallengeQuery{Tenant: text, UserID: text, Identifier: text}, want)
			got, err := a.Challenges().Take(t.Context(), want.ID)
			ok(t, err)
			same(t, "challenge", got, want)
		}
	}},
	{"F-071 a try is counted until there were too many", func(t *testing.T, a storage.ChallengeAdapter) {
		want := newChallenge(t, a, "c", nil)
		other := newChallenge(t, a, "other", nil)
		for want.Tries < 5 {
			want.Tries++
			got, err := a.Challenges().Try(t.Context(), "c", 5)
			ok(t, err)
			same(t, "challenge", got, want)
		}
		for _, most := range []int{5, 4, 0} {
			_, err := a.Challenges().Try(t.Context(), "c", most)
			is(t, fmt.Sprint("Try of at most ", most), err, storage.ErrConflict)
		}
		got, err := a.Challenges().Get(t.Context(), "c")
		ok(t, err)
		same(t, "challenge after refused tries", got, want)
		got, err = a.Challenges().Get(t.Context(), "other")
		ok(t, err)
		same(t, "another challenge", got, other)
	}},
	{"F-071 of 100 tries at once five are counted", func(t *testing.T, a storage.ChallengeAdapter) {
		newChallenge(t, a, "c", nil)
		counted := make([]int, crowd)
		for i, err := range race.Run(crowd, func(i int) error {
			c, err := a.Challenges().Try(t.Context(), "c", 5)
			counted[i] = c.Tries
			return err
		}) {
			if err != nil {
				is(t, "Try", err, storage.ErrConflict)
				counted[i] = 0
			}
		}
		slices.Sort(counted)
		if got := counted[crowd-6:]; !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
			t.Errorf("the last tries were %v, want 1 to 5", got)
		}
	}},
	{"F-011 of 100 callers exactly one takes a challenge", func(t *testing.T, a storage.ChallengeAdapter) {
		newChallenge(t, a, "c", nil)
		oneWins(t, "Take", race.Run(crowd, func(int) error {
			_, err := a.Challenges().Take(t.Context(), "c")
			return err
		}), storage.ErrNotFound)
	}},
	{"a taken challenge was tried as often as it says", func(t *testing.T, a storage.ChallengeAdapter) {
		for range 5 {
			newChallenge(t, a, "c", nil)
			tried := make([]bool, 8)
			var taken storage.Challenge
			race.Run(len(tried), func(i int) (err error) {
				if i == 0 {
					taken, err = a.Challenges().Take(t.Context(), "c")
				} else {
					_, err = a.Challenges().Try(t.Context(), "c", 100)
					tried[i] = err == nil
				}
				return err
			})
			if n := len(slices.DeleteFunc(tried, func(was bool) bool { return !was })); n != taken.Tries {
				t.Errorf("%d tries were counted, the taken challenge says %d", n, taken.Tries)
			}
		}
	}},
	{"List compares what the query names, and the tenant always", func(t *testing.T, a storage.ChallengeAdapter) {
		var all []storage.Challenge
		for i, set := range []func(*storage.Challenge){
			func(c *storage.Challenge) { c.Tenant = "" },
			func(c *storage.Challenge) { c.Tenant, c.UserID = "", "" },
			func(c *storage.Challenge) { c.Tenant, c.Identifier = "", "" },
			func(c *storage.Challenge) { c.Purpose = "reset" },
			func(c *storage.Challenge) { c.UserID = "another" },
			func(c *storage.Challenge) { c.Identifier = "eve@example.com" },
			func(*storage.Challenge) {},
		} {
			all = append(all, newChallenge(t, a, fmt.Sprint("c", i), func(c *storage.Challenge) {
				c.Created = instant.Add(time.Duration(-i) * time.Minute) // the newest has been stored first
				set(c)
			}))
		}
		of := func(places ...int) (some []storage.Challenge) {
			for _, i := range places {
				some = append(some, all[i])
			}
			return some
		}
		some := all[6]
		for _, row := range []struct {
			q    storage.ChallengeQuery
			want []int
		}{
			{storage.ChallengeQuery{}, []int{0, 1, 2}},
			{storage.ChallengeQuery{UserID: some.UserID}, []int{0, 2}},
			{storage.ChallengeQuery{Identifier: some.Identifier, Purpose: "signin"}, []int{0, 1}},
			{storage.ChallengeQuery{Tenant: some.Tenant}, []int{3, 4, 5, 6}},
			{storage.ChallengeQuery{Tenant: some.Tenant, Purpose: "signin"}, []int{4, 5, 6}},
			{storage.ChallengeQuery{Tenant: some.Tenant, UserID: some.UserID}, []int{3, 5, 6}},
			{storage.ChallengeQuery{Tenant: some.Tenant, Identifier: some.Identifier}, []int{3, 4, 6}},
			{storage.ChallengeQuery{Tenant: some.Tenant, Purpose: "signin", UserID: some.UserID, Identifier: some.Identifier}, []int{6}},
			{storage.ChallengeQuery{Tenant: some.Tenant, Limit: 2}, []int{3, 4}},
			{storage.ChallengeQuery{Tenant: "Some Tenant"}, nil},
		} {
			listChallenges(t, a, row.q, of(row.want...)...)
		}
	}},
	{"Delete removes a user's challenges of every tenant, by purpose", func(t *testing.T, a storage.ChallengeAdapter) {
		for i, purpose := range []string{"signin", "reset", "enrol", "moved"} {
			for _, user := range []string{"ada", "eve"} {
				newChallenge(t, a, purpose+" of "+user, func(c *storage.Challenge) { c.UserID, c.Purpose, c.Tenant = user, purpose, fmt.Sprint(i%2) })
			}
		}
		newChallenge(t, a, "of nobody", func(c *storage.Challenge) { c.UserID = "" })
		deleteChallenges(t, a, 1, "ada", "reset")
		deleteChallenges(t, a, 2, "ada", "signin", "reset", "enrol", "lost")
		noChallenge(t, a, "reset of ada")
		deleteChallenges(t, a, 1, "ada")
		deleteChallenges(t, a, 0, "ada")
		deleteChallenges(t, a, 0, "")
		deleteChallenges(t, a, 4, "eve")
		if _, err := a.Challenges().Get(t.Context(), "of nobody"); err != nil {
			t.Errorf("Get: %v", err)
		}
	}},
	{"a cancelled context ends the call", func(t *testing.T, a storage.ChallengeAdapter) {
		want := newChallenge(t, a, "c", nil)
		ctx := cancelled(t)
		is(t, "Create", a.Challenges().Create(ctx, filledChallenge("new")), context.Canceled)
		_, err := a.Challenges().Get(ctx, "c")
		is(t, "Get", err, context.Canceled)
		_, err = a.Challenges().List(ctx, storage.ChallengeQuery{Tenant: want.Tenant})
		is(t, "List", err, context.Canceled)
		_, err = a.Challenges().Try(ctx, "c", 5)
		is(t, "Try", err, context.Canceled)
		_, err = a.Challenges().Take(ctx, "c")
		is(t, "Take", err, context.Canceled)
		_, err = a.Challenges().Delete(ctx, want.UserID)
		is(t, "Delete", err, context.Canceled)
		listChallenges(t, a, storage.ChallengeQuery{Tenant: want.Tenant}, want)
	}},
}

// newChallenge stores a filled challenge, after set has changed it. set may be nil.
func newChallenge(t *testing.T, a storage.ChallengeAdapter, id string, set func(*storage.Challenge)) storage.Challenge {
	t.Helper()
	c := filledChallenge(id)
	if set != nil {
		set(&c)
	}
	ok(t, a.Challenges().Create(t.Context(), c))
	return c
}

// listChallenges expects exactly these challenges, in their order.
func listChallenges(t *testing.T, a storage.ChallengeAdapter, q storage.ChallengeQuery, want ...storage.Challenge) {
	t.Helper()
	got, err := a.Challenges().List(t.Context(), q)
	if err != nil || len(got) != len(want) {
		t.Errorf("List(%.60q): %d challenges, error %v, want %d", fmt.Sprint(q), len(got), err, len(want))
		return
	}
	for i := range want {
		same(t, fmt.Sprintf("List(%.60q)[%d]", fmt.Sprint(q), i), got[i], want[i])
	}
}

// noChallenge fails the test unless Get, Try and Take return ErrNotFound.
func noChallenge(t *testing.T, a storage.ChallengeAdapter, id string) {
	t.Helper()
	_, err := a.Challenges().Get(t.Context(), id)
	is(t, fmt.Sprintf("Get(%.20q)", id), err, storage.ErrNotFound)
	_, err = a.Challenges().Try(t.Context(), id, 5)
	is(t, fmt.Sprintf("Try(%.20q)", id), err, storage.ErrNotFound)
	_, err = a.Challenges().Take(t.Context(), id)
	is(t, fmt.Sprintf("Take(%.20q)", id), err, storage.ErrNotFound)
}

// deleteChallenges fails the test unless Delete removes want challenges.
func deleteChallenges(t *testing.T, a storage.ChallengeAdapter, want int, userID string, purposes ...string) {
	t.Helper()
	if n, err := a.Challenges().Delete(t.Context(), userID, purposes...); err != nil || n != want {
		t.Errorf("Delete(%.20q, %.40q): %d, error %v, want %d", userID, purposes, n, err, want)
	}
}
