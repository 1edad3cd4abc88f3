//go:build linux

package realservers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Standby starts a copy of a server, which has to be reached over TCP. It follows
// the server, answers reads, and writes once it is promoted: SELECT pg_promote().
func Standby(t testing.TB, primary PG) PG {
	t.Helper()
	h := newHome(t, "postgres")
	h.run(t, program(t, "pg_basebackup"), "-d", primary.DSN("postgres"), "-D", h.dir+"/data", "-X", "stream", "-R", "-c", "fast", "--no-sync")
	standby := h.postgres(t, true)
	standby.awaitLink(t, primary)
	return standby
}

// awaitLink waits until a standby has what its leader has: before that, a leader
// that stops in good order would not wait for it.
func (p PG) awaitLink(t testing.TB, leader PG) {
	t.Helper()
	psql := program(t, "psql")
	p.life.running.await(t, func() error {
		out, err := exec.Command(psql, "-XAt", "-d", leader.DSN("postgres"), "-c", "SELECT state FROM pg_stat_replication").CombinedOutput()
		if err == nil && strings.TrimSpace(string(out)) != "streaming" {
			err = errors.New("the standby is behind")
		}
		return err
	})
}

// Follow makes a standby of a server that was stopped, on its port. It follows
// the leader, which was its own standby before.
func (p PG) Follow(t testing.TB, leader PG) {
	t.Helper()
	settings, err := os.OpenFile(p.Dir+"/data/postgresql.auto.conf", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(settings, "primary_conninfo = '%s'\nsynchronous_standby_names = ''\n", leader.DSN("postgres"))
	if failed := settings.Close(); err == nil {
		err = failed
	}
	if err == nil {
		err = os.WriteFile(p.Dir+"/data/standby.signal", nil, 0o644) //nolint:gosec // the server runs as another account
	}
	if err != nil {
		t.Fatal(err)
	}
	p.Restart(t)
	p.awaitLink(t, leader)
}
