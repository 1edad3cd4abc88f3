package test

import (
	"errors"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestClaimsWithoutIndexes has tables where nothing keeps e-mail addresses and accounts
// unique. Whoever wants one that another instance is about to take waits for it, whatever
// the two want it for, and is refused then.
func TestClaimsWithoutIndexes(t *testing.T) {
	db := authJSDatabase(t, postgresSchemas(servers.Postgres(t)), authJS)
	layout := sqladapter.Options{Layout: sqlstore.AuthJS()}
	one, other := engines[1].adapter(t, db, layout), engines[1].adapter(t, another(t, db), layout)
	change := func(a storage.Adapter, id, email string) error {
		_, err := a.UpdateUser(t.Context(), id, storage.UserChange{Email: &email})
		return err
	}
	create := func(a storage.Adapter, _, email string) error {
		_, err := a.CreateUser(t.Context(), storage.User{Email: email})
		return err
	}
	link := func(a storage.Adapter, id, account string) error {
		return a.LinkAccount(t.Context(), storage.Account{UserID: id, Type: "oauth", Provider: "acme", ProviderAccountID: account})
	}
	for name, race := range map[string][2]func(a storage.Adapter, id, value string) error{
		"change and change": {change, change},
		"change and create": {change, create},
		"create and change": {create, change},
		"create and create": {create, create},
		"link and link":     {link, link},
	} {
		t.Run(name, func(t *testing.T) {
			ada, err := one.CreateUser(t.Context(), storage.User{})
			ok(t, err)
			eve, err := one.CreateUser(t.Context(), storage.User{})
			ok(t, err)
			late := make(chan error, 1)
			ok(t, one.InTx(t.Context(), func(tx storage.Adapter) error {
				if err := race[0](tx, ada.ID, name); err != nil {
					return err
				}
				go func() { late <- race[1](other, eve.ID, name) }()
				for count(t, db, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == 0 {
					select {
					case err := <-late:
						late <- err
						return nil
					default:
					}
				}
				return nil
			}))
			if err := <-late; !errors.Is(err, storage.ErrConflict) {
				t.Errorf("the second one got error %v", err)
			}
		})
	}
}
