package kvstore_test

import (
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// conns are the kinds of stores that the suites run on.
//
// S-006: twice is a client that repeats each call, since its answer was lost.
var conns = map[string]func() kvstore.Conn{
	"plain":     func() kvstore.Conn { return newMemory() },
	"twice":     func() kvstore.Conn { return twice{newMemory()} },
	"following": func() kvstore.Conn { return following{newMemory()} },
}

func TestAdapter(t *testing.T) {
	for name, open := range conns {
		t.Run(name, func(t *testing.T) {
			latchkeytest.Adapter(t, func(*testing.T) latchkey.Adapter { return kvstore.New(open(), kvstore.Options{}) })
		})
	}
}

func TestStores(t *testing.T) {
	for name, open := range conns {
		t.Run(name, func(t *testing.T) {
			latchkeytest.Stores(t, func(*testing.T) any { return kvstore.New(open(), kvstore.Options{}) })
		})
	}
}
