package interop

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"testing"
)

// recordedProviders has the definitions of Auth.js that package providers compares with
// its own.
const recordedProviders = "../../providers/testdata/authjs/definitions.json"

// TestProvidersOfAuthJS is R-574: the definitions that are compared with the catalogue are
// those of the installed Auth.js. LATCHKEY_WRITE=1 writes them.
func TestProvidersOfAuthJS(t *testing.T) {
	node := installed(t, "authjs")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "providers.mjs", "../../../providers/testdata")
	var complaints bytes.Buffer
	cmd.Dir, cmd.Stderr, cmd.SysProcAttr = "authjs", &complaints, dieWithParent()
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.Bytes())
	}
	if os.Getenv("LATCHKEY_WRITE") != "" {
		ok(t, os.WriteFile(recordedProviders, got, 0o600))
	}
	want, err := os.ReadFile(recordedProviders)
	ok(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what Auth.js has: run this test with LATCHKEY_WRITE=1, and look at the tables of docs/providers.md", recordedProviders)
	}
}
