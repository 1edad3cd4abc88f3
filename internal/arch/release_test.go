package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// clone returns a repository of its own with scripts/release and scripts/tags, two
// modules, and a proof that does what its environment says.
func clone(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"scripts/release", "scripts/tags", "scripts/modules"} {
		write(t, filepath.Join(dir, name), read(t, filepath.Join(root, name)))
		if err := os.Chmod(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "scripts/check-release"), "#!/bin/sh\n[ -z \"$PROOF_FAILS\" ]\n")
	if err := os.Chmod(filepath.Join(dir, "scripts/check-release"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.work"), "go 1.26.0\n\nuse (\n\t.\n\t./mail\n\t./demo\n\t./examples/gin\n\t./mail/test\n)\n")
	write(t, filepath.Join(dir, "go.mod"), "module github.com/latchkeyhq/latchkey\n\ngo 1.26.0\n")
	replaced := "\n\ngo 1.26.0\n\nrequire github.com/latchkeyhq/latchkey v0.0.0\n\nreplace github.com/latchkeyhq/latchkey => ../\n"
	write(t, filepath.Join(dir, "mail/go.mod"), "module github.com/latchkeyhq/latchkey/mail"+replaced)
	for _, folder := range []string{"demo", "examples/gin", "mail/test"} {
		write(t, filepath.Join(dir, folder, "go.mod"), "module github.com/latchkeyhq/latchkey/"+folder+"\n\ngo 1.26.0\n")
	}
	write(t, filepath.Join(dir, "api/latchkey.txt"), "")
	write(t, filepath.Join(dir, "internal/arch/api_test.go"), "package arch\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestAPI(t *testing.T) {\n\tif os.Getenv(\"LISTS_STALE\") != \"\" {\n\t\tt.Fatal()\n\t}\n}\n")
	write(t, filepath.Join(dir, "CHANGELOG.md"), "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-12-01\n\n- It can.\n\n## 0.1.0 - 2026-11-24\n")
	inClone(t, dir, "git", "init", "--quiet", "--initial-branch=main")
	inClone(t, dir, "git", "config", "user.name", "Ada")
	inClone(t, dir, "git", "config", "user.email", "ada@example.com")
	inClone(t, dir, "git", "add", "--all")
	inClone(t, dir, "git", "commit", "--quiet", "--message", "all: begin")
	inClone(t, dir, "git", "tag", "v0.1.0")
	return dir
}

// inClone runs a command in a folder and returns what it printed.
func inClone(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	out, err := command(t, dir, nil, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

func command(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), append(env, "GOWORK=", "GOFLAGS=")...)
	out, err := c.CombinedOutput()
	return string(out), err
}

// TestReleaseTags: O-090. A release tags the modules that users can ask for, all on one
// commit without replace lines, and leaves the branch as it was.
func TestReleaseTags(t *testing.T) {
	dir := clone(t)
	before := inClone(t, dir, "git", "rev-parse", "main")
	out := inClone(t, dir, "scripts/release", "v0.2.0")
	if !strings.Contains(out, "git push --atomic origin v0.2.0 mail/v0.2.0") {
		t.Errorf("O-090 no push command: %s", out)
	}
	if tags := inClone(t, dir, "git", "tag", "--list", "--sort=refname"); tags != "mail/v0.2.0\nv0.1.0\nv0.2.0\n" {
		t.Errorf("O-090 tags: %q", tags)
	}
	if inClone(t, dir, "git", "rev-parse", "v0.2.0^{commit}") != inClone(t, dir, "git", "rev-parse", "mail/v0.2.0^{commit}") {
		t.Error("O-090 the tags are on two commits")
	}
	if mod := inClone(t, dir, "git", "show", "v0.2.0:mail/go.mod"); strings.Contains(mod, "replace") || !strings.Contains(mod, "latchkey v0.2.0") {
		t.Errorf("O-090 mail/go.mod: %s", mod)
	}
	if after := inClone(t, dir, "git", "rev-parse", "main"); after != before || inClone(t, dir, "git", "status", "--porcelain") != "" ||
		inClone(t, dir, "git", "symbolic-ref", "--short", "HEAD") != "main\n" {
		t.Error("O-090 the branch is not as it was")
	}
}

// TestReleaseRefusals: O-092. What stands in the way of a release is said with its cure,
// before anything is tagged.
func TestReleaseRefusals(t *testing.T) {
	dir := clone(t)
	before := inClone(t, dir, "git", "rev-parse", "main")
	changelog := read(t, filepath.Join(dir, "CHANGELOG.md"))
	for _, row := range []struct {
		name, version string
		prepare       func()
		env           []string
		says          string
	}{
		{"two numbers", "0.2", nil, nil, "usage"},
		{"four numbers", "v1.2.3.4", nil, nil, "usage"},
		{"an existing version", "v0.1.0", nil, nil, "never tagged twice"},
		{"an older version", "v0.0.9", nil, nil, "not above v0.1.0"},
		{"no heading in the changelog", "v0.3.0", nil, nil, "no heading '## 0.3.0 - "},
		{"a dirty tree", "v0.2.0", func() { write(t, filepath.Join(dir, "more.txt"), "") }, nil, "not committed"},
		{"another branch", "v0.2.0", func() { inClone(t, dir, "git", "switch", "--quiet", "--create", "other") }, nil, "branch main"},
		{"something is unreleased", "v0.2.0", func() {
			write(t, filepath.Join(dir, "CHANGELOG.md"), strings.Replace(changelog, "## Unreleased\n", "## Unreleased\n\n- More.\n", 1))
			inClone(t, dir, "git", "commit", "--quiet", "--all", "--message", "docs: more")
		}, nil, "under Unreleased"},
		{"stale lists", "v0.2.0", nil, []string{"LISTS_STALE=1"}, "make api"},
		{"the proof fails", "v0.2.0", nil, []string{"PROOF_FAILS=1"}, "the proof failed"},
		{"a tag of one module exists", "v0.2.0", func() { inClone(t, dir, "git", "tag", "mail/v0.2.0") }, nil, "already exists"},
	} {
		t.Run("O-092 "+row.name, func(t *testing.T) {
			if row.prepare != nil {
				row.prepare()
			}
			tags := inClone(t, dir, "git", "tag", "--list")
			branch := inClone(t, dir, "git", "symbolic-ref", "--short", "HEAD")
			out, err := command(t, dir, row.env, "scripts/release", row.version)
			if err == nil || !strings.Contains(out, row.says) {
				t.Errorf("error %v, says %q, want %q", err, out, row.says)
			}
			if got := inClone(t, dir, "git", "tag", "--list"); got != tags {
				t.Errorf("tags are %q, want %q", got, tags)
			}
			if got := inClone(t, dir, "git", "symbolic-ref", "--short", "HEAD"); got != branch {
				t.Errorf("the branch is %q, want %q", got, branch)
			}
			inClone(t, dir, "git", "clean", "--force", "--quiet", "-d")
			inClone(t, dir, "git", "switch", "--quiet", "--force", "main")
			inClone(t, dir, "git", "reset", "--quiet", "--hard", strings.TrimSpace(before))
		})
	}
}
