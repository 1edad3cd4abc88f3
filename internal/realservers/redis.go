//go:build linux

package realservers

import (
	"bufio"
	"errors"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Redis is a running Redis server that keeps everything in memory.
type Redis struct {
	Addr string // host and port, or the path of its socket
	life *life
}

// NewRedis starts an empty server that is reached by a socket. Settings are
// arguments of redis-server, such as "--maxmemory", "4mb".
func NewRedis(t testing.TB, settings ...string) Redis {
	t.Helper()
	h := newHome(t, "redis")
	return h.redis(t, h.dir+"/s", append([]string{"--port", "0", "--unixsocket", h.dir + "/s"}, settings...)...)
}

// NewRedisReplica starts a server that copies primary, which NewRedisPrimary has made, and
// waits until it has a copy.
func NewRedisReplica(t testing.TB, primary Redis) Redis {
	t.Helper()
	_, port, err := net.SplitHostPort(primary.Addr)
	if err != nil {
		t.Fatal(err)
	}
	r := newRedisAt(t, freePort(t), "--replicaof", "127.0.0.1", port)
	r.awaitLink(t)
	return r
}

// NewRedisPrimary starts an empty server that is reached over TCP and may have replicas.
func NewRedisPrimary(t testing.TB) Redis {
	t.Helper()
	return newRedisAt(t, freePort(t))
}

// newRedisAt starts an empty server at a free port, with settings as in NewRedis.
func newRedisAt(t testing.TB, port int, settings ...string) Redis {
	t.Helper()
	own := []string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"}
	return newHome(t, "redis").redis(t, local(port), append(own, settings...)...)
}

// redis starts a server in the home. addr is the host and port, or the path of the socket,
// that settings make it listen on.
func (h home) redis(t testing.TB, addr string, settings ...string) Redis {
	t.Helper()
	r := Redis{Addr: addr, life: &life{}}
	argv := append([]string{program(t, "redis-server"), "--dir", h.dir, "--save", "", "--appendonly", "no"}, settings...)
	r.life.start = func(t testing.TB) *server {
		t.Helper()
		s := h.serve(t, syscall.SIGTERM, argv...)
		s.await(t, func() error { _, err := r.ask("PING"); return err })
		return s
	}
	r.Restart(t)
	return r
}

// local returns the address of a port on loopback.
func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Crash kills the server; what it kept is lost. Crash returns when the process has ended.
func (r Redis) Crash() { r.life.running.endBy(syscall.SIGKILL) }

// Pause stops the server where it is: it accepts connections and answers
// nothing, until Resume.
func (r Redis) Pause() { _ = r.life.running.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused server go on.
func (r Redis) Resume() { _ = r.life.running.cmd.Process.Signal(syscall.SIGCONT) }

// Restart starts a server that has crashed, empty.
func (r Redis) Restart(t testing.TB) {
	t.Helper()
	r.life.running = r.life.start(t)
}

// Ask sends the server one command, written as a line, and returns its answer in the bytes
// of the protocol. It fails the test if the answer is an error.
func (r Redis) Ask(t testing.TB, command string) string {
	t.Helper()
	answer, err := r.ask(command)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// ask does the work of Ask, and returns an error instead of failing a test.
func (r Redis) ask(command string) (string, error) {
	network := "tcp"
	if strings.HasPrefix(r.Addr, "/") {
		network = "unix"
	}
	c, err := net.DialTimeout(network, r.Addr, patience)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, command+"\r\n"); err != nil {
		return "", err
	}
	answer, err := readAnswer(bufio.NewReader(c))
	if err == nil && strings.HasPrefix(answer, "-") {
		err = errors.New(strings.TrimSpace(answer))
	}
	return answer, err
}

// readAnswer reads one answer, with all elements of an array, and returns its bytes.
func readAnswer(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil || line[0] != '$' && line[0] != '*' {
		return line, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(line[1:]))
	if err != nil || n < 0 {
		return line, err
	}
	if line[0] == '$' {
		text := make([]byte, n+len("\r\n"))
		_, err = io.ReadFull(r, text)
		return line + string(text), err
	}
	for range n {
		part, err := readAnswer(r)
		if line += part; err != nil {
			return line, err
		}
	}
	return line, nil
}

// says waits until the server's answer to a command holds all of the texts.
func (r Redis) says(t testing.TB, command string, texts ...string) {
	t.Helper()
	r.life.running.await(t, func() error {
		answer, err := r.ask(command)
		for _, text := range texts {
			if err == nil && !strings.Contains(answer, text) {
				err = errors.New(command + " does not say " + text)
			}
		}
		return err
	})
}

// awaitLink waits until a replica has the data of its primary: before that, it would never
// take over.
func (r Redis) awaitLink(t testing.TB) {
	t.Helper()
	r.says(t, "INFO replication", "role:slave", "master_link_status:up")
}

// offsets finds how much a primary has written, and how much each replica has of that.
var offsets = regexp.MustCompile(`(?m)(?:^slave\d+:.*offset|^master_repl_offset)[=:](\d+)`)

// AwaitCopies waits until each replica of the primary r has all that clients have written
// to r so far: Redis answers clients before that. It needs at least one replica.
func (r Redis) AwaitCopies(t testing.TB) {
	t.Helper()
	r.life.running.await(t, func() error {
		answer, err := r.ask("INFO replication")
		if err != nil {
			return err
		}
		found := offsets.FindAllStringSubmatch(answer, -1)
		for _, offset := range found {
			if len(found) < 2 || offset[1] != found[0][1] {
				return errors.New("a replica is behind")
			}
		}
		return nil
	})
}
