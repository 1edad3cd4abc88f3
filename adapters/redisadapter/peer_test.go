package redisadapter_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
)

// peer is one of Auth.js' adapters in a process of its own.
type peer struct {
	in  io.Writer
	out *bufio.Scanner
}

type record = map[string]any

// newPeer starts "upstash" or "unstorage" on a server's socket.
func newPeer(t *testing.T, which, socket, prefix string) *peer {
	t.Helper()
	c := exec.CommandContext(t.Context(), installed(t), "peer.mjs", which, socket, prefix)
	c.Dir, c.Stderr = "js", os.Stderr
	in, err := c.StdinPipe()
	ok(t, err)
	out, err := c.StdoutPipe()
	ok(t, err)
	ok(t, c.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	return &peer{in, bufio.NewScanner(out)}
}

// installed finds node and the packages of the lock file.
func installed(t *testing.T) (node string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat("js/node_modules/@auth/upstash-redis-adapter")
	}
	switch {
	case err == nil:
		return node
	case os.Getenv("LATCHKEY_REQUIRE_SERVERS") == "1":
		t.Fatalf("run `npm ci` in adapters/redisadapter/js: %v", err)
	}
	t.Skipf("run `npm ci` in adapters/redisadapter/js: %v", err)
	return ""
}

// ask asks the peer for one method, whose answer may be anything.
func (p *peer) ask(t *testing.T, method string, args ...any) any {
	t.Helper()
	line, err := json.Marshal(record{"method": method, "args": args})
	ok(t, err)
	_, err = p.in.Write(append(line, '\n'))
	ok(t, err)
	if !p.out.Scan() {
		t.Fatalf("%s: the peer ended: %v", method, p.out.Err())
	}
	var answer struct {
		Result any
		Error  string
	}
	ok(t, json.Unmarshal(p.out.Bytes(), &answer))
	if answer.Error != "" {
		t.Fatalf("%s: %s", method, answer.Error)
	}
	return answer.Result
}

// call is ask for a record; nil: there is none.
func (p *peer) call(t *testing.T, method string, args ...any) record {
	t.Helper()
	r, _ := p.ask(t, method, args...).(record)
	return r
}
