package storagetest

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/latchkeyhq/latchkey/storage"
)

// walkStore is an AccountWalker whose accounts can be linked, unlinked and read.
type walkStore interface {
	accountStore
	storage.AccountWalker
}

// manyAccounts is more than a store reads at once.
const manyAccounts = 105

// name is the key of an account.
type name struct{ provider, id string }

func nameOf(a storage.Account) name { return name{a.Provider, a.ProviderAccountID} }

// linkMany stores manyAccounts accounts with tokens, of three users and as many providers.
func linkMany(t *testing.T, a walkStore) map[name]storage.Account {
	t.Helper()
	all := map[name]storage.Account{}
	var users [3]storage.User
	for i := range users {
		users[i] = newUser(t, a, "")
	}
	for i := range manyAccounts {
		n := strconv.Itoa(i)
		in := storage.Account{UserID: users[i%3].ID, Provider: []string{"acme", "Acme", "other"}[i/3%3], ProviderAccountID: n, Type: storage.TypeOIDC}
		in.Tokens = storage.Tokens{AccessToken: "a" + n, RefreshToken: "r" + n, IDToken: "i" + n, Scope: "one"}
		ok(t, a.LinkAccount(t.Context(), in))
		all[nameOf(in)] = in
	}
	return all
}

// walked returns the accounts that EachAccount hands over. Of one that comes twice it returns
// the last state. After the first account it calls meanwhile once, unless that is nil.
func walked(t *testing.T, a walkStore, meanwhile func(first storage.Account)) map[name]storage.Account {
	t.Helper()
	all := map[name]storage.Account{}
	err := a.EachAccount(t.Context(), func(got storage.Account) error {
		all[nameOf(got)] = got
		if len(all) == 1 && meanwhile != nil {
			meanwhile(got)
			meanwhile = nil
		}
		return nil
	})
	ok(t, err)
	return all
}

var errEnough = errors.New("the walk has seen enough")

var walkPromises = []promise[walkStore]{
	{"R-799 every account of every user is handed over as it is stored", func(t *testing.T, a walkStore) {
		if got := walked(t, a, nil); len(got) != 0 {
			t.Errorf("an empty store hands over %d accounts", len(got))
		}
		want := linkMany(t, a)
		u := newUser(t, a, "")
		bare := storage.Account{UserID: u.ID, Provider: "bare", ProviderAccountID: "x", Type: storage.TypeOAuth}
		ok(t, a.LinkAccount(t.Context(), bare))
		want[nameOf(bare)] = bare
		got := walked(t, a, nil)
		for key, in := range want {
			same(t, "account", got[key], in)
		}
		if len(got) != len(want) {
			t.Errorf("EachAccount hands over %d accounts, want %d", len(got), len(want))
		}
	}},
	{"R-799 accounts that stay are handed over while others come, go and change", func(t *testing.T, a walkStore) {
		want := linkMany(t, a)
		got := walked(t, a, func(first storage.Account) {
			unlinked := 0
			for key, in := range want {
				if key != nameOf(first) && unlinked < 5 {
					_, err := a.UnlinkAccount(t.Context(), in.Provider, in.ProviderAccountID)
					ok(t, err)
					delete(want, key)
					unlinked++
				}
			}
			for i := range 5 {
				n := "new" + strconv.Itoa(i)
				ok(t, a.LinkAccount(t.Context(), storage.Account{UserID: first.UserID, Provider: "acme", ProviderAccountID: n, Type: storage.TypeOIDC}))
			}
			if s, can := a.(storage.TokenAdapter); can {
				ok(t, s.SwapTokens(t.Context(), first.Provider, first.ProviderAccountID, first.Tokens, storage.Tokens{AccessToken: "next"}))
			}
		})
		for key := range want {
			if got[key].ProviderAccountID != key.id {
				t.Errorf("EachAccount leaves out %v, which was there all the time", key)
			}
		}
	}},
	{"an unlinked account and those of a deleted user are not handed over", func(t *testing.T, a walkStore) {
		u, gone := newUser(t, a, ""), newUser(t, a, "")
		stays := link(t, a, u, "stays")
		goes := link(t, a, u, "goes")
		_, err := a.UnlinkAccount(t.Context(), goes.Provider, goes.ProviderAccountID)
		ok(t, err)
		if d, can := a.(storage.UserDeletionAdapter); can {
			link(t, a, gone, "lost")
			_, err := d.DeleteUser(t.Context(), gone.ID)
			ok(t, err)
		}
		got := walked(t, a, nil)
		if _, is := got[nameOf(stays)]; !is || len(got) != 1 {
			t.Errorf("EachAccount hands over %d accounts, want the one that stays", len(got))
		}
	}},
	{"an error ends the walk and is returned", func(t *testing.T, a walkStore) {
		u := newUser(t, a, "")
		link(t, a, u, "1")
		link(t, a, u, "2")
		calls := 0
		err := a.EachAccount(t.Context(), func(storage.Account) error {
			calls++
			return errEnough
		})
		is(t, "EachAccount", err, errEnough)
		if calls != 1 {
			t.Errorf("EachAccount goes on after an error: %d calls", calls)
		}
	}},
	{"a cancelled context ends the walk", func(t *testing.T, a walkStore) {
		u := newUser(t, a, "")
		link(t, a, u, "1")
		link(t, a, u, "2")
		calls := 0
		count := func(storage.Account) error { calls++; return nil }
		is(t, "EachAccount", a.EachAccount(cancelled(t), count), context.Canceled)
		if calls != 0 {
			t.Errorf("EachAccount hands over %d accounts", calls)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		err := a.EachAccount(ctx, func(storage.Account) error {
			calls++
			cancel()
			return nil
		})
		is(t, "EachAccount", err, context.Canceled)
		if calls != 1 {
			t.Errorf("EachAccount goes on after the end of its context: %d calls", calls)
		}
	}},
}
