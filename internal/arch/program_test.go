package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// pgxProgram uses one adapter and no other.
const pgxProgram = `package main

import (
	"context"
	"log"
	"net/http"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
)

func main() {
	pool, err := pgxpool.New(context.Background(), "")
	if err != nil {
		log.Fatal(err)
	}
	store, err := pgxadapter.New(pool, pgxadapter.Options{})
	if err != nil {
		log.Fatal(err)
	}
	auth, err := latchkey.New(latchkey.Config{Adapter: store})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(":3000", auth))
}
`

// pgxModules are what that program consists of, and mostBytes is its size on
// linux/amd64 without symbols, with some room: 16.5 MB are in docs/internals/performance.md.
var pgxModules = []string{
	"github.com/go-jose/go-jose/v4",
	"github.com/jackc/pgpassfile", "github.com/jackc/pgservicefile", "github.com/jackc/pgx/v5", "github.com/jackc/puddle/v2",
	core, core + "/adapters/pgxadapter",
	"golang.org/x/sync", "golang.org/x/text", "rsc.io/qr",
}

const mostBytes = 20_300_000 // pages, flows and texts in 15 languages of passwords, lost mailboxes and the passkeys offered beside them, mails, second factors and their loss, people and their own page, invitations, provider tokens and logout, the audit log, what explains a failure, used or not

// TestOneAdapterLinksNoOther builds the program: other stores, and what they share,
// cost those nothing who do not use them.
func TestOneAdapterLinksNoOther(t *testing.T) {
	watch(t, func(string) {})
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(pgxProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	beside := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "go", args...)
		c.Dir = filepath.Join(root, "adapters/pgxadapter")
		c.Env = append(os.Environ(), "GOWORK=off")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	beside("build", "-ldflags=-s -w", "-o", program, source)
	var modules []string
	for line := range strings.Lines(beside("version", "-m", program)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "dep" {
			modules = append(modules, words[1])
		}
	}
	if !slices.Equal(modules, pgxModules) {
		t.Errorf("the program consists of %v, want %v", modules, pgxModules)
	}
	for pkg := range strings.Lines(beside("list", "-deps", source)) {
		pkg = folder(strings.TrimSpace(pkg))
		if within(pkg, "./adapters/...") && !within(pkg, "./adapters/sqlstore/...") && pkg != "./adapters/pgxadapter" {
			t.Errorf("the program has %s", pkg)
		}
	}
	if f, err := os.Stat(program); err != nil {
		t.Error(err)
	} else if runtime.GOOS+runtime.GOARCH == "linuxamd64" && f.Size() > mostBytes {
		t.Errorf("the program has %d bytes, want at most %d", f.Size(), mostBytes)
	}
}
