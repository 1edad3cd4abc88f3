package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/dynamoadapter"
	"github.com/latchkeyhq/latchkey/adapters/mongoadapter"
	"github.com/latchkeyhq/latchkey/adapters/natsadapter"
)

// service is a database without SQL, which has an adapter of its own. In lacking, check and
// migrate return what the database should have but the adapter can do without. Both are nil
// in a service of Redis, which needs neither. The caller that opened a service closes it.
type service struct {
	where   string // for people; neither user nor password
	check   func(ctx context.Context) (lacking []string, err error)
	migrate func(ctx context.Context) (lacking []string, err error)
	store   func(ctx context.Context) (serviceStore, error)
	explain func(error) string // empty: the error may be shown as it is
	close   func()

	apart sessionStore // what store returned, in a service of openSessions
}

// serviceStore is what the adapter of a service can do for commands.
type serviceStore interface {
	sessionStore
	tokenStore
}

// openService opens the database of the flag or, if that is empty, of DATABASE_URL. It
// returns nil, nil for a URL of SQL, of Redis or of an unknown kind, and without a URL. A
// malformed URL is a wrongUsage. Other errors name the database. It connects only to NATS.
func (p *program) openService(ctx context.Context, flag string) (*service, error) {
	rawURL := cmp.Or(flag, p.env.get("DATABASE_URL"))
	scheme, _, _ := strings.Cut(rawURL, "://")
	switch strings.ToLower(scheme) {
	case "mongodb", "mongodb+srv":
		return openMongoDB(rawURL)
	case "dynamodb":
		return p.openDynamoDB(ctx, rawURL)
	case "nats":
		return openNATS(rawURL)
	}
	return nil, nil
}

// isName reports whether a text can be the name of a database, a table or a bucket. Any
// other text may be part of a password that was not escaped.
func isName(text string) bool {
	isPlain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
	}
	return text != "" && strings.IndexFunc(text, func(c rune) bool { return !isPlain(c) }) < 0
}

// failed returns an error that names the database and why it could not be used. It does
// not wrap err. It repeats the text of err only if neither s.explain nor reason has one.
func (s *service) failed(err error) error {
	text := cmp.Or(s.explain(err), reason(err))
	if text == "" {
		text = err.Error()
	}
	return fmt.Errorf("%s: %s", s.where, text)
}

// isNotMigrated reports whether `latchkey migrate` is the cure of an error.
func isNotMigrated(err error) bool {
	for _, e := range []error{dynamoadapter.ErrNotMigrated, mongoadapter.ErrNotMigrated, natsadapter.ErrNotMigrated} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// checkFor reports to r whether the database answers and has what its adapter needs,
// within connectTimeout. It returns whether the adapter can use it.
func (s *service) checkFor(ctx context.Context, r *report) bool {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	lacking, err := s.check(ctx)
	switch {
	case isNotMigrated(err):
		r.fail("database", "%v Run `latchkey migrate`", s.failed(err))
	case err != nil:
		r.fail("database", "%v", s.failed(err))
	case len(lacking) > 0:
		for _, what := range lacking {
			r.warn("database", "%s: it lacks %s", s.where, what)
		}
	default:
		r.ok("database", "%s: it answers, and has all that it needs", s.where)
	}
	return err == nil
}

// migrateService makes what the adapter of s needs, and prints what is still lacking. With
// --check it changes nothing. It then returns an error if something that the adapter needs
// is missing, and errTold if only something else is. --adopt is a wrongUsage.
func (p *program) migrateService(ctx context.Context, s *service, f migrateFlags) error {
	if f.adopt {
		return usage("--adopt: only tables of Auth.js' PostgreSQL adapter are taken over")
	}
	do, done := s.migrate, "it has all that it needs"
	if f.check {
		do, done = s.check, "nothing to do"
	}
	lacking, err := do(ctx)
	if err != nil {
		return s.failed(err)
	}
	for _, what := range lacking {
		fmt.Fprintf(p.stdout, "%s: it lacks %s.\n", s.where, what)
	}
	if len(lacking) == 0 {
		fmt.Fprintf(p.stdout, "%s: %s.\n", s.where, done)
	} else if f.check {
		return errTold
	}
	return nil
}
