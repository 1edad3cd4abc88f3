package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/users"
)

// peopleFlags are the flags of the commands that find and change users.
type peopleFlags struct {
	database, tenant, by, format string
	sessions                     string

	search, provider, account string
	suspended, unproven       bool
	limit                     int
	until, reason             string
	yes                       bool
}

// bind gives c the flags for the database and the tenant, and returns c. With changes it
// adds --by, and with prints --format.
func (f *peopleFlags) bind(c *cobra.Command, changes, prints bool) *cobra.Command {
	c.Flags().StringVar(&f.database, "database", "", "`URL` of the database (default: $DATABASE_URL)")
	c.Flags().StringVar(&f.tenant, "tenant", "", "`name` of the tenant, on a site that has several")
	if changes {
		c.Flags().StringVar(&f.by, "by", "", "`id` of the administrator who does this, for the record (default: the system)")
	}
	if prints {
		c.Flags().StringVar(&f.format, "format", formText, "`form` of the output: text, json or csv")
	}
	return c
}

// bindSessions gives c the flag for the sessions beside the database.
func (f *peopleFlags) bindSessions(c *cobra.Command) {
	c.Flags().StringVar(&f.sessions, "sessions", "", "`URL` of the store of sessions beside the database (default: $SESSIONS_URL)")
}

// people is an open database with the calls of package users on it.
type people struct {
	*connection
	store *sqladapter.Adapter
	*users.Users
	now    time.Time
	config latchkey.Config // of the site, without apart
	apart  *service        // that has sessions beside the database; nil: none
}

// Close closes the database and the store of sessions beside it.
func (db *people) Close() error {
	if db.apart != nil {
		db.apart.close()
	}
	return db.connection.Close()
}

var (
	errWantSecret = errors.New("AUTH_SECRET is not set: what ends sessions is kept under a key of it. Nothing was changed; set it, or use --env-file")
	errWantURL    = errors.New("AUTH_URL is not set: what ends sessions depends on it. Nothing was changed; set it, or use --env-file")
)

// openPeople opens the database. Calls of the result take the returned context, which has
// the actor and the tenant of the command. The caller closes the result. If ends is true,
// openPeople also opens the store of --sessions, if it is set. It then returns errWantSecret
// or errWantURL unless the environment has the site's own secret and URL.
func openPeople(ctx context.Context, p *program, f *peopleFlags, ends bool) (*people, context.Context, error) {
	env := (latchkey.Config{}).WithEnv(p.env.get)
	switch {
	case f.format != "" && f.format != formText && f.format != formJSON && f.format != formCSV:
		return nil, ctx, usage("--format: there is no form %q: want text, json or csv", visible(f.format))
	case ends && len(env.Secrets) == 0:
		return nil, ctx, errWantSecret
	case ends && env.Site.URL == "":
		return nil, ctx, errWantURL
	}
	config := validConfig()
	if len(env.Secrets) > 0 {
		config.Secrets = env.Secrets
	}
	if env.Site.URL != "" {
		config.Site = env.Site
	}
	db, store, _, err := p.openUsable(ctx, f.database)
	if err != nil {
		return nil, ctx, err
	}
	config.Adapter, config.Runtime.Logger, config.Runtime.Time = store, slog.New(slog.DiscardHandler), p.now
	opened := &people{connection: db, store: store, now: p.now(), config: config}
	if ends {
		opened.apart, err = openSessions(ctx, p, f.sessions)
	}
	if err == nil {
		site := opened.apart.with(&config)
		opened.Users, err = usersOf(&site, f.tenant)
	}
	if err != nil {
		_ = opened.Close()
		return nil, ctx, err
	}
	actor := event.Actor{Kind: event.ActorSystem}
	if f.by != "" {
		actor = event.Actor{Kind: event.ActorAdmin, ID: f.by}
	}
	if f.tenant != "" {
		ctx = latchkey.ContextWithTenant(ctx, f.tenant)
	}
	return opened, event.WithActor(ctx, actor), nil
}

// usersOf returns the users of a site, as siteOf makes it.
func usersOf(config *latchkey.Config, tenant string) (*users.Users, error) {
	auth, err := siteOf(config, tenant)
	if err != nil {
		return nil, withoutPrefix(err)
	}
	return auth.Users(), nil
}

// siteOf returns the Auth of a configuration or, if tenant is not empty, that of a site
// with this one tenant. A context with the tenant is then needed for its calls.
func siteOf(config *latchkey.Config, tenant string) (*latchkey.Auth, error) {
	if tenant == "" {
		return latchkey.New(*config)
	}
	return latchkey.NewTenants(latchkey.Tenants{
		Name:   func(context.Context, *latchkey.Request) (string, error) { return tenant, nil },
		Config: func(context.Context, string) (*latchkey.Config, error) { return config, nil },
	})
}

// withoutPrefix returns an error with the text of err, escaped by visible and without the
// name of the library in front. It does not wrap err.
func withoutPrefix(err error) error {
	return errors.New(visible(strings.TrimPrefix(err.Error(), "latchkey: ")))
}

// said returns the error of a call on the database as the user of the command reads it: a
// wrongUsage that names the flag, or an error that names the database. It returns nil and
// a wrongUsage as they are. latchkey.ErrNotFound becomes errNoUser.
func (db *people) said(err error) error {
	input, isInput := errors.AsType[*fault.InputError](err)
	_, isUsage := errors.AsType[wrongUsage](err)
	switch {
	case err == nil || isUsage:
		return err
	case isInput:
		return usage("--%s: %s", strings.ToLower(input.Field), input.Problem)
	case errors.Is(err, latchkey.ErrNotFound):
		return fmt.Errorf("%s: %w", db.where, errNoUser)
	case errors.Is(err, errors.ErrUnsupported):
		return fmt.Errorf("%s: %w", db.where, withoutPrefix(err))
	}
	if reason(err) == "" {
		err = withoutPrefix(err)
	}
	return db.failed(err)
}

// user returns the user that who names: by the e-mail address if who contains an @, and
// by the id otherwise. Its errors are those of said.
func (db *people) user(ctx context.Context, who string) (latchkey.User, error) {
	var u latchkey.User
	var err error
	if strings.Contains(who, "@") {
		u, err = db.ByEmail(ctx, who)
	} else {
		u, err = db.Get(ctx, who)
	}
	return u, db.said(err)
}

const aboutUserList = `List users, the newest first: 50 of them, or as many as --limit says. With --search those whose
name or e-mail address begins so, in any case and with or without accents.

Control characters in names are written as escapes. In CSV a cell that a spreadsheet would take
for a formula begins with an apostrophe.

` + aboutDatabaseURL

func userListCommand(p *program) *cobra.Command {
	var f peopleFlags
	c := f.bind(&cobra.Command{
		Use: "list", Short: "List and search users", Long: aboutUserList, Args: cobra.NoArgs,
		Example: "  latchkey user list --search ada\n  latchkey user list --suspended --format csv --limit 0",
		RunE:    does(func(c *cobra.Command, _ []string) error { return listUsers(c.Context(), p, &f) }),
	}, false, true)
	c.Flags().StringVar(&f.search, "search", "", "the beginning of a name or an e-mail address")
	c.Flags().StringVar(&f.provider, "provider", "", "only users with an account of the provider with this `id`")
	c.Flags().BoolVar(&f.suspended, "suspended", false, "only suspended users")
	c.Flags().BoolVar(&f.unproven, "unproven", false, "only users whose e-mail address is not proven")
	c.Flags().IntVar(&f.limit, "limit", 50, "at most so many users; 0: all")
	return c
}

// listUsers prints the users that the flags ask for, the newest first.
func listUsers(ctx context.Context, p *program, f *peopleFlags) error {
	if f.limit < 0 {
		return usage("--limit: it is 0 for all, or more")
	}
	db, ctx, err := openPeople(ctx, p, f, false)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	q := users.Query{Search: f.search, Provider: f.provider, Limit: min(max(f.limit, 0), 200)}
	if f.suspended {
		q.Suspended = new(true)
	}
	if f.unproven {
		q.Verified = new(false)
	}
	list := []person{}
	for u, err := range db.All(ctx, q) {
		if err != nil {
			return db.said(err)
		}
		if list = append(list, personOf(&u, db.now)); len(list) == f.limit {
			break
		}
	}
	return printPeople(p.stdout, f.format, list)
}

func userFindCommand(p *program) *cobra.Command {
	var f peopleFlags
	c := f.bind(&cobra.Command{
		Use: "find [USER]", Short: "Find a user by address, id or account", Args: cobra.MaximumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		Long:    "Find one user: by the e-mail address or the id, or by the account at a provider.\nExit code 1: there is none.\n\n" + aboutDatabaseURL,
		Example: "  latchkey user find ada@example.com\n  latchkey user find --provider github --account 583231",
		RunE:    does(func(c *cobra.Command, args []string) error { return findOne(c.Context(), p, &f, args) }),
	}, false, true)
	c.Flags().StringVar(&f.provider, "provider", "", "`id` of the provider of --account")
	c.Flags().StringVar(&f.account, "account", "", "`id` of the account at the provider")
	return c
}

// findOne prints the user that the argument, or --provider and --account, names. It
// returns an error if there is none.
func findOne(ctx context.Context, p *program, f *peopleFlags, args []string) error {
	byAccount := f.provider != "" && f.account != ""
	if byAccount == (len(args) > 0) {
		return usage("name a user, or --provider and --account")
	}
	db, ctx, err := openPeople(ctx, p, f, false)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var u latchkey.User
	if byAccount {
		u, err = db.ByAccount(ctx, f.provider, f.account)
		err = db.said(err)
	} else {
		u, err = db.user(ctx, args[0])
	}
	if err != nil {
		return err
	}
	return printPeople(p.stdout, f.format, []person{personOf(&u, db.now)})
}

func userShowCommand(p *program) *cobra.Command {
	var f peopleFlags
	return f.bind(&cobra.Command{
		Use: "show USER", Short: "Show a user, and how the user signs in", Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		Long:    "Show a user with the suspension, accounts, passkeys, second factors and sessions. USER is the\nid or the e-mail address. No token, key or hash is printed.\n\n" + aboutDatabaseURL,
		Example: "  latchkey user show ada@example.com --format json",
		RunE:    does(func(c *cobra.Command, args []string) error { return showUser(c.Context(), p, &f, args[0]) }),
	}, false, true)
}

// detail is everything that show prints.
type detail struct {
	person
	Accounts []string `json:"accounts"` // provider and id there
	Passkeys int      `json:"passkeys"`
	Factors  int      `json:"factors"`
	Sessions int      `json:"sessions"`
}

// showUser prints a user, and how many passkeys, factors and sessions the user has.
func showUser(ctx context.Context, p *program, f *peopleFlags, who string) error {
	if f.format == formCSV {
		return usage("--format: show has no CSV: want text or json")
	}
	db, ctx, err := openPeople(ctx, p, f, false)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	u, err := db.user(ctx, who)
	if err != nil {
		return err
	}
	d := detail{person: personOf(&u, db.now), Accounts: []string{}}
	accounts, failed := db.Accounts(ctx, u.ID)
	for _, a := range accounts {
		d.Accounts = append(d.Accounts, a.Provider+" "+a.ProviderAccountID)
	}
	passkeys, alsoFailed := db.Passkeys(ctx, u.ID)
	sessions, wrong := db.Sessions(ctx, u.ID)
	factors, broken := db.store.Factors().List(ctx, u.ID)
	for _, err := range []error{failed, alsoFailed, wrong, broken} {
		if err != nil && !errors.Is(err, errors.ErrUnsupported) { // other tables keep less
			return db.said(err)
		}
	}
	d.Passkeys, d.Sessions, d.Factors = len(passkeys), len(sessions), len(factors)
	if f.format == formJSON {
		return writeJSON(p.stdout, d)
	}
	return printPairs(p.stdout, []pair{
		{"id", d.ID},
		{"e-mail", d.Email},
		{"proven", shownTime(d.EmailVerified)},
		{"name", d.Name},
		{"created", shownTime(d.Created)},
		{"state", d.State},
		{"until", shownTime(d.Until)},
		{"reason", d.Reason},
		{"by", d.By},
		{"accounts", strings.Join(d.Accounts, ", ")},
		{"passkeys", fmt.Sprint(d.Passkeys)},
		{"factors", fmt.Sprint(d.Factors)},
		{"sessions", fmt.Sprint(d.Sessions)},
	})
}
