//go:build linux

package realservers

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
)

// patience is how long a server may take to start, on a busy machine.
var patience = race.Patience(3 * time.Minute)

// cure tells a reader of the test's log how to install a missing program.
const cure = "on Debian, apt-get install postgresql mariadb-server redis-server pgbouncer galera-4 nginx-light caddy haproxy"

// program returns the path of an installed program. Without it the test skips, or fails if
// LATCHKEY_REQUIRE_SERVERS is 1.
func program(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if path, err := exec.LookPath("/usr/sbin/" + name); err == nil { // which is not in everybody's PATH
		return path
	}
	// Debian keeps PostgreSQL's own programs out of PATH.
	if dir, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		if path, err := exec.LookPath(filepath.Join(strings.TrimSpace(string(dir)), name)); err == nil {
			return path
		}
	}
	isMissing(t, name)
	return ""
}

// isMissing skips a test because the program called name is not installed, or fails it if
// LATCHKEY_REQUIRE_SERVERS is 1.
func isMissing(t testing.TB, name string) {
	t.Helper()
	if os.Getenv("LATCHKEY_REQUIRE_SERVERS") == "1" {
		t.Fatalf("%s is not installed; %s", name, cure)
	}
	t.Skipf("%s is not installed: NOTHING WAS TESTED; %s", name, cure)
}

// home is where one server keeps everything, and whom it runs as.
type home struct {
	dir string
	as  *syscall.Credential // nil: the user that runs the tests
}

// newHome makes a home, which is removed when the test ends. If root runs the tests, the
// server runs as account, because many servers refuse to run as root. The home is not in
// t.TempDir, whose path can be longer than the name of a socket may be, and which other
// accounts cannot enter.
func newHome(t testing.TB, account string) home {
	t.Helper()
	h := home{as: credential(t, account)}
	dir, err := os.MkdirTemp("", "lk")
	if err != nil {
		t.Fatal(err)
	}
	h.dir = dir
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if h.as != nil {
		if err := os.Chown(dir, int(h.as.Uid), int(h.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// credential returns the ids of an account, or nil if the tests do not run as root.
func credential(t testing.TB, account string) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup(account)
	if err != nil {
		t.Fatal(err)
	}
	uid, errU := strconv.ParseUint(u.Uid, 10, 32)
	gid, errG := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(errU, errG); err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// command returns a command that is not started yet. It runs as the account of h, in the home
// because that account may not enter the test's folder. It dies with the test binary.
func (h home) command(argv ...string) *exec.Cmd {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = h.dir
	c.Env = append(os.Environ(), "LC_ALL=C", "HOME="+h.dir, "TMPDIR="+h.dir)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: h.as, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return c
}

// run runs a command that prepares the home, and fails the test unless it succeeds.
func (h home) run(t testing.TB, argv ...string) {
	t.Helper()
	if out, err := h.command(argv...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", argv[0], err, out)
	}
}

// write puts a file into the home. The file belongs to the account of the server.
func (h home) write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if h.as != nil {
		if err := os.Chown(path, int(h.as.Uid), int(h.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

// life is how a server is started, and the process that runs. All copies of a value such as
// a PG share one life, so that each of them knows the process after a restart.
type life struct {
	start   func(t testing.TB) *server
	running *server
}

// server is a process that a home has started.
type server struct {
	cmd  *exec.Cmd
	stop syscall.Signal // ends it in good order
	done chan struct{}  // closed when it has ended
	log  journal
}

// serve starts a server and does not wait for it. At its end, the test sends the signal stop.
func (h home) serve(t testing.TB, stop syscall.Signal, argv ...string) *server {
	t.Helper()
	s := &server{cmd: h.command(argv...), stop: stop, done: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.done)
	}()
	t.Cleanup(s.end)
	return s
}

// end stops a server that is no longer needed. It gives the server ten seconds to tidy up.
func (s *server) end() { s.endWithin(10*time.Second, s.stop) }

// endBy sends a signal to the server and waits until it has ended. A server that goes on
// for longer than patience is killed.
func (s *server) endBy(signal syscall.Signal) { s.endWithin(patience, signal) }

// endWithin sends a signal to the server and waits until it has ended. After limit it kills
// the server.
func (s *server) endWithin(limit time.Duration, signal syscall.Signal) {
	_ = s.cmd.Process.Signal(signal)
	select {
	case <-s.done:
	case <-time.After(limit):
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // with its children
		<-s.done
	}
}

// await calls answers every ten milliseconds until it returns nil. It fails the test if the
// server ends, or if that takes longer than patience.
func (s *server) await(t testing.TB, answers func() error) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		err := answers()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-s.done:
			t.Fatalf("the server ended: %v\n%s", err, s.log.String())
		case <-deadline:
			t.Fatalf("the server does not answer: %v\n%s", err, s.log.String())
		}
	}
}

// journal holds the output of a server, for the log of a test if the server does not start.
type journal struct {
	lock sync.Mutex
	said bytes.Buffer
}

// Write implements io.Writer.
func (j *journal) Write(b []byte) (int, error) {
	j.lock.Lock()
	defer j.lock.Unlock()
	return j.said.Write(b)
}

func (j *journal) String() string {
	j.lock.Lock()
	defer j.lock.Unlock()
	return j.said.String()
}
