package storagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

var linkPromises = []promise[storage.Adapter]{
	{"an account finds its user", func(t *testing.T, a storage.Adapter) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "")
		link(t, a, ada, "1")
		link(t, a, ada, "2")
		link(t, a, eve, "3")
		for id, want := range map[string]storage.User{"1": ada, "2": ada, "3": eve} {
			got, err := a.GetUserByAccount(t.Context(), "acme", id)
			ok(t, err)
			same(t, "user by account", got, want)
		}
		_, err := a.GetUserByAccount(t.Context(), "other", "1")
		is(t, "GetUserByAccount at another provider", err, storage.ErrNotFound)
	}},
	{"a linked account is ErrConflict for everyone", func(t *testing.T, a storage.Adapter) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		link(t, a, ada, "1")
		for _, u := range []storage.User{ada, eve} {
			err := a.LinkAccount(t.Context(), storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOIDC})
			is(t, "LinkAccount", err, storage.ErrConflict)
		}
		got, err := a.GetUserByAccount(t.Context(), "acme", "1")
		ok(t, err)
		same(t, "owner", got, ada)
	}},
	{"of many links of one account exactly one succeeds", func(t *testing.T, a storage.Adapter) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		oneWins(t, "LinkAccount", race.Run(crowd, func(i int) error {
			u := []storage.User{ada, eve}[i%2]
			return a.LinkAccount(t.Context(), storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOIDC})
		}), storage.ErrConflict)
	}},
	{"provider and account id are two things, compared exactly", func(t *testing.T, a storage.Adapter) {
		owners := map[[2]string]string{}
		for _, key := range [][2]string{{"a", "bc"}, {"ab", "c"}, {"a:b", "c"}, {"a", "b:c"}, {"a", ""}, {"", "a"}} {
			owners[key] = newUser(t, a, "").ID
		}
		for _, id := range alike {
			owners[[2]string{"acme", id}] = newUser(t, a, "").ID
			owners[[2]string{id, "acme"}] = newUser(t, a, "").ID
		}
		for key, owner := range owners {
			ok(t, a.LinkAccount(t.Context(), storage.Account{UserID: owner, Provider: key[0], ProviderAccountID: key[1], Type: storage.TypeOAuth}))
		}
		for key, owner := range owners {
			if got, err := a.GetUserByAccount(t.Context(), key[0], key[1]); err != nil || got.ID != owner {
				t.Errorf("%q belongs to another user, or to none: %v", key, err)
			}
		}
	}},
	{"the id of a passkey's account fits", func(t *testing.T, a storage.Adapter) {
		u := newUser(t, a, "")
		longest := strings.Repeat("A", 1364) // 1023 bytes in base64, Web Authentication Level 3 section 5.1
		link(t, a, u, longest)
		link(t, a, newUser(t, a, ""), longest[:1363])
		got, err := a.GetUserByAccount(t.Context(), "acme", longest)
		ok(t, err)
		same(t, "owner", got, u)
	}},
	{"an account of nobody opens nothing", func(t *testing.T, a storage.Adapter) {
		err := a.LinkAccount(t.Context(), storage.Account{UserID: "nobody", Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOIDC})
		if err != nil {
			t.Logf("LinkAccount refused: %v", err)
		}
		_, err = a.GetUserByAccount(t.Context(), "acme", "1")
		is(t, "GetUserByAccount", err, storage.ErrNotFound)
	}},
}

var accountPromises = []promise[accountStore]{
	{"what is not there is ErrNotFound", func(t *testing.T, a accountStore) {
		u := newUser(t, a, "")
		link(t, a, u, "1")
		for _, key := range [][2]string{{"acme", "2"}, {"other", "1"}, {"", ""}} {
			_, err := a.GetAccount(t.Context(), key[0], key[1])
			is(t, fmt.Sprint("GetAccount", key), err, storage.ErrNotFound)
			_, err = a.UnlinkAccount(t.Context(), key[0], key[1])
			is(t, fmt.Sprint("UnlinkAccount", key), err, storage.ErrNotFound)
		}
		none, err := a.ListAccounts(t.Context(), "nobody")
		if err != nil || len(none) != 0 {
			t.Errorf("ListAccounts of nobody: %d accounts, error %v", len(none), err)
		}
	}},
	{"every token field survives", func(t *testing.T, a accountStore) {
		want := storage.Account{
			UserID: newUser(t, a, "").ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOIDC, Tokens: filledTokens(),
		}
		ok(t, a.LinkAccount(t.Context(), want))
		readAccount(t, a, want)
		unlinkAccount(t, a, want)
	}},
	{"members without a field of their own survive", func(t *testing.T, a accountStore) {
		want := openAccount(newUser(t, a, "").ID)
		ok(t, a.LinkAccount(t.Context(), want))
		readAccount(t, a, want)
		unlinkAccount(t, a, want)
	}},
	{"an account may have no tokens at all", func(t *testing.T, a accountStore) {
		readAccount(t, a, link(t, a, newUser(t, a, ""), "1"))
	}},
	{"expiry is kept to the second, far away too", func(t *testing.T, a accountStore) {
		u := newUser(t, a, "")
		for i, at := range []time.Time{time.Unix(1, 0), time.Unix(1<<31, 0), time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)} {
			want := storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: fmt.Sprint(i), Type: storage.TypeOAuth, Tokens: storage.Tokens{ExpiresAt: at}}
			ok(t, a.LinkAccount(t.Context(), want))
			readAccount(t, a, want)
		}
	}},
	{"a user's accounts are theirs alone", func(t *testing.T, a accountStore) {
		ada, eve := newUser(t, a, ""), newUser(t, a, "")
		want := map[string]bool{"1": true, "2": true}
		link(t, a, ada, "1")
		link(t, a, eve, "3")
		link(t, a, ada, "2")
		got, err := a.ListAccounts(t.Context(), ada.ID)
		ok(t, err)
		for _, account := range got {
			if account.UserID != ada.ID || !want[account.ProviderAccountID] {
				t.Errorf("ListAccounts: %q of %q is not wanted", account.ProviderAccountID, account.UserID)
			}
			delete(want, account.ProviderAccountID)
		}
		if len(want) != 0 {
			t.Errorf("ListAccounts: missing %v", want)
		}
	}},
	{"UnlinkAccount returns what it removed, and frees it", func(t *testing.T, a accountStore) {
		ada, eve := newUser(t, a, ""), newUser(t, a, "")
		want := storage.Account{UserID: ada.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOIDC, Tokens: storage.Tokens{AccessToken: "a", ExpiresAt: time.Unix(9, 0)}}
		ok(t, a.LinkAccount(t.Context(), want))
		kept := link(t, a, ada, "2")
		got, err := a.UnlinkAccount(t.Context(), "acme", "1")
		ok(t, err)
		same(t, "unlinked account", got, want)
		_, err = a.GetUserByAccount(t.Context(), "acme", "1")
		is(t, "GetUserByAccount", err, storage.ErrNotFound)
		readAccount(t, a, kept)
		link(t, a, eve, "1")
	}},
	{"of many unlinks exactly one succeeds", func(t *testing.T, a accountStore) {
		link(t, a, newUser(t, a, ""), "1")
		oneWins(t, "UnlinkAccount", race.Run(16, func(int) error {
			_, err := a.UnlinkAccount(t.Context(), "acme", "1")
			return err
		}), storage.ErrNotFound)
	}},
	{"records are copies", func(t *testing.T, a accountStore) {
		in := openAccount(newUser(t, a, "").ID)
		ok(t, a.LinkAccount(t.Context(), in))
		first, err := a.GetAccount(t.Context(), in.Provider, in.ProviderAccountID)
		ok(t, err)
		want := extraText(t, first.Extra) + extraText(t, first.Tokens.Extra) + fmt.Sprint(first.Tokens.AuthorizationDetails)
		for _, lent := range []storage.Account{in, first} {
			spoil(lent.Extra)
			spoil(lent.Tokens.Extra)
			for _, detail := range lent.Tokens.AuthorizationDetails {
				spoil(detail)
			}
		}
		again, err := a.GetAccount(t.Context(), in.Provider, in.ProviderAccountID)
		ok(t, err)
		if got := extraText(t, again.Extra) + extraText(t, again.Tokens.Extra) + fmt.Sprint(again.Tokens.AuthorizationDetails); got != want {
			t.Errorf("the stored account became %s, want %s", got, want)
		}
	}},
	{"a cancelled context ends the call", func(t *testing.T, a accountStore) {
		kept := link(t, a, newUser(t, a, ""), "1")
		ctx := cancelled(t)
		_, err := a.GetAccount(ctx, "acme", "1")
		is(t, "GetAccount", err, context.Canceled)
		_, err = a.ListAccounts(ctx, kept.UserID)
		is(t, "ListAccounts", err, context.Canceled)
		_, err = a.UnlinkAccount(ctx, "acme", "1")
		is(t, "UnlinkAccount", err, context.Canceled)
		readAccount(t, a, kept)
	}},
}

// openAccount returns an account with members in both Extra and in AuthorizationDetails.
func openAccount(userID string) storage.Account {
	return storage.Account{
		UserID: userID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOAuth,
		Tokens: storage.Tokens{
			AuthorizationDetails: []map[string]any{{"type": "payment", "amount": map[string]any{"value": 9007199254740993}}, {"type": "o'k"}},
			Extra:                map[string]any{"realm_id": "7", "null": nil, "inner": map[string]any{"list": []any{1, "two", true}}},
		},
		Extra: map[string]any{"not_before_policy": 0, "instance_url": "https://x.example", "inner": map[string]any{"k": "v"}},
	}
}

// readAccount fails the test unless GetAccount and ListAccounts return want.
func readAccount(t *testing.T, a accountStore, want storage.Account) {
	t.Helper()
	got, err := a.GetAccount(t.Context(), want.Provider, want.ProviderAccountID)
	ok(t, err)
	same(t, "account", got, want)
	list, err := a.ListAccounts(t.Context(), want.UserID)
	ok(t, err)
	for _, got := range list {
		if got.ProviderAccountID == want.ProviderAccountID {
			same(t, "listed account", got, want)
			return
		}
	}
	t.Error("ListAccounts does not have the account")
}

// unlinkAccount removes an account, and compares what is returned.
func unlinkAccount(t *testing.T, a accountStore, want storage.Account) {
	t.Helper()
	got, err := a.UnlinkAccount(t.Context(), want.Provider, want.ProviderAccountID)
	ok(t, err)
	same(t, "unlinked account", got, want)
}

func extraText(t *testing.T, m map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(m)
	ok(t, err)
	return string(raw)
}
