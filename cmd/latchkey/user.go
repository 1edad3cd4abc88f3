package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/storage"
)

func (p *program) userCommand() *cobra.Command {
	return group(&cobra.Command{
		Use: "user", Short: "Find, suspend, export, delete and help users",
		Example: "  latchkey user list --search ada\n  latchkey user suspend ada@example.com --until 7d\n  latchkey user reset-factors ada@example.com",
	}, userListCommand(p), userFindCommand(p), userShowCommand(p), userSuspendCommand(p), userRestoreCommand(p), userEndSessionsCommand(p),
		userExportCommand(p), userDeleteCommand(p), userEraseCommand(p), userReindexCommand(p), p.resetFactorsCommand())
}

const aboutResetFactors = `Remove all second factors and recovery codes of a user who has lost them, forget the user's
browsers, and end the user's sessions. Whoever asks must have proven who they are: with a stolen
password alone nobody should get this far.

USER is the id or the e-mail address. No mail is sent: tell the user. Passkeys stay, since they
sign in by themselves.

With the site's AUTH_SECRET the user has to prove the mailbox before the next sign-in sets up a
factor, if the address is proven. Without it anyone who knows the password can set one up, and
the command says so. A user of a tenant needs --tenant. With --sessions it takes AUTH_SECRET and
AUTH_URL.

` + aboutDatabaseURL + "\n\n" + aboutSessions

func (p *program) resetFactorsCommand() *cobra.Command {
	var f peopleFlags
	c := &cobra.Command{
		Use: "reset-factors USER", Short: "Remove a user's second factors", Long: aboutResetFactors,
		Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		Example: "  latchkey user reset-factors ada@example.com",
		RunE: does(func(c *cobra.Command, args []string) error {
			return p.resetFactors(c.Context(), &f, args[0])
		}),
	}
	c.Flags().StringVar(&f.database, "database", "", "`URL` of the database (default: $DATABASE_URL)")
	c.Flags().StringVar(&f.tenant, "tenant", "", "the `tenant` that the user signs in at")
	f.bindSessions(c)
	return c
}

// resetFactors removes all factors and recovery codes of a user in one transaction, and
// then ends the user's sessions. If the sessions cannot be ended the factors stay
// removed, and the error says so. who is the id or the e-mail address of the user.
func (p *program) resetFactors(ctx context.Context, f *peopleFlags, who string) error {
	db, store, found, err := p.openUsable(ctx, f.database)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	apart, err := sessionsOfSite(ctx, p, f.sessions)
	if err != nil {
		return err
	}
	if apart != nil {
		defer apart.close()
	}
	if _, has := db.factorTable(found); !has {
		return fmt.Errorf("%s: it has no tables for second factors", db.where)
	}
	u, err := findUser(ctx, store, who)
	if errors.Is(err, errNoUser) {
		return fmt.Errorf("%s: %w", db.where, err)
	}
	if err != nil {
		return db.failed(err)
	}
	removed := 0
	err = store.InTx(ctx, func(tx storage.Adapter) (err error) {
		removed, err = removeFactors(ctx, tx.(proofStores), u.ID)
		return err
	})
	if err != nil {
		return db.failed(err)
	}
	next, err := afterFactors(ctx, p, store, apart, f.tenant, &u)
	if err != nil {
		return fmt.Errorf("%s: the factors are removed, and the sessions of the user go on: %w", db.where, withoutPrefix(err))
	}
	fmt.Fprintf(p.stdout, "%s: removed %s and the recovery codes of user %s, and ended the user's sessions%s. Tell the user: no mail was sent. %s\n",
		db.where, counted(int64(removed), "factor"), u.ID, apart.also(), next)
	return nil
}

// afterFactors ends the sessions of a user whose factors were removed, also those in apart,
// which may be nil. It returns a sentence about what the next sign-in asks for. With the
// site's secret it does what Users.ResetFactors does, so that the next sign-in proves the
// mailbox.
func afterFactors(ctx context.Context, p *program, store *sqladapter.Adapter, apart *service, tenant string, u *storage.User) (next string, err error) {
	config, env := validConfig(), (latchkey.Config{}).WithEnv(p.env.get)
	secrets := env.Secrets
	if len(secrets) > 0 {
		config.Secrets, config.Factors.Kinds = secrets, []latchkey.FactorKind{latchkey.FactorTOTP}
	}
	if apart != nil {
		config.Site = env.Site // which is part of the keys there
	}
	config.Adapter, config.Runtime.Logger, config.Runtime.Time = store, slog.New(slog.DiscardHandler), p.now
	site := apart.with(&config)
	auth, err := siteOf(&site, tenant)
	if err != nil {
		return "", err
	}
	if tenant != "" {
		ctx = latchkey.ContextWithTenant(ctx, tenant)
	}
	if err := apart.revoke(ctx, &config, tenant, u.ID); err != nil {
		return "", err
	}
	if len(secrets) == 0 {
		return "AUTH_SECRET is not set: the next sign-in sets up a factor without a proof of the mailbox.", auth.Users().EndSessions(ctx, u.ID)
	}
	next = "The next sign-in proves the mailbox before it sets up a factor."
	if u.Email == "" || u.EmailVerified.IsZero() {
		next = "The user has no proven address: the next sign-in sets up a factor without a proof of the mailbox."
	}
	return next, auth.Users().ResetFactors(ctx, u.ID)
}

// findUser returns the user that who names: by the e-mail address if who contains an @,
// and by the id otherwise. It returns errNoUser if there is none, and otherwise the error
// of the store.
func findUser(ctx context.Context, store *sqladapter.Adapter, who string) (u storage.User, err error) {
	if strings.Contains(who, "@") {
		u, err = store.GetUserByEmail(ctx, strings.ToLower(who))
	} else {
		u, err = store.GetUser(ctx, who)
	}
	if errors.Is(err, storage.ErrNotFound) {
		err = errNoUser
	}
	return u, err
}

// removeFactors removes the factors, recovery codes and known browsers of a user, and the
// challenges that ask for a factor. It returns how many factors it has removed. tx is a
// transaction, in which it locks the user first. An unknown user is an error.
func removeFactors(ctx context.Context, tx proofStores, userID string) (n int, err error) {
	if _, err := tx.UpdateUser(ctx, userID, storage.UserChange{}); err != nil {
		return 0, err
	}
	factors, err := tx.Factors().List(ctx, userID)
	if err != nil {
		return 0, err
	}
	for _, f := range factors {
		if _, err := tx.Factors().Delete(ctx, userID, f.ID); err != nil {
			return n, err
		}
		n++
	}
	if err := tx.Factors().ReplaceRecoveryCodes(ctx, userID, nil); err != nil {
		return n, err
	}
	if _, err := tx.Browsers().Delete(ctx, userID, ""); err != nil {
		return n, err
	}
	_, err = tx.Challenges().Delete(ctx, userID, "signin", "enrol", "codes", "reauth", "lost")
	return n, err
}

// proofStores are the stores that a user's factors are in.
type proofStores interface {
	storage.Adapter
	storage.FactorAdapter
	storage.ChallengeAdapter
	storage.BrowserAdapter
}
