package directory

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// unlinking is a store in which the account goes while its tokens are swapped.
type unlinking struct{ *memoryadapter.Adapter }

func (u unlinking) SwapTokens(ctx context.Context, provider, id string, _, _ storage.Tokens) error {
	if _, err := u.UnlinkAccount(ctx, provider, id); err != nil {
		return err
	}
	return storage.ErrConflict
}

// asSent keeps the tokens that were sent.
type asSent struct{}

func (asSent) ForRow(_, _ string, _, kept storage.Tokens) storage.Tokens { return kept }

func (asSent) Replace(_ storage.Account, _, kept storage.Tokens) storage.Tokens { return kept }

// a sign-in whose account goes meanwhile is decided once more.
func TestAccountGoesWhileTokensAreSwapped(t *testing.T) {
	store, now := unlinking{memoryadapter.New(memoryadapter.Options{})}, time.Unix(1e9, 0)
	d := &Directory{Store: storeOf(store), Now: func() time.Time { return now }, Tokens: asSent{}}
	u, err := store.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
	row := storage.Account{UserID: u.ID, Provider: "p", ProviderAccountID: "1", Type: storage.TypeOAuth, Tokens: storage.Tokens{AccessToken: "old"}}
	if err == nil {
		err = store.LinkAccount(t.Context(), row)
	}
	if err != nil {
		t.Fatal(err)
	}
	signIn := &SignIn{Assertion: Assertion{Account: row, Keep: storage.Tokens{AccessToken: "new"}, Started: now}}
	if err := replaceTokens(t.Context(), d, d.Store, signIn, row); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("R-819 %v, want ErrConflict", err)
	}
}
