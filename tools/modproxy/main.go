// Command modproxy packs tagged modules of a repository as the go command would, into a
// folder that serves as a module proxy (GOPROXY=file://…).
//
//	modproxy -repo . -out proxy v0.4.0 webauthn/v0.4.0
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("modproxy: ")
	repo := flag.String("repo", ".", "the `folder` of the repository")
	out := flag.String("out", "", "the `folder` of the proxy")
	most := flag.Int64("most", 0, "the `bytes` that the module at the root may have when packed; 0: any")
	flag.Parse()
	for _, tag := range flag.Args() {
		if err := pack(*repo, *out, tag, *most); err != nil {
			log.Fatalf("%s: %v", tag, err)
		}
	}
}

// pack writes the four files that a proxy answers with for the version of a tag.
func pack(repo, out, tag string, most int64) error {
	dir, version := path.Split(tag)
	dir = strings.TrimSuffix(dir, "/")
	mod, err := git(repo, "show", tag+":"+path.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	file, err := modfile.ParseLax("go.mod", mod, nil)
	if err != nil {
		return err
	}
	m := module.Version{Path: file.Module.Mod.Path, Version: version}
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	to := filepath.Join(out, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	when, err := git(repo, "log", "-1", "--format=%cI", tag)
	if err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(when)))
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": at.UTC()})
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info, version + ".mod": mod} {
		if err := os.WriteFile(filepath.Join(to, name), content, 0o644); err != nil {
			return err
		}
	}
	size, err := packZip(filepath.Join(to, version+".zip"), m, repo, tag, dir)
	if err == nil && dir == "" && most > 0 && size > most {
		err = fmt.Errorf("the root module has %d bytes when packed, want at most %d", size, most)
	}
	return err
}

func packZip(name string, m module.Version, repo, tag, dir string) (size int64, err error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	if err := zip.CreateFromVCS(f, m, repo, tag, dir); err != nil {
		return 0, errors.Join(err, f.Close())
	}
	at, err := f.Stat()
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	return at.Size(), f.Close()
}

func git(repo string, args ...string) ([]byte, error) {
	c := exec.Command("git", args...)
	c.Dir = repo
	var failure strings.Builder
	c.Stderr = &failure
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(failure.String()))
	}
	return out, nil
}
