package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// Provider tokens, which the site seals under Tokens.Keys, or else under its secrets.

// tokenKeys returns the keys of provider tokens, the newest first: the values of the
// variables with these names, or without names the secrets of the site. A variable that
// is not set is a wrongUsage.
func tokenKeys(env environment, names []string) (keys []string, err error) {
	for _, name := range names {
		key := env.get(name)
		if key == "" {
			return nil, usage("--token-key: the environment has no %s", name)
		}
		keys = append(keys, key)
	}
	if len(names) == 0 {
		for _, s := range env.secrets() {
			keys = append(keys, s.value)
		}
	}
	return keys, nil
}

// mostAccounts is how many accounts are read at once.
const mostAccounts = 500

// accountKey names an account.
type accountKey struct{ provider, id string }

// column returns the quoted name of a table, such as "accounts", or of a column, such as
// "accounts.provider", by the names of the layout. A column is returned without its
// table.
func (c *connection) column(found sqlstore.Found, name string) string {
	called := found.Layout.Names[name]
	if called == "" {
		called = name[strings.LastIndexByte(name, '.')+1:]
	}
	quote := `"`
	if c.dialect == sqladapter.MySQL {
		quote = "`"
	}
	parts := strings.Split(called, ".")
	for i, part := range parts {
		parts[i] = quote + strings.ReplaceAll(part, quote, quote+quote) + quote
	}
	return strings.Join(parts, ".")
}

// accountsAfter returns at most mostAccounts accounts that follow last, in the order of
// their keys. The zero accountKey comes before all accounts.
func (c *connection) accountsAfter(ctx context.Context, found sqlstore.Found, last accountKey) (list []accountKey, err error) {
	provider, id := c.column(found, "accounts.provider"), c.column(found, "accounts.providerAccountId")
	statement := "SELECT " + provider + ", " + id + " FROM " + c.column(found, "accounts") +
		" WHERE " + provider + " > ? OR (" + provider + " = ? AND " + id + " > ?) ORDER BY " + provider + ", " + id + fmt.Sprintf(" LIMIT %d", mostAccounts)
	if c.dialect == sqladapter.Postgres {
		for i := 1; strings.Contains(statement, "?"); i++ {
			statement = strings.Replace(statement, "?", fmt.Sprintf("$%d", i), 1)
		}
	}
	rows, err := c.QueryContext(ctx, statement, last.provider, last.provider, last.id)
	if err != nil {
		return nil, c.failed(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var a accountKey
		if err := rows.Scan(&a.provider, &a.id); err != nil {
			return nil, c.failed(err)
		}
		list = append(list, a)
	}
	if err := rows.Err(); err != nil {
		return nil, c.failed(err)
	}
	return list, nil
}

// eachAccount calls f for every account that has tokens, which are as the store has them.
// It ends with the first error of f or of the store. An account that goes meanwhile is
// left out.
func (c *connection) eachAccount(ctx context.Context, store *sqladapter.Adapter, found sqlstore.Found, f func(storage.Account) error) error {
	var last accountKey
	for {
		list, err := c.accountsAfter(ctx, found, last)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, key := range list {
			a, err := store.GetAccount(ctx, key.provider, key.id)
			if errors.Is(err, storage.ErrNotFound) {
				continue
			}
			if err == nil && (a.Tokens.AccessToken != "" || a.Tokens.RefreshToken != "" || a.Tokens.IDToken != "") {
				err = f(a)
			}
			if err != nil {
				return err
			}
		}
		last = list[len(list)-1]
	}
}

// mostSwaps is how often a row is tried that others change meanwhile.
const mostSwaps = 3

// resealTokens seals provider tokens under the first of keys, or with plain stores them
// in clear, and prints how many accounts it has changed. Tokens that are in clear stay
// so. It never overwrites what the site has stored meanwhile. In the end it returns the
// error of leftSealed.
func resealTokens(ctx context.Context, out io.Writer, db *connection, store *sqladapter.Adapter, found sqlstore.Found, keys []string, plain bool) error {
	seals, err := vault.NewSeals(keys, plain)
	if err != nil {
		return err
	}
	all, changed, unreadable, busy := 0, 0, 0, 0
	err = db.eachAccount(ctx, store, found, func(a storage.Account) error {
		all++
		for range mostSwaps {
			next, err := seals.Reseal(a.Provider, a.ProviderAccountID, a.Tokens)
			if err != nil {
				unreadable++
				return nil
			}
			if next.AccessToken == a.Tokens.AccessToken && next.RefreshToken == a.Tokens.RefreshToken && next.IDToken == a.Tokens.IDToken {
				return nil
			}
			err = store.SwapTokens(ctx, a.Provider, a.ProviderAccountID, a.Tokens, next)
			if err == nil {
				changed++
				return nil
			}
			if errors.Is(err, storage.ErrConflict) {
				a, err = store.GetAccount(ctx, a.Provider, a.ProviderAccountID)
			}
			if errors.Is(err, storage.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
		}
		busy++
		return nil
	})
	if err != nil {
		return err
	}
	how := "anew under the newest key"
	if plain {
		how = "no more"
	}
	if all > 0 {
		fmt.Fprintf(out, "%s: sealed the tokens of %d of %s %s.\n", db.where, changed, counted(int64(all), "account"), how)
	}
	return leftSealed(busy, unreadable)
}

// leftSealed returns an error that names how many accounts the site changed at each try,
// and how many open with no key. It returns nil if both are 0.
func leftSealed(busy, unreadable int) (err error) {
	if busy > 0 {
		err = fmt.Errorf("the site changed the tokens of %s meanwhile: run latchkey reseal again", counted(int64(busy), "account"))
	}
	if unreadable > 0 {
		err = errors.Join(err, fmt.Errorf("the tokens of %s open with no key: is a former secret missing, or a --token-key?", counted(int64(unreadable), "account")))
	}
	return err
}

// checkTokens reports how many accounts have their tokens in clear, under an older key,
// or under a key that is not here. names are as in tokenKeys. It reports nothing if no
// account has tokens.
func (d *doctor) checkTokens(ctx context.Context, db *connection, found sqlstore.Found, names []string) {
	keys, err := tokenKeys(d.env, names)
	if err != nil {
		d.fail("tokens", "%v", err)
		return
	}
	store, err := sqladapter.New(db.DB, db.dialect, sqladapter.Options{Layout: found.Layout, Unprepared: true})
	var seals *vault.Seals
	if err == nil {
		seals, err = vault.NewSeals(keys, true)
	}
	all, plain, older := 0, 0, 0
	unknown := map[string]int{}
	if err == nil {
		err = db.eachAccount(ctx, store, found, func(a storage.Account) error {
			all++
			l := seals.Look(a.Provider, a.ProviderAccountID, a.Tokens)
			switch {
			case l.Unknown != "":
				unknown[l.Unknown]++
			case l.Older:
				older++
			case l.Plain:
				plain++
			}
			return nil
		})
	}
	if err != nil {
		d.fail("tokens", "%v", err)
		return
	}
	d.tellTokens(all, plain, older, unknown)
}

// tellTokens reports how the tokens of all accounts are stored. all counts the accounts,
// plain and older those with tokens in clear or under an older key, and unknown those
// under a key that is not here, by the id of that key.
func (d *doctor) tellTokens(all, plain, older int, unknown map[string]int) {
	accounts := counted(int64(all), "account") + " with provider tokens"
	ids := make([]string, 0, len(unknown))
	for id := range unknown {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		d.fail("tokens", "%d of %s are sealed under the key %q, which is not here, or were changed. Set the former secret beside the new one again, or name Tokens.Keys with --token-key", unknown[id], accounts, id)
	}
	if older > 0 {
		d.warn("tokens", "%d of %s are sealed under an older key. Run `latchkey reseal` before you remove it", older, accounts)
	}
	if plain > 0 {
		d.warn("tokens", "%d of %s are not sealed: the site seals them when it renews them, unless it has Tokens.Plain", plain, accounts)
	}
	if all > 0 && plain+older+len(unknown) == 0 {
		d.ok("tokens", "%s, all under the newest key", accounts)
	}
}
