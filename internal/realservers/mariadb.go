//go:build linux

package realservers

import (
	"os/exec"
	"syscall"
	"testing"
)

// MariaDB starts an empty server and returns the path of its socket. Its user
// "root" has no password.
func MariaDB(t testing.TB) string {
	t.Helper()
	install, mariadbd, admin := program(t, "mariadb-install-db"), program(t, "mariadbd"), program(t, "mariadb-admin")
	h := newHome(t, "mysql")
	socket := h.dir + "/s"
	h.run(t, install, "--no-defaults", "--datadir="+h.dir+"/data", "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
	s := h.serve(t, syscall.SIGTERM, mariadbd, "--no-defaults", "--datadir="+h.dir+"/data", "--socket="+socket, "--pid-file="+h.dir+"/pid",
		"--skip-networking", "--skip-log-bin", "--innodb-flush-log-at-trx-commit=0", "--character-set-server=utf8mb4", "--max-connections=200")
	s.await(t, func() error {
		return exec.Command(admin, "--no-defaults", "--socket="+socket, "--user=root", "--silent", "ping").Run()
	})
	return socket
}
