package interop

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTypes compiles a program that uses the browser client by its types.
func TestTypes(t *testing.T) {
	node := installed(t, "typescript")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tsc := exec.CommandContext(ctx, node, filepath.Join("node_modules", "typescript", "bin", "tsc"), "--project", ".")
	tsc.Dir, tsc.SysProcAttr = "typescript", dieWithParent()
	if out, err := tsc.CombinedOutput(); err != nil {
		t.Errorf("R-421: %v\n%s", err, out)
	}
}
