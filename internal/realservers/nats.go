//go:build linux

package realservers

import (
	"bufio"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// NATS is a running NATS server with JetStream. What it keeps is in files.
type NATS struct {
	URL  string
	Name string
	life *life
}

// NewNATS starts an empty server. Settings are arguments of nats-server, such as
// "--config" and the path of a file.
func NewNATS(t testing.TB, settings ...string) NATS {
	t.Helper()
	return newNATS(t, freePort(t), "one", settings...)
}

// NewNATSCluster starts three empty servers that keep copies for each other.
// They need a moment to agree on a leader.
func NewNATSCluster(t testing.TB) []NATS {
	t.Helper()
	const size = 3
	p := FreePorts(t, 2*size)
	var nodes []NATS
	var routes []string
	for _, port := range p[size:] {
		routes = append(routes, "nats://"+local(port))
	}
	for i := range size {
		nodes = append(nodes, newNATS(t, p[i], "n"+strconv.Itoa(i),
			"--cluster_name", "latchkey", "--cluster", routes[i], "--routes", strings.Join(routes, ",")))
	}
	return nodes
}

// newNATS starts an empty server at a free port, with settings as in NewNATS.
func newNATS(t testing.TB, port int, name string, settings ...string) NATS {
	t.Helper()
	h := newHome(t, "nobody")
	h.as = nil // it runs as root, too
	argv := append([]string{tool(t, "nats-server"), "--addr", "127.0.0.1", "--port", strconv.Itoa(port), "--name", name, "--jetstream", "--store_dir", h.dir}, settings...)
	n := NATS{URL: "nats://" + local(port), Name: name, life: &life{}}
	n.life.start = func(t testing.TB) *server {
		t.Helper()
		s := h.serve(t, syscall.SIGTERM, argv...)
		s.await(t, func() error { return greets(local(port)) })
		return s
	}
	n.Restart(t)
	return n
}

// greets connects to addr and reads the line that a server begins with. It returns an error
// if there is none within five seconds.
func greets(addr string) error {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	_, err = bufio.NewReader(c).ReadString('\n')
	return err
}

// Crash kills the server, which tells no other server.
func (n NATS) Crash() { n.life.running.endBy(syscall.SIGKILL) }

// Stop ends the server as an administrator does: it hands over what it leads.
func (n NATS) Stop() { n.life.running.endBy(n.life.running.stop) }

// Restart starts a server that has ended, with what it kept.
func (n NATS) Restart(t testing.TB) {
	t.Helper()
	n.life.running = n.life.start(t)
}
