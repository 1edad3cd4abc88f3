package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
)

// patience is how long a program of the other side or a browser's window may live,
// npm included, on a busy machine. A test that waits for one that hangs fails then.
var patience = race.Patience(10 * time.Minute)

// peer is a Node.js program that reads and writes one JSON value a line.
type peer struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
}

// startPeer starts a script of folder. It ends with the test, and with the test
// binary however that ends.
func startPeer(t *testing.T, folder, script string, args ...string) *peer {
	t.Helper()
	node := installed(t, folder)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	cmd := exec.CommandContext(ctx, node, append([]string{script}, args...)...)
	cmd.Dir, cmd.SysProcAttr = folder, dieWithParent()
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	in, err := cmd.StdinPipe()
	ok(t, err)
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("%s/%s said:\n%s", folder, script, complaints.Bytes())
		}
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	return &peer{t, in, lines}
}

// hear reads the next line into answer.
func (p *peer) hear(answer any) {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("the peer ended: %v", p.out.Err())
	}
	ok(p.t, json.Unmarshal(p.out.Bytes(), answer))
}

// ask sends a question and reads the answer to it.
func (p *peer) ask(question, answer any) {
	p.t.Helper()
	_, err := p.in.Write(append(asJSON(p.t, question), '\n'))
	ok(p.t, err)
	p.hear(answer)
}

// url is the first line of a peer that is a server.
func (p *peer) url() string {
	p.t.Helper()
	var first struct{ URL string }
	p.hear(&first)
	return first.URL
}

// installed finds node, and installs the packages of folder where that has not
// been done.
func installed(t *testing.T, folder string) (node string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "install Node.js 20 or later: %v", err)
	}
	if isInstalled(folder) {
		return node
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "ci", "--silent")
	npm.Dir, npm.SysProcAttr = folder, dieWithParent()
	if out, err := npm.CombinedOutput(); err != nil {
		missing(t, "run `npm ci` in internal/interop/%s: %v\n%s", folder, err, out)
	}
	return node
}

// isInstalled goes by the file that npm writes last, as scripts/setup does.
func isInstalled(folder string) bool {
	wanted, errW := os.Stat(filepath.Join(folder, "package-lock.json"))
	have, errH := os.Stat(filepath.Join(folder, "node_modules", ".package-lock.json"))
	return errW == nil && errH == nil && !have.ModTime().Before(wanted.ModTime())
}

// missing ends a test that lacks something, and says how to get it.
func missing(t *testing.T, cure string, args ...any) {
	t.Helper()
	if os.Getenv("LATCHKEY_REQUIRE_SERVERS") == "1" {
		t.Fatalf(cure, args...)
	}
	t.Skipf(cure, args...)
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func asJSON(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	ok(t, err)
	return raw
}
