package latchkeytest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

func TestUnlink(t *testing.T) {
	latchkeytest.TestUnlink(t, func(*testing.T) storage.Adapter { return memoryadapter.New(memoryadapter.Options{}) })
	t.Run("a store that lists no accounts is skipped", func(t *testing.T) {
		latchkeytest.TestUnlink(t, func(*testing.T) storage.Adapter {
			return struct{ storage.Adapter }{memoryadapter.New(memoryadapter.Options{})}
		})
	})
}

// TestUnlinkNotices runs the test on a broken store in a process of its own, where
// it must fail.
func TestUnlinkNotices(t *testing.T) {
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUnlinkInUnlockedStore$")
	c.Env = append(os.Environ(), "LATCHKEY_BROKEN_STORE=unlocked")
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "both accounts are gone") {
		t.Errorf("%v, and nothing was noticed:\n%s", err, out)
	}
}

// TestUnlinkInUnlockedStore is the other process.
func TestUnlinkInUnlockedStore(t *testing.T) {
	if os.Getenv("LATCHKEY_BROKEN_STORE") == "unlocked" {
		latchkeytest.TestUnlink(t, func(*testing.T) storage.Adapter {
			return unlocked{memoryadapter.New(memoryadapter.Options{})}
		})
	}
}

// unlocked has transactions that do not wait for each other.
type unlocked struct{ *memoryadapter.Adapter }

func (a unlocked) InTx(_ context.Context, f func(storage.Adapter) error) error { return f(a) }

func (a unlocked) ListAccounts(ctx context.Context, userID string) ([]storage.Account, error) {
	list, err := a.Adapter.ListAccounts(ctx, userID)
	time.Sleep(time.Millisecond) // the other transaction reads the accounts too
	return list, err
}
