//go:build linux

package realservers

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"
)

// PgBouncer starts a connection pool in front of the server before. Clients reach the pool
// by a socket. It lends each of its four connections for one transaction at a time.
func PgBouncer(t testing.TB, before PG) PG {
	t.Helper()
	pgbouncer := program(t, "pgbouncer")
	h := newHome(t, "postgres")
	p := PG{Dir: h.dir, Port: 6432}
	settings := fmt.Sprintf(`[databases]
* = host=%s port=%d user=latchkey
[pgbouncer]
listen_port=%d
unix_socket_dir=%s
auth_type=any
pool_mode=transaction
default_pool_size=4
max_client_conn=500
ignore_startup_parameters=extra_float_digits
`, before.Dir, before.Port, p.Port, h.dir)
	file := h.dir + "/pgbouncer.ini"
	if err := os.WriteFile(file, []byte(settings), 0o644); err != nil { //nolint:gosec // the server runs as another account
		t.Fatal(err)
	}
	p.life = &life{start: func(t testing.TB) *server {
		t.Helper()
		s := h.serve(t, syscall.SIGTERM, pgbouncer, file)
		s.await(t, func() error {
			c, err := net.Dial("unix", h.dir+"/.s.PGSQL."+strconv.Itoa(p.Port))
			if err == nil {
				err = c.Close()
			}
			return err
		})
		return s
	}}
	p.Restart(t)
	return p
}
