package test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestForeignSuite (S-007) runs the suite on the tables of each other adapter of
// Auth.js, on each engine that it exists for.
func TestForeignSuite(t *testing.T) {
	t.Setenv("LATCHKEY_RACES", "3") // as often as the suite of our own tables is enough
	each(t, func(t *testing.T, e engine, empty source) {
		for _, c := range foreign {
			if c.peer != "" && strings.HasSuffix(c.file, "_"+string(e.dialect)) {
				t.Run(c.peer, func(t *testing.T) { e.proves(t, empty, c.file, c.peer) })
			}
		}
	})
}

// proves runs the suite on the tables of a file.
func (e engine) proves(t *testing.T, empty source, file, peer string) {
	l, err := sqlstore.SharedWith(e.dialect, peer)
	ok(t, err)
	var except []string
	for _, x := range foreignExceptions {
		if x.holds(peer, e.dialect) {
			except = append(except, x.promise)
		}
	}
	open := e.emptied(e.laidOutAs(t, empty, file, forSuite), sqladapter.Options{Layout: l})
	store := func(t *testing.T) storage.Adapter {
		a := open(t)
		if name, renamed := l.Names["authenticators"]; renamed && name == "" {
			return struct{ bare }{a}
		}
		return struct{ withPasskeys }{a}
	}
	storagetest.TestAdapter(t, store, except...)
	latchkeytest.TestUnlink(t, store)
}

// forSuite lets users have no e-mail address, and times milliseconds, as most
// promises want it: changedForSuite.
func forSuite(schema string) string {
	return wholeSecond.ReplaceAllString(requiredEmail.ReplaceAllString(schema, "email $1"), "$1(3)$2")
}

var (
	requiredEmail = regexp.MustCompile(`email (\S+) NOT NULL`)
	wholeSecond   = regexp.MustCompile(`(expires (?:datetime|timestamp)|email_verified datetime)([ ,])`)
)

// withPasskeys is bare, and passkeys.
type withPasskeys interface {
	bare
	storage.AuthenticatorAdapter
}
