package directory

import (
	"context"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// contested is a store in which another call changes the tokens of account 1 right before
// each of the next swaps.
type contested struct {
	*memoryadapter.Adapter
	others int
	during func() // runs with the change; nil: nothing
}

func (c *contested) SwapTokens(ctx context.Context, provider, id string, old, next storage.Tokens) error {
	if c.others > 0 {
		c.others--
		row, err := c.GetAccount(ctx, provider, id)
		if err != nil {
			return err
		}
		if err := c.Adapter.SwapTokens(ctx, provider, id, row.Tokens, storage.Tokens{AccessToken: row.Tokens.AccessToken + "+"}); err != nil {
			return err
		}
		if c.during != nil {
			c.during()
		}
	}
	return c.Adapter.SwapTokens(ctx, provider, id, old, next)
}

// keeper keeps tokens as they are, and writes in TokenType which ones they replace.
type keeper struct{}

func (keeper) ForRow(_, _ string, _, kept storage.Tokens) storage.Tokens { return kept }

func (keeper) Replace(row storage.Account, _, kept storage.Tokens) storage.Tokens {
	kept.TokenType = "after " + row.Tokens.AccessToken
	return kept
}

// A sign-in that replaces tokens looks again at a row that has changed since it was read.
func TestTokensThatChangeMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		others       int
		isDisconnect bool
		access, kind string
	}{
		"nothing changes":                 {0, false, "new", "after old"},
		"another call is faster":          {1, false, "new", "after old+"},
		"two are":                         {2, false, "new", "after old++"},
		"they keep changing it":           {9, false, "old+++", ""},
		"disconnected after it was read":  {1, true, "old+", ""},
		"and while they keep changing it": {9, true, "old+", ""},
	} {
		t.Run(name, func(t *testing.T) {
			store := &contested{Adapter: memoryadapter.New(memoryadapter.Options{}), others: c.others}
			now := time.Unix(1e9, 0)
			d := &Directory{Store: storeOf(store), Now: func() time.Time { return now }, Tokens: keeper{}, Revocations: endsOf(store.Adapter, &now)}
			u, err := store.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
			if err != nil {
				t.Fatal(err)
			}
			row := storage.Account{UserID: u.ID, Provider: "p", ProviderAccountID: "1", Type: storage.TypeOAuth, Tokens: storage.Tokens{AccessToken: "old"}}
			if err := store.LinkAccount(t.Context(), row); err != nil {
				t.Fatal(err)
			}
			if c.isDisconnect {
				store.during = func() {
					if err := d.Revocations.ForgetTokens(t.Context(), nil, "p", "1"); err != nil {
						t.Error(err)
					}
				}
			}
			signIn := &SignIn{Assertion: Assertion{Account: row, Keep: storage.Tokens{AccessToken: "new"}, Started: now.Add(-time.Second)}}
			if err := replaceTokens(t.Context(), d, d.Store, signIn, row); err != nil {
				t.Errorf("the sign-in fails: %v", err)
			}
			got, err := store.GetAccount(t.Context(), "p", "1")
			if err != nil || got.Tokens.AccessToken != c.access || got.Tokens.TokenType != c.kind {
				t.Errorf("the row has %q %q, want %q %q, %v", got.Tokens.AccessToken, got.Tokens.TokenType, c.access, c.kind, err)
			}
		})
	}
}
