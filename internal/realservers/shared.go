package realservers

import (
	"slices"
	"sync"
	"testing"
)

// Shared has servers for all tests of a package, because it takes seconds to start one.
// Each test makes a schema or a database of its own there. A test that does something to a
// whole server, such as ending it, must start its own instead. The zero value has no
// servers yet. Shared may be used concurrently.
type Shared struct {
	lock     sync.Mutex
	postgres *PG
	mariaDB  string
	ends     []func()
}

// Postgres returns a server that is reached by a socket. The first call starts it.
func (s *Shared) Postgres(t testing.TB) PG {
	t.Helper()
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.postgres == nil {
		p := Postgres(lasting{t, s}, false)
		s.postgres = &p
	}
	return *s.postgres
}

// MariaDB returns the path of the socket of a server. The first call starts it.
func (s *Shared) MariaDB(t testing.TB) string {
	t.Helper()
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.mariaDB == "" {
		s.mariaDB = MariaDB(lasting{t, s})
	}
	return s.mariaDB
}

// Close ends the servers. It is for TestMain, after the tests.
func (s *Shared) Close() {
	for _, end := range slices.Backward(s.ends) {
		end()
	}
}

// lasting is a test, but what it starts outlives it.
type lasting struct {
	testing.TB
	shared *Shared
}

// Cleanup has Close call f, instead of the end of the test.
func (l lasting) Cleanup(f func()) { l.shared.ends = append(l.shared.ends, f) }
