//go:build linux

package realservers

import (
	"net"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// DynamoDB starts an empty server for clients of Amazon DynamoDB and returns its
// URL. The server is dynalite, of the packages in adapters/dynamoadapter/js; what
// it lacks beside DynamoDB stands in docs/stores/dynamodb.md.
func DynamoDB(t testing.TB) (url string) {
	t.Helper()
	js := filepath.Join(workspace(t), "adapters/dynamoadapter/js")
	node, port := NodeJS(t, js, "dynalite"), freePort(t)
	h := newHome(t, "nobody")
	h.as = nil // it runs as root, too
	s := h.serve(t, syscall.SIGKILL, node, filepath.Join(js, "node_modules/dynalite/cli.js"),
		"--host", "127.0.0.1", "--port", strconv.Itoa(port), "--createTableMs", "0", "--deleteTableMs", "0")
	s.await(t, func() error {
		c, err := net.Dial("tcp", local(port))
		if err == nil {
			_ = c.Close()
		}
		return err
	})
	return "http://" + local(port)
}
