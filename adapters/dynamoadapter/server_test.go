package dynamoadapter_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkeyhq/latchkey/adapters/dynamoadapter"
)

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// newServer starts dynalite, which ends with the test, and returns its URL.
func newServer(t testing.TB) string {
	t.Helper()
	for range 5 {
		if url := tryServer(t, freePort(t)); url != "" {
			return url
		}
	}
	t.Fatal("dynalite does not start")
	return ""
}

// tryServer is empty if somebody else was faster with the port.
func tryServer(t testing.TB, port string) string {
	t.Helper()
	c := exec.CommandContext(context.WithoutCancel(t.Context()), installed(t), "node_modules/dynalite/cli.js", "--host", "127.0.0.1", "--port", port, "--createTableMs", "0", "--deleteTableMs", "0")
	c.Dir = "js"
	out, err := c.StdoutPipe()
	ok(t, err)
	ok(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	said := bufio.NewScanner(out)
	if said.Scan() && strings.Contains(said.Text(), "listening") {
		return "http://127.0.0.1:" + port
	}
	return ""
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	ok(t, err)
	return port
}

// installed finds node and the packages of the lock file.
func installed(t testing.TB) (node string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat("js/node_modules/@auth/dynamodb-adapter")
	}
	switch {
	case err == nil:
		return node
	case os.Getenv("LATCHKEY_REQUIRE_SERVERS") == "1":
		t.Fatalf("run `npm ci` in adapters/dynamoadapter/js: %v", err)
	}
	t.Skipf("run `npm ci` in adapters/dynamoadapter/js: NOTHING WAS TESTED: %v", err)
	return ""
}

// newClient returns a client whose requests go through transport; nil: the usual.
func newClient(url string, transport http.RoundTripper) *dynamodb.Client {
	if transport == nil {
		transport = &http.Transport{MaxIdleConnsPerHost: 100}
	}
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &url, HTTPClient: &http.Client{Transport: transport},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = 20 * time.Millisecond }),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "x", SecretAccessKey: "y"}, nil
		}),
	})
}

var tables atomic.Int64

func tableName() string { return fmt.Sprint("latchkey-", tables.Add(1)) }

// newTable makes an empty table.
func newTable(t testing.TB, c *dynamodb.Client) string {
	t.Helper()
	table := tableName()
	ok(t, dynamoadapter.Migrate(t.Context(), c, table))
	return table
}

func newAdapter(t testing.TB, c dynamoadapter.Client, table string) *dynamoadapter.Adapter {
	t.Helper()
	a, err := dynamoadapter.New(c, table, dynamoadapter.Options{})
	ok(t, err)
	return a
}
