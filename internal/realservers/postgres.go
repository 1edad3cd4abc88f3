//go:build linux

package realservers

import (
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

// PG is a running PostgreSQL server whose superuser is "latchkey", without a
// password.
type PG struct {
	Dir  string // of its socket
	Port int    // also names the socket; TCP connections only if asked for
	tcp  bool
	life *life
}

// DSN returns the connection string of a database of the server, such as "postgres", in
// the keyword form of libpq.
func (p PG) DSN(database string) string {
	host := p.Dir
	if p.tcp {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("host=%s port=%d user=latchkey dbname=%s", host, p.Port, database)
}

// Crash ends the server as a power failure does: statements under way are lost, and its
// data is left as it is. Crash returns when the process has ended.
func (p PG) Crash() { p.life.running.endBy(syscall.SIGQUIT) }

// Restart starts a server that has ended, on the data it left.
func (p PG) Restart(t testing.TB) {
	t.Helper()
	p.life.running = p.life.start(t)
}

// Stop ends the server in good order: a standby has all of its data then.
func (p PG) Stop() { p.life.running.endBy(p.life.running.stop) }

// Postgres starts an empty server. Clients reach it by a socket, or with tcp over TCP.
func Postgres(t testing.TB, tcp bool) PG {
	t.Helper()
	initdb := program(t, "initdb")
	h := newHome(t, "postgres")
	h.run(t, initdb, "-D", h.dir+"/data", "-U", "latchkey", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	return h.postgres(t, tcp)
}

// postgres starts a server on the data in the home.
func (h home) postgres(t testing.TB, tcp bool) PG {
	t.Helper()
	postgres, ready := program(t, "postgres"), program(t, "pg_isready")
	p := PG{Dir: h.dir, Port: 5432, tcp: tcp}
	listen := "listen_addresses="
	if tcp {
		p.Port = freePort(t)
		listen += "127.0.0.1"
	}
	p.life = &life{start: func(t testing.TB) *server {
		t.Helper()
		s := h.serve(t, syscall.SIGINT, postgres, "-D", h.dir+"/data", "-k", h.dir, "-p", strconv.Itoa(p.Port),
			"-c", listen, "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200", "-c", "wal_retrieve_retry_interval=200ms")
		s.await(t, func() error { return exec.Command(ready, "-q", "-h", h.dir, "-p", strconv.Itoa(p.Port)).Run() })
		return s
	}}
	p.Restart(t)
	return p
}
