package storagetest_test

import (
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// An adapter that keeps nothing but the required fields names the promises about
// the optional ones.
func ExampleTestAdapter() {
	_ = func(t *testing.T) { // the body of your TestAdapter
		storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter {
			return memoryadapter.New(memoryadapter.Options{}) // yours, on an empty database
		}, "SessionAdapter/how a session was opened survives", "AuthenticatorAdapter")
	}
}

// A limiter is a store by itself. So is an adapter that counts and remembers too.
func ExampleTestStores() {
	_ = func(t *testing.T) { // the body of your TestStores
		storagetest.TestStores(t, func(t *testing.T) any { return memoryadapter.NewLimiter(nil) })
	}
}
