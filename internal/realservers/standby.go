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

// Standby starts a copy of primary, which clients must reach over TCP: see Postgres. The
// copy follows primary and answers reads. It takes writes once it is promoted, by SELECT
// pg_promote().
func Standby(t testing.TB, primary PG) PG {
	t.Helper()
	h := newHome(t, "postgres")
	h.run(t, program(t, "pg_basebackup"), "-d", primary.DSN("postgres"), "-D", h.dir+"/data", "-X", "stream", "-R", "-c", "fast", "--no-sync")
	standby := h.postgres(t, true)
	standby.awaitLink(t, primary)
	return standby
}

// awaitLink waits until p streams from leader, which must have no other standby. Before that,
// a leader that stops in good order would not wait for p.
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

// Follow starts p, which was stopped, as a standby of leader, on the port that p had. leader
// was a standby of p before.
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
