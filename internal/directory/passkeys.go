package directory

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/texts"
	"github.com/latchkeyhq/latchkey/storage"
)

// A passkey has an account. The two are deleted together.

// longestName bounds a passkey's name, in characters.
const longestName = 64

// Passkeys returns the passkeys with which a user can sign in: those that have an
// account.
func (d *Directory) Passkeys(ctx context.Context, userID string) ([]storage.Authenticator, error) {
	accounts, keys, err := d.WaysIn(ctx, d.Store, userID)
	return slices.DeleteFunc(keys, func(k storage.Authenticator) bool { return !hasAccount(accounts, &k) }), err
}

func hasAccount(accounts []storage.Account, k *storage.Authenticator) bool {
	return slices.ContainsFunc(accounts, func(a storage.Account) bool { return IsKeyOf(k, &a) })
}

// VisibleName returns the first 64 visible characters of a name that a user typed.
func VisibleName(name string) string {
	name = strings.TrimSpace(strings.Map(texts.Visible, name))
	if r := []rune(name); len(r) > longestName {
		name = strings.TrimSpace(string(r[:longestName]))
	}
	return name
}

// RenamePasskey sets the name of a passkey of a user to what [VisibleName] makes of name,
// and adds the event PasskeyRenamed. An empty name removes the name. It returns
// ErrNotFound for an unknown passkey and for one of another user.
func (d *Directory) RenamePasskey(ctx context.Context, q *Outbox, userID string, id []byte, name string) error {
	name = VisibleName(name)
	return q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		if err := checkPasskeyOwner(ctx, s, userID, id); err != nil {
			return err
		}
		_, err := s.UpdateAuthenticator(ctx, id, storage.AuthenticatorChange{Name: &name})
		if err == nil {
			q.Add(event.Event{Type: event.PasskeyRenamed, UserID: userID}, nil)
		}
		return err
	})
}

// checkPasskeyOwner returns ErrNotFound for an unknown passkey and for one of another
// user.
func checkPasskeyOwner(ctx context.Context, s *Store, userID string, id []byte) error {
	k, err := s.Authenticator(ctx, id)
	if err == nil && k.UserID != userID {
		err = storage.ErrNotFound
	}
	return err
}

// RemovePasskey removes a passkey and its account from a user. It ends the stored sessions
// that the provider of the account has opened, except the one with the id keep. It returns
// ErrLastAccount for the last sign-in method of the user. For an unknown passkey, and for one
// of another user, it returns ErrNotFound. A passkey without an account can always be removed,
// and that ends no session. RemovePasskey adds the event AccountUnlinked.
func (d *Directory) RemovePasskey(ctx context.Context, q *Outbox, userID string, id []byte, keep string) error {
	if err := checkPasskeyOwner(ctx, d.Store, userID, id); err != nil {
		return err
	}
	accounts, err := d.Store.ListAccounts(ctx, userID)
	if err != nil {
		return err
	}
	account := base64.StdEncoding.EncodeToString(id)
	i := slices.IndexFunc(accounts, func(a storage.Account) bool { return a.Type == storage.TypeWebAuthn && a.ProviderAccountID == account })
	if i < 0 { // no sign-in uses it
		return q.together(ctx, d.Store, func(ctx context.Context, s *Store) error {
			err := s.deleteAuthenticator(ctx, id)
			if err == nil {
				q.Add(event.Event{Type: event.AccountUnlinked, UserID: userID, ProviderType: storage.TypeWebAuthn}, nil)
			}
			return err
		})
	}
	return d.Unlink(ctx, q, userID, accounts[i].Provider, account, keep)
}
