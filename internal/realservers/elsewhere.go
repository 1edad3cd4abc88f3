//go:build !linux

package realservers

import (
	"os"
	"testing"
)

// PG stands for a server on systems where none is started, so that tests build.
type PG struct {
	Dir  string
	Port int
}

// DSN reaches nothing.
func (PG) DSN(string) string { return "" }

// Crash does nothing.
func (PG) Crash() {}

// Restart skips the test.
func (PG) Restart(t testing.TB) { skip(t) }

// Postgres skips the test.
func Postgres(t testing.TB, _ bool) PG {
	t.Helper()
	skip(t)
	return PG{}
}

// MariaDB skips the test.
func MariaDB(t testing.TB) string {
	t.Helper()
	skip(t)
	return ""
}

func skip(t testing.TB) {
	t.Helper()
	const why = "servers are only started on Linux"
	if os.Getenv("LATCHKEY_REQUIRE_SERVERS") == "1" {
		t.Fatal(why)
	}
	t.Skip(why + ": NOTHING WAS TESTED")
}
