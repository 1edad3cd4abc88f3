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

// tokenStore is a store of provider tokens.
type tokenStore interface {
	storage.AccountAdapter
	storage.TokenAdapter
	storage.AccountWalker
}

// tokens are the provider tokens in a database.
type tokens struct {
	where   string // for people
	store   tokenStore
	failed  func(error) error // names the database
	isQuiet bool              // the output neither says that there are none nor names where
}

// openTokens opens the database of a URL that is not for SQL. It returns nil, nil if it is
// for SQL, or of an unknown kind. A malformed URL is a wrongUsage. The caller closes the
// service.
func openTokens(ctx context.Context, p *program, rawURL string) (*service, error) {
	scheme, _, _ := strings.Cut(strings.ToLower(rawURL), ":")
	if scheme == "redis" || scheme == "rediss" || scheme == "unix" {
		return openRedis(rawURL)
	}
	return p.openService(ctx, rawURL)
}

// tokens returns the provider tokens in s. Some drivers connect only at the first call.
func (s *service) tokens(ctx context.Context) (tokens, error) {
	store, err := s.store(ctx)
	if err != nil {
		return tokens{}, s.failed(err)
	}
	return tokens{where: s.where, store: store, failed: s.failed}, nil
}

// each calls f for every account that has tokens, which are as the store has them. It ends
// with the first error of f, or with one of the store that names the database.
func (t tokens) each(ctx context.Context, f func(storage.Account) error) error {
	var own error
	err := t.store.EachAccount(ctx, func(a storage.Account) error {
		if a.Tokens.AccessToken != "" || a.Tokens.RefreshToken != "" || a.Tokens.IDToken != "" {
			own = f(a)
		}
		return own
	})
	if err != nil && own == nil {
		return t.failed(err)
	}
	return err
}

// mostSwaps is how often a row is tried that others change meanwhile.
const mostSwaps = 3

// resealTokens seals provider tokens under the first of keys, or with plain stores them
// in clear, and prints how many accounts it has changed. Tokens that are in clear stay
// so. It never overwrites what the site has stored meanwhile. At the end it returns an
// error if no key opens some tokens, or if the site changed some at each try.
func resealTokens(ctx context.Context, out io.Writer, t tokens, keys []string, plain bool) error {
	seals, err := vault.NewSeals(keys, plain)
	if err != nil {
		return err
	}
	found := map[accountKey]bool{}
	changed, unreadable, busy := 0, 0, 0
	err = t.each(ctx, func(a storage.Account) error {
		key := accountKey{a.Provider, a.ProviderAccountID}
		if found[key] { // a store may hand over an account twice
			return nil
		}
		found[key] = true
		what, err := t.reseal(ctx, a, seals)
		switch what {
		case resealed:
			changed++
		case unreadableTokens:
			unreadable++
		case busyAccount:
			busy++
		}
		return err
	})
	if err != nil {
		return err
	}
	how := "anew under the newest key"
	if plain {
		how = "no more"
	}
	if len(found) > 0 {
		fmt.Fprintf(out, "%s: sealed the tokens of %d of %s %s.\n", t.where, changed, counted(int64(len(found)), "account"), how)
	} else if !t.isQuiet {
		fmt.Fprintf(out, "%s: no account has provider tokens.\n", t.where)
	}
	return leftSealed(busy, unreadable)
}

// accountKey names an account.
type accountKey struct{ provider, id string }

// outcome is what has become of the tokens of an account.
type outcome int

const (
	asTheyWere outcome = iota // sealed under the newest key, in clear, or gone meanwhile
	resealed
	unreadableTokens // they open with no key
	busyAccount      // others changed them at each try
)

// reseal seals the tokens of an account, which were read before, by the first key of
// seals. It compares and swaps, and tries mostSwaps times.
func (t tokens) reseal(ctx context.Context, a storage.Account, seals *vault.Seals) (outcome, error) {
	for range mostSwaps {
		next, err := seals.Reseal(a.Provider, a.ProviderAccountID, a.Tokens)
		if err != nil {
			return unreadableTokens, nil
		}
		if next.AccessToken == a.Tokens.AccessToken && next.RefreshToken == a.Tokens.RefreshToken && next.IDToken == a.Tokens.IDToken {
			return asTheyWere, nil
		}
		err = t.store.SwapTokens(ctx, a.Provider, a.ProviderAccountID, a.Tokens, next)
		if err == nil {
			return resealed, nil
		}
		if errors.Is(err, storage.ErrConflict) {
			a, err = t.store.GetAccount(ctx, a.Provider, a.ProviderAccountID)
		}
		if errors.Is(err, storage.ErrNotFound) {
			return asTheyWere, nil
		}
		if err != nil {
			return asTheyWere, t.failed(err)
		}
	}
	return busyAccount, nil
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
func (d *doctor) checkTokens(ctx context.Context, t tokens, names []string) {
	keys, err := tokenKeys(d.env, names)
	if err != nil {
		d.fail("tokens", "%v", err)
		return
	}
	seals, err := vault.NewSeals(keys, true)
	if err != nil {
		d.fail("tokens", "%v", err)
		return
	}
	found := map[accountKey]vault.Sealing{}
	err = t.each(ctx, func(a storage.Account) error {
		found[accountKey{a.Provider, a.ProviderAccountID}] = seals.Look(a.Provider, a.ProviderAccountID, a.Tokens)
		return nil
	})
	if err != nil {
		d.fail("tokens", "%v", err)
		return
	}
	plain, older := 0, 0
	unknown := map[string]int{}
	for _, l := range found {
		switch {
		case l.Unknown != "":
			unknown[l.Unknown]++
		case l.Older:
			older++
		case l.Plain:
			plain++
		}
	}
	accounts := counted(int64(len(found)), "account") + " with provider tokens"
	if !t.isQuiet {
		accounts += " in " + t.where
	}
	d.tellTokens(accounts, len(found), plain, older, unknown)
}

// checkSQLTokens does what checkTokens does in a database for SQL.
func (d *doctor) checkSQLTokens(ctx context.Context, db *connection, found sqlstore.Found, names []string) {
	store, err := sqladapter.New(db.DB, db.dialect, sqladapter.Options{Layout: found.Layout, Unprepared: true})
	if err != nil {
		d.fail("tokens", "%v", err)
		return
	}
	d.checkTokens(ctx, tokens{where: db.where, store: store, failed: db.failed, isQuiet: true}, names)
}

// checkServiceTokens does what checkTokens does in a database without SQL.
func (d *doctor) checkServiceTokens(ctx context.Context, s *service, names []string) {
	t, err := s.tokens(ctx)
	if err != nil {
		d.fail("tokens", "%v", err)
		return
	}
	d.checkTokens(ctx, t, names)
}

// tellTokens reports how the tokens of all accounts are stored. accounts is the text that
// stands for these accounts in the report, and all is their number. plain and older count
// accounts with tokens in clear and under an older key. unknown counts those under a key
// that is not here, by the id of that key.
func (d *doctor) tellTokens(accounts string, all, plain, older int, unknown map[string]int) {
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
