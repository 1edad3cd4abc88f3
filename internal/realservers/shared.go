package realservers

import (
	"slices"
	"sync"
	"testing"
)

// Shared is servers for all tests of a package, each of which makes a schema or a
// database of its own there: to start a server takes seconds. The zero value has
// none yet. It may be used concurrently. What a test does to a whole server, such
// as ending it, wants a server of its own.
type Shared struct {
	lock     sync.Mutex
	postgres *PG
	mariaDB  string
	ends     []func()
}

// Postgres is a server reached by a socket, which the first call starts.
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

// MariaDB is the socket of a server, which the first call starts.
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

// Cleanup puts off until Close.
func (l lasting) Cleanup(f func()) { l.shared.ends = append(l.shared.ends, f) }
