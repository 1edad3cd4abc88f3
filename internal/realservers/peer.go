package realservers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Peer is a program of Node that is asked for one method after the other: a line
// {"method", "args"} on its standard input is answered by a line {"result"} or
// {"error"}. It may be used by one goroutine at a time.
type Peer struct {
	in  io.Writer
	out *bufio.Scanner
}

// NewPeer starts peer.mjs in folder, with args. The program ends with the test. If node, or
// the npm package pkg in folder, is not installed, the test skips or fails: see NodeJS.
func NewPeer(t testing.TB, folder, pkg string, args ...string) *Peer {
	t.Helper()
	c := exec.CommandContext(t.Context(), NodeJS(t, folder, pkg), append([]string{"--no-warnings", "peer.mjs"}, args...)...)
	c.Dir, c.Stderr = folder, os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	return &Peer{in: in, out: bufio.NewScanner(out)}
}

// NodeJS returns the path of the program node. If node, or the npm package pkg in folder, is
// not installed, the test skips, or fails if LATCHKEY_REQUIRE_SERVERS is 1.
func NodeJS(t testing.TB, folder, pkg string) (path string) {
	t.Helper()
	path, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(folder, "node_modules", filepath.FromSlash(pkg)))
	}
	if err == nil {
		return path
	}
	why := fmt.Sprintf("run `npm ci` in the test's folder %s: %v", folder, err)
	if os.Getenv("LATCHKEY_REQUIRE_SERVERS") == "1" {
		t.Fatal(why)
	}
	t.Skip(why + ": NOTHING WAS TESTED")
	return ""
}

// Ask calls a method of the program with args, which must be values for JSON, and returns
// its result as encoding/json decodes it into an any. An {"error"} of the program is an
// error.
func (p *Peer) Ask(method string, args ...any) (result any, err error) {
	line, err := json.Marshal(map[string]any{"method": method, "args": args})
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	if !p.out.Scan() {
		return nil, fmt.Errorf("%s: the peer ended: %w", method, p.out.Err())
	}
	var answer struct {
		Result any
		Error  string
	}
	err = json.Unmarshal(p.out.Bytes(), &answer)
	if err == nil && answer.Error != "" {
		err = fmt.Errorf("%s: %s", method, answer.Error)
	}
	return answer.Result, err
}

// Call calls a method as Ask does, and returns its result if that is an object, and nil
// otherwise. It fails the test if there is an error.
func (p *Peer) Call(t testing.TB, method string, args ...any) map[string]any {
	t.Helper()
	result, err := p.Ask(method, args...)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := result.(map[string]any)
	return r
}
