package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestDemoCompilesNoDriver: R-552, the first page of the demo waits for no driver of a
// server to be compiled.
func TestDemoCompilesNoDriver(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for pkg := range strings.Lines(string(out)) {
		for _, heavy := range []string{"github.com/redis/", "github.com/jackc/", "github.com/go-sql-driver/", "go.mongodb.org/", "github.com/aws/", "github.com/nats-io/"} {
			if strings.HasPrefix(pkg, heavy) {
				t.Errorf("R-552: the demo compiles %s", strings.TrimSpace(pkg))
			}
		}
	}
	if !strings.Contains(string(out), "modernc.org/sqlite") {
		t.Error("the demo has no store")
	}
}
