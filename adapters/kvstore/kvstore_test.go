package kvstore_test

import (
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// conns are the kinds of stores that the suites run on.
//
// S-006: twice is a client that repeats each call, since its answer was lost.
var conns = map[string]func() kvstore.Conn{
	"plain":     func() kvstore.Conn { return newMemory() },
	"twice":     func() kvstore.Conn { return twice{newMemory(), new(sync.Mutex)} },
	"following": func() kvstore.Conn { return following{newMemory()} },
}

func TestAdapter(t *testing.T) {
	for name, open := range conns {
		t.Run(name, func(t *testing.T) {
			made := map[storage.Adapter]kvstore.Conn{}
			storagetest.Suite{
				Open: func(*testing.T) storage.Adapter {
					c := open()
					s := kvstore.New(c, kvstore.Options{})
					made[s] = c
					return s
				},
				Reopen: func(_ *testing.T, s storage.Adapter) storage.Adapter { return kvstore.New(made[s], kvstore.Options{}) },
			}.TestAdapter(t)
			latchkeytest.TestUnlink(t, func(*testing.T) storage.Adapter { return kvstore.New(open(), kvstore.Options{}) })
		})
	}
}

func TestStores(t *testing.T) {
	for name, open := range conns {
		t.Run(name, func(t *testing.T) {
			storagetest.TestStores(t, func(*testing.T) any { return kvstore.New(open(), kvstore.Options{}) })
		})
	}
}
