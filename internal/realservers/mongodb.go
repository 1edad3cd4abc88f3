//go:build linux

package realservers

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// MongoDB starts an empty server for clients of MongoDB and returns the gate in front of
// it. The server is FerretDB, which the go command builds if necessary. What it lacks
// beside MongoDB stands in docs/stores/mongodb.md.
func MongoDB(t testing.TB) *Gate {
	t.Helper()
	h := newHome(t, "nobody")
	h.as = nil // it runs as root, too
	binary := tool(t, "ferretdb")
	if err := os.Mkdir(h.dir+"/data", 0o700); err != nil {
		t.Fatal(err)
	}
	s := h.serve(t, syscall.SIGTERM, binary, h.dir+"/data")
	var host string
	s.await(t, func() error {
		text, err := os.ReadFile(h.dir + "/data/url")
		host = strings.TrimSuffix(strings.TrimPrefix(string(text), "mongodb://"), "/")
		return err
	})
	return newGate(t, host)
}

// tool returns the path of the program of internal/<name>, a module of its own. The go
// command builds it unless it is in the cache. If it does not build, the test skips, or
// fails if LATCHKEY_REQUIRE_SERVERS is 1.
func tool(t testing.TB, name string) (path string) {
	t.Helper()
	c := exec.Command("go", "tool", "-n", name)
	c.Dir = filepath.Join(workspace(t), "internal", name)
	c.Env = append(os.Environ(), "GOWORK=off")
	var failure strings.Builder
	c.Stderr = &failure
	out, err := c.Output()
	if err == nil {
		return strings.TrimSpace(string(out))
	}
	why := fmt.Sprintf("%s does not build: %v\n%s", name, err, failure.String())
	if os.Getenv("LATCHKEY_REQUIRE_SERVERS") == "1" {
		t.Fatal(why)
	}
	t.Skip(why + "NOTHING WAS TESTED")
	return ""
}

// workspace returns the folder of go.work, at or above the folder of the test that runs.
// The program itself does not know it: -trimpath takes the folder out of its file names.
func workspace(t testing.TB) string {
	t.Helper()
	start, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatalf("no go.work at or above %s", start)
		}
	}
}

// newGate starts a gate in front of the server at host, which has its port. The gate takes
// no more clients when the test has ended.
func newGate(t testing.TB, host string) *Gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &Gate{URL: "mongodb://" + l.Addr().String() + "/", host: host}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go g.serve(client)
		}
	}()
	return g
}
