package password_test

import (
	"testing"

	"golang.org/x/crypto/argon2"

	"github.com/latchkeyhq/latchkey/password"
)

// BenchmarkCheck compares a check of the default hash with argon2id alone.
func BenchmarkCheck(b *testing.B) {
	h, err := password.New(password.Options{})
	if err != nil {
		b.Fatal(err)
	}
	hash, err := h.Hash(b.Context(), "correct horse battery")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("argon2id", func(b *testing.B) {
		for b.Loop() {
			argon2.IDKey([]byte("correct horse battery"), []byte("sixteen bytes of"), 2, 19456, 1, 32)
		}
	})
	b.Run("hasher", func(b *testing.B) {
		for b.Loop() {
			if got, err := h.Check(b.Context(), hash, "correct horse battery"); err != nil || !got.OK {
				b.Fatal(got, err)
			}
		}
	})
}
