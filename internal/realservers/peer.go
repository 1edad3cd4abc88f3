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

// NewPeer starts peer.mjs of a folder whose packages are installed. It ends with
// the test.
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
	return &Peer{in, bufio.NewScanner(out)}
}

// NodeJS finds the program, and a package that has to be installed in a folder.
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

// Ask asks for a method. The result is what JSON makes of it; null is nil.
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

// Call is [Peer.Ask] in a test, for a record; nil: there is none.
func (p *Peer) Call(t testing.TB, method string, args ...any) map[string]any {
	t.Helper()
	result, err := p.Ask(method, args...)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := result.(map[string]any)
	return r
}
