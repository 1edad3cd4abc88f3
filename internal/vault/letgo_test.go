package vault_test

import (
	"errors"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

//
func TestAccountsOfAnotherTenant(t *testing.T) {
	w := newWorld(t, never)
	seals, err := vault.NewSeals([]string{"a secret of 32 characters or more"}, true)
	if err != nil {
		t.Fatal(err)
	}
	of := func(prefix string) *vault.Vault {
		return w.process(func(c *vault.Config) { c.Seals, c.Providers["acme"].Prefix = seals, prefix })
	}
	a, b := of("aaaa"), of("bbbb")
	rows := []storage.Account{w.connect(a, "aaaa.1"), w.connect(a, "aaaa~2")}
	for _, row := range rows {
		id := row.ProviderAccountID
		if got, err := a.Find(t.Context(), vault.Ref{UserID: w.user.ID, Provider: "acme", AccountID: id}); err != nil || got.ProviderAccountID != id {
			t.Errorf("%s: %v", id, err)
		}
		if _, err := b.Find(t.Context(), vault.Ref{UserID: w.user.ID, Provider: "acme", AccountID: id}); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s at another tenant: %v, want ErrNotFound", id, err)
		}
		if err := b.Disconnect(t.Context(), "acme", id); err != nil || w.row(id).Tokens.RefreshToken == "" {
			t.Errorf("%s: another tenant has disconnected it: %v", id, err)
		}
		b.LetGo(row, vault.GrantUnlinked)
	}
	b.Wait()
	w.issuer.mu.Lock()
	defer w.issuer.mu.Unlock()
	if len(w.issuer.revoked) != 0 {
		t.Error("another tenant has sent tokens to its issuer")
	}
}
