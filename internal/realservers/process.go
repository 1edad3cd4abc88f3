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

// program finds an installed program.
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

// isMissing ends a test that needs something that is not installed.
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

// newHome makes a home for a server that refuses to run as root and has an
// account of its own for that. It is not in t.TempDir, whose path can be longer
// than the name of a socket may be, and which other accounts cannot enter.
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

// command is not started yet. The working directory is the home because the
// test's own may be closed to the other account.
func (h home) command(argv ...string) *exec.Cmd {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = h.dir
	c.Env = append(os.Environ(), "LC_ALL=C", "HOME="+h.dir, "TMPDIR="+h.dir)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: h.as, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return c
}

// run waits for a command that prepares the home.
func (h home) run(t testing.TB, argv ...string) {
	t.Helper()
	if out, err := h.command(argv...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", argv[0], err, out)
	}
}

// write puts a file into the home that its server may change.
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

// server is a running program.
type server struct {
	cmd  *exec.Cmd
	stop syscall.Signal
	done chan struct{} // closed when it has ended
	log  journal
}

// serve starts a server, which ends with the test by the signal stop.
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

// end stops a server that is no longer needed, without waiting for it to tidy up.
func (s *server) end() { s.endWithin(10*time.Second, s.stop) }

func (s *server) endBy(how syscall.Signal) { s.endWithin(patience, how) }

func (s *server) endWithin(most time.Duration, how syscall.Signal) {
	_ = s.cmd.Process.Signal(how)
	select {
	case <-s.done:
	case <-time.After(most):
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // with its children
		<-s.done
	}
}

// await waits until the server answers.
func (s *server) await(t testing.TB, answers func() error) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); ; {
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

// journal is what a server says, to be shown if it does not come up.
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
