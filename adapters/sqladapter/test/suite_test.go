package test

import (
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

func TestAdapter(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		for name, o := range map[string]sqladapter.Options{
			"as it comes":   {},
			"plain tokens":  {Layout: sqlstore.Layout{PlainTokens: true}},
			"never prepare": {Unprepared: true},
		} {
			t.Run(name, func(t *testing.T) {
				open := e.emptied(e.migrated(t, empty), o)
				storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return open(t) })
				latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return open(t) })
				if name == "as it comes" { // the others change nothing of it
					latchkeytest.TestRecovery(t, func(t *testing.T) storage.Adapter { return open(t) })
				}
			})
		}
	})
}

// TestStores: S-001, the same value as a store of sessions, limits, used values and
// revocations beside an adapter.
func TestStores(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		open := e.emptied(e.migrated(t, empty), sqladapter.Options{})
		storagetest.TestStores(t, func(t *testing.T) any { return open(t) })
	})
}
