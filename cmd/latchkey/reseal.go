package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/storage"
)

const aboutReseal = `Seal what is sealed under an older secret under the newest one: the secrets of users'
authenticator apps, and the provider tokens of accounts. Run it after a rotation, and before the
older secret goes. Without it each of them is sealed anew when the site writes it. Repeat it as
often as you like, also while the site runs.

Where the site has Tokens.Keys, put them into variables and name these with --token-key.

It works on SQL databases, and on the tokens in the mongodb://…, dynamodb://… and nats://… of
migrate. Without --database it also does those in the Redis of REDIS_URL. A URL of Redis may have
?prefix= and ?layout=authjs or unstorage, where the site sets Options.Prefix and Layout, and
?addr=host:port for each further node of a cluster. Redis and DynamoDB are read as a whole, with
the load and the cost of that.

Exit code 1: some open with no secret of the environment, or belong to another row. They stay as
they are.

` + aboutDatabaseURL

func (p *program) resealCommand() *cobra.Command {
	var database string
	var names []string
	var plain bool
	c := &cobra.Command{
		Use: "reseal", Short: "Seal stored secrets under the newest secret", Long: aboutReseal, Args: cobra.NoArgs,
		Example: "  latchkey reseal --env-file .env",
		RunE: does(func(c *cobra.Command, _ []string) error {
			keys, err := tokenKeys(p.env, names)
			if err != nil {
				return err
			}
			return p.reseal(c.Context(), database, keys, plain)
		}),
	}
	c.Flags().StringVar(&database, "database", "", "`URL` of the database (default: $DATABASE_URL)")
	c.Flags().StringArrayVar(&names, "token-key", nil, "`name` of a variable with one of Tokens.Keys, the newest first; may be repeated (default: the secrets)")
	c.Flags().BoolVar(&plain, "plain", false, "store provider tokens in clear, for a site with Tokens.Plain")
	return c
}

// openUsable opens the SQL database of rawURL, or else of DATABASE_URL, with its store, and
// returns its tables, too. Unusable tables are an error. Only the connection needs a Close.
func (p *program) openUsable(ctx context.Context, rawURL string) (*connection, *sqladapter.Adapter, sqlstore.Found, error) {
	db, err := p.connect(ctx, rawURL, false)
	if err != nil {
		return nil, nil, sqlstore.Found{}, err
	}
	found, err := db.examine(ctx)
	if err == nil && found.Schema == sqlstore.SchemaAbsent {
		err = fmt.Errorf("%s: it has none of the tables: `latchkey migrate` makes them", db.where)
	}
	if err == nil {
		err = db.usable(found)
	}
	var store *sqladapter.Adapter
	if err == nil {
		store, err = sqladapter.New(db.DB, db.dialect, sqladapter.Options{Layout: found.Layout, Unprepared: true})
	}
	if err != nil {
		_ = db.Close()
		return nil, nil, found, err
	}
	return db, store, found, nil
}

// reseal seals the secrets of authenticator apps under the newest secret, and provider
// tokens under the first of keys. With plain it stores tokens in clear. It works on the
// database of rawURL or, if that is empty, on those of DATABASE_URL and of REDIS_URL. It
// returns errNoSecret without a secret. If something opens with no secret or key, it
// reseals the rest and then returns an error.
func (p *program) reseal(ctx context.Context, rawURL string, keys []string, plain bool) error {
	if len(p.env.secrets()) == 0 {
		return errNoSecret
	}
	redisURL := p.env.get("REDIS_URL")
	if rawURL != "" || redisURL == "" {
		return resealIn(ctx, p, cmp.Or(rawURL, p.env.get("DATABASE_URL")), keys, plain)
	}
	var err error
	if database := p.env.get("DATABASE_URL"); database != "" {
		err = resealIn(ctx, p, database, keys, plain)
	}
	return errors.Join(err, resealIn(ctx, p, redisURL, keys, plain))
}

// resealIn reseals the tokens in one database and, with SQL, secrets of authenticator apps.
func resealIn(ctx context.Context, p *program, rawURL string, keys []string, plain bool) error {
	s, err := openTokens(ctx, p, rawURL)
	if err != nil {
		return err
	}
	if s != nil {
		defer s.close()
		tokens, err := s.tokens(ctx)
		if err != nil {
			return err
		}
		return resealTokens(ctx, p.stdout, tokens, keys, plain)
	}
	db, store, found, err := p.openUsable(ctx, rawURL)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	unreadable, err := resealApps(ctx, p, db, found)
	if err != nil {
		return err
	}
	err = resealTokens(ctx, p.stdout, tokens{where: db.where, store: store, failed: db.failed, isQuiet: true}, keys, plain)
	if unreadable > 0 {
		err = errors.Join(fmt.Errorf("%d open with no secret of the environment: is a former one missing?", unreadable), err)
	}
	return err
}

// resealApps seals the secrets of authenticator apps under the newest secret, and prints
// how many it has changed. It returns how many open with no secret. The environment must
// have a secret. Rows that were changed before an error stay changed.
func resealApps(ctx context.Context, p *program, db *connection, found sqlstore.Found) (unreadable int, err error) {
	apps, err := db.sealedFactors(ctx, found)
	if err != nil {
		return 0, err
	}
	secrets := p.env.secrets()
	values := make([]string, len(secrets))
	for i, s := range secrets {
		values[i] = s.value
	}
	sealer := factor.NewSealer(values)
	resealed := 0
	for _, app := range apps {
		secret, isStale, err := sealer.Open(&app)
		if err != nil {
			unreadable++
			continue
		}
		if !isStale {
			continue
		}
		sealed, err := sealer.Seal(&app, secret)
		if err == nil {
			err = db.replaceSecret(ctx, found, app, sealed)
		}
		if err != nil {
			return 0, err
		}
		resealed++
	}
	fmt.Fprintf(p.stdout, "%s: sealed %d of %s anew under %s.\n", db.where, resealed, counted(int64(len(apps)), "secret"), secrets[0].name)
	return unreadable, nil
}

// factorTable returns the quoted name of the table of factors, or false if the layout has
// no such table.
func (c *connection) factorTable(found sqlstore.Found) (string, bool) {
	name, renamed := found.Layout.Names["factors"]
	switch {
	case !renamed:
		name = "factors"
	case name == "":
		return "", false
	}
	quote := `"`
	if c.dialect == sqladapter.MySQL {
		quote = "`"
	}
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = quote + strings.ReplaceAll(part, quote, quote+quote) + quote
	}
	return strings.Join(parts, "."), true
}

// sealedFactors returns those factors of all users in which Secret is not empty, with only
// ID, UserID, Kind and Secret set. It returns none if the layout has no table for them.
func (c *connection) sealedFactors(ctx context.Context, found sqlstore.Found) (list []storage.Factor, err error) {
	table, is := c.factorTable(found)
	if !is {
		return nil, nil
	}
	id := "user_id"
	if c.dialect == sqladapter.Postgres {
		id += "::text"
	}
	rows, err := c.QueryContext(ctx, "SELECT id, "+id+", kind, secret FROM "+table+" WHERE secret <> ''")
	if err != nil {
		return nil, c.failed(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var f storage.Factor
		if err := rows.Scan(&f.ID, &f.UserID, (*string)(&f.Kind), &f.Secret); err != nil {
			return nil, c.failed(err)
		}
		list = append(list, f)
	}
	if err := rows.Err(); err != nil {
		return nil, c.failed(err)
	}
	return list, nil
}

// replaceSecret stores sealed in the row of app. It changes nothing, and returns no
// error, if the row has another secret than app by now. The layout has to have a table of
// factors.
func (c *connection) replaceSecret(ctx context.Context, found sqlstore.Found, app storage.Factor, sealed string) error {
	table, _ := c.factorTable(found)
	statement := "UPDATE " + table + " SET secret = ? WHERE id = ? AND secret = ?"
	if c.dialect == sqladapter.Postgres {
		statement = "UPDATE " + table + " SET secret = $1 WHERE id = $2 AND secret = $3"
	}
	if _, err := c.ExecContext(ctx, statement, sealed, app.ID, app.Secret); err != nil {
		return c.failed(err)
	}
	return nil
}

// checkFactors reports how many secrets of authenticator apps are sealed under which
// secret of the site. It reports nothing if there are none, or if the environment has no
// secret.
func (d *doctor) checkFactors(ctx context.Context, db *connection, found sqlstore.Found) {
	apps, err := db.sealedFactors(ctx, found)
	if err != nil {
		d.fail("factors", "%v", err)
		return
	}
	secrets := d.env.secrets()
	if len(apps) == 0 || len(secrets) == 0 {
		return
	}
	counts, unreadable := make([]int, len(secrets)), 0
	for _, app := range apps {
		i := 0
		for ; i < len(secrets); i++ {
			if _, _, err := factor.NewSealer([]string{secrets[i].value}).Open(&app); err == nil {
				break
			}
		}
		if i == len(secrets) {
			unreadable++
		} else {
			counts[i]++
		}
	}
	all := counted(int64(len(apps)), "secret") + " of authenticator apps"
	switch {
	case unreadable > 0:
		d.fail("factors", "%d of %s open with no secret that is set, so their users cannot use the app. Set the former secret beside the new one again", unreadable, all)
	case counts[0] == len(apps):
		d.ok("factors", "%s, all under %s", all, secrets[0].name)
	}
	for i, n := range counts[1:] {
		if n > 0 {
			d.warn("factors", "%d of %s still need %s. Run `latchkey reseal` before you remove it", n, all, secrets[i+1].name)
		}
	}
}

var errNoUser = errors.New("there is no such user")
