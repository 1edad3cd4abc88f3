package arch

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFolders holds three lists together: the folders that have a go.mod or a
// lock file of npm, those of go.work, and those whose updates are asked for in
// .github/dependabot.yml.
func TestFolders(t *testing.T) {
	found := map[string][]string{}
	watch(t, func(path string) {
		kind := map[string]string{"go.mod": "gomod", "package-lock.json": "npm"}[filepath.Base(path)]
		if kind == "" {
			return
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		if dir == "docs" { // its go.mod keeps the guides out of the root module, and requires nothing
			return
		}
		found[kind] = append(found[kind], rooted(dir))
	})
	watched := dependabotFolders(read(t, filepath.Join(root, ".github/dependabot.yml")))
	for _, kind := range []string{"gomod", "npm"} {
		sameFolders(t, ".github/dependabot.yml, "+kind, watched[kind], found[kind])
	}
	// Programs for tests stay outside: their requirements would become everybody's.
	outside := []string{"/tools", "/internal/dex", "/internal/ferretdb", "/internal/nats-server"}
	users := slices.DeleteFunc(slices.Clone(found["gomod"]), func(dir string) bool { return slices.Contains(outside, dir) })
	sameFolders(t, "go.work", workFolders(t), users)
}

// dependabotFolders reads as much of the file as is needed, in the form it is
// written in: a folder has a line of its own.
func dependabotFolders(text string) map[string][]string {
	folders, kind := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if after, ok := strings.CutPrefix(line, "- package-ecosystem: "); ok {
			kind = after
		} else if strings.HasPrefix(line, "- /") {
			folders[kind] = append(folders[kind], strings.TrimPrefix(line, "- "))
		}
	}
	return folders
}

func workFolders(t *testing.T) (folders []string) {
	t.Helper()
	var work struct{ Use []struct{ DiskPath string } }
	if err := json.Unmarshal([]byte(goCommand(t, "work", "edit", "-json", filepath.Join(root, "go.work"))), &work); err != nil {
		t.Fatal(err)
	}
	for _, use := range work.Use {
		folders = append(folders, rooted(use.DiskPath))
	}
	return folders
}

// rooted spells a folder of the repository as dependabot does.
func rooted(dir string) string {
	return "/" + strings.TrimPrefix(filepath.ToSlash(filepath.Clean(dir)), ".")
}

func sameFolders(t *testing.T, list string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%s has the folders\n\t%s\nwant\n\t%s", list, strings.Join(got, " "), strings.Join(want, " "))
	}
}

func TestDependabotFolders(t *testing.T) {
	got := dependabotFolders("updates:\n  - package-ecosystem: gomod\n    directories:\n      - /\n      - /a/b\n    schedule: {}\n  - package-ecosystem: npm\n    directories:\n      - /c\n")
	if !slices.Equal(got["gomod"], []string{"/", "/a/b"}) || !slices.Equal(got["npm"], []string{"/c"}) || len(got) != 2 {
		t.Errorf("got %q", got)
	}
	for dir, want := range map[string]string{".": "/", "./mail": "/mail", "mail": "/mail", "adapters/x": "/adapters/x"} {
		if got := rooted(dir); got != want {
			t.Errorf("%s is spelt %s, want %s", dir, got, want)
		}
	}
}
