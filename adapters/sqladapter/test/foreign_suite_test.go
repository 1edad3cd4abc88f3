package test

import (
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestForeignSuite runs the suite on tables of another adapter of Auth.js, in the
// layout that is found.
func TestForeignSuite(t *testing.T) {
	e := engines[0]
	empty := e.start(t)
	latchkeytest.Adapter(t, func(t *testing.T) latchkey.Adapter {
		db := e.laidOut(t, empty, "drizzle_sqlite")
		return e.adapter(t, db, sqladapter.Options{Layout: detect(t, db, e.dialect).Layout})
	}, cannotKeep...)
}
