package storagetest

import (
	"context"
	"strconv"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// swapStore is a TokenAdapter whose accounts can be read.
type swapStore interface {
	accountStore
	storage.TokenAdapter
}

// linkWithTokens stores an account of a new user that has tokens.
func linkWithTokens(t *testing.T, a storage.Adapter, access, refresh string) storage.Account {
	t.Helper()
	in := storage.Account{UserID: newUser(t, a, "").ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOAuth}
	in.Tokens = storage.Tokens{AccessToken: access, RefreshToken: refresh, Scope: "one two", TokenType: "bearer", IDToken: "i.d.t"}
	ok(t, a.LinkAccount(t.Context(), in))
	return in
}

func swap(t *testing.T, a swapStore, of storage.Account, old, next storage.Tokens) error {
	t.Helper()
	return a.SwapTokens(t.Context(), of.Provider, of.ProviderAccountID, old, next)
}

var swapPromises = []promise[swapStore]{
	{"SwapTokens replaces every token and nothing else", func(t *testing.T, a swapStore) {
		in := linkWithTokens(t, a, "a1", "r1")
		next := filledTokens()
		ok(t, swap(t, a, in, in.Tokens, next))
		in.Tokens = next
		readAccount(t, a, in)
		ok(t, swap(t, a, in, next, storage.Tokens{AccessToken: "a3"}))
		in.Tokens = storage.Tokens{AccessToken: "a3"}
		readAccount(t, a, in)
		ok(t, swap(t, a, in, in.Tokens, storage.Tokens{}))
		in.Tokens = storage.Tokens{}
		readAccount(t, a, in)
		ok(t, swap(t, a, in, in.Tokens, storage.Tokens{RefreshToken: "r4"}))
		in.Tokens = storage.Tokens{RefreshToken: "r4"}
		readAccount(t, a, in)
	}},
	{"a swap that changes nothing is no conflict", func(t *testing.T, a swapStore) {
		in := linkWithTokens(t, a, "a1", "r1")
		ok(t, swap(t, a, in, in.Tokens, in.Tokens))
		readAccount(t, a, in)
	}},
	{"tokens that are not stored are ErrConflict", func(t *testing.T, a swapStore) {
		in := linkWithTokens(t, a, "Token", "r1")
		for _, old := range []storage.Tokens{
			{},
			{AccessToken: "Token"},
			{RefreshToken: "r1"},
			{AccessToken: "token", RefreshToken: "r1"},
			{AccessToken: "Token ", RefreshToken: "r1"},
			{AccessToken: "Token", RefreshToken: "r1 "},
			{AccessToken: "Token", RefreshToken: "R1"},
			{AccessToken: "r1", RefreshToken: "Token"},
		} {
			is(t, "SwapTokens", swap(t, a, in, old, storage.Tokens{AccessToken: "stolen"}), storage.ErrConflict)
		}
		readAccount(t, a, in)
	}},
	{"an unknown account is ErrNotFound", func(t *testing.T, a swapStore) {
		in := linkWithTokens(t, a, "a1", "r1")
		for _, key := range [][2]string{{"acme", "2"}, {"other", in.ProviderAccountID}, {"ACME", in.ProviderAccountID}, {"", ""}} {
			is(t, "SwapTokens", a.SwapTokens(t.Context(), key[0], key[1], in.Tokens, storage.Tokens{}), storage.ErrNotFound)
		}
		_, err := a.UnlinkAccount(t.Context(), in.Provider, in.ProviderAccountID)
		ok(t, err)
		is(t, "SwapTokens after UnlinkAccount", swap(t, a, in, in.Tokens, storage.Tokens{AccessToken: "a2"}), storage.ErrNotFound)
		_, err = a.GetAccount(t.Context(), in.Provider, in.ProviderAccountID)
		is(t, "GetAccount", err, storage.ErrNotFound)
	}},
	{"of 100 swaps of the same tokens exactly one succeeds", func(t *testing.T, a swapStore) {
		in := linkWithTokens(t, a, "a1", "r1")
		oneWins(t, "SwapTokens", race.Run(crowd, func(i int) error {
			return a.SwapTokens(t.Context(), in.Provider, in.ProviderAccountID, in.Tokens, storage.Tokens{AccessToken: "a2", RefreshToken: strconv.Itoa(i)})
		}), storage.ErrConflict)
	}},
	{"a cancelled context changes no token", func(t *testing.T, a swapStore) {
		in := linkWithTokens(t, a, "a1", "r1")
		is(t, "SwapTokens", a.SwapTokens(cancelled(t), in.Provider, in.ProviderAccountID, in.Tokens, storage.Tokens{}), context.Canceled)
		readAccount(t, a, in)
	}},
}
