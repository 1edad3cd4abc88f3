package dynamoadapter_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// peer is Auth.js' adapter in a process of its own.
type peer struct {
	in  io.Writer
	out *bufio.Scanner
}

type record = map[string]any

// newPeer starts one with options of its own on a server.
func newPeer(t *testing.T, url string, options map[string]string) *peer {
	t.Helper()
	given, err := json.Marshal(options)
	ok(t, err)
	c := exec.CommandContext(t.Context(), installed(t), "--no-warnings", "peer.mjs", url, string(given))
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

// ask asks the peer for one method.
func (p *peer) ask(method string, args ...any) (record, error) {
	line, err := json.Marshal(record{"method": method, "args": args})
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	if err != nil {
		return nil, err
	}
	if !p.out.Scan() {
		return nil, fmt.Errorf("%s: the peer ended: %w", method, p.out.Err())
	}
	var answer struct {
		Result any
		Error  string
	}
	if err := json.Unmarshal(p.out.Bytes(), &answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("%s: %s", method, answer.Error)
	}
	r, _ := answer.Result.(record)
	return r, nil
}

// call is ask in a test; nil: there is none.
func (p *peer) call(t *testing.T, method string, args ...any) record {
	t.Helper()
	r, err := p.ask(method, args...)
	ok(t, err)
	return r
}
