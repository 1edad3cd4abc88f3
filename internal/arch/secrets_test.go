package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/secret"
)

// written finds a secret in a program or in an environment.
var written = regexp.MustCompile(`(?:Secrets(?::| =| :=)\s*\[\]string\{"|Secrets = .*, \[\]string\{"|AUTH_SECRET=)([^"$…\s][^"\n]{31,})"`)

// TestSecretsOfGuides reads the secrets that guides, examples and public tests
// show. New warns whoever copies one of them into a site.
func TestSecretsOfGuides(t *testing.T) {
	found := 0
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && slices.Contains([]string{".git", "node_modules", "internal"}, e.Name()) {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(path); e.IsDir() || ext != ".go" && ext != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range written.FindAllStringSubmatch(string(text), -1) {
			found++
			if !secret.IsWorded(m[1]) {
				t.Errorf("%s: New does not warn of the secret %q", path, m[1])
			}
		}
		return err
	})
	if err != nil || found < 30 {
		t.Errorf("%d secrets found, error %v", found, err)
	}
}
