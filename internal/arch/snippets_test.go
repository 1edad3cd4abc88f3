package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestSnippets has go vet look at every Go block of README.md and of the guides in
// docs and its folders. A block
// that begins with a package clause is a program of its own, compiled as it
// stands; one of examples is compiled there, beside the files that it embeds.
// Any other is a fragment:
//
//   - What it imports is known by its name; see imported.
//   - Declarations stand at the top level of a file.
//   - Statements, which may return an error, are the body of a function that has
//     a ctx, a t, a w and an r. What they declare counts as used.
//   - A composite literal stands alone.
//   - Fields, "Name: value,", are those of a latchkey.Config.
//   - What a reader has before, such as auth, is known; see given.
func TestSnippets(t *testing.T) {
	work := strings.TrimSpace(goCommand(t, "env", "GOWORK"))
	if work == "" || work == "off" {
		t.Fatal("the blocks import several modules: run this test in the workspace, without GOWORK=off")
	}
	watch(t, func(string) {}) // what the blocks import
	dir, found, known := t.TempDir(), 0, examplePrograms(t)
	for page, text := range guides(t) {
		for _, b := range goBlocks(text) {
			if known[b.text] {
				found++
				continue
			}
			source, err := b.file()
			if err != nil {
				t.Errorf("%s:%d: %v", page, b.line, err)
				continue
			}
			found++
			name := strings.ReplaceAll(strings.TrimSuffix(strings.ToLower(page), ".md"), "/", "_")
			write(t, filepath.Join(dir, fmt.Sprintf("%s_line_%d", name, b.line), "snippet.go"), source)
		}
	}
	if found < 20 {
		t.Errorf("only %d Go blocks were found", found)
	}
	vetSnippets(t, work, dir)
}

// examplePrograms are the main files of examples, without their comments on top.
func examplePrograms(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "examples", "*", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, file := range files {
		text := read(t, file)
		known[text[strings.Index(text, "package main\n"):]] = true
	}
	return known
}

// vetSnippets makes dir a module of a workspace that has all of ours besides.
func vetSnippets(t *testing.T, work, dir string) {
	t.Helper()
	own := "go 1.26.0\n\nuse .\n"
	for _, module := range strings.Fields(goCommand(t, "list", "-m", "-f", "{{.Dir}}")) {
		own += "use " + strconv.Quote(filepath.ToSlash(module)) + "\n"
	}
	write(t, filepath.Join(dir, "go.work"), own)
	if sums, err := os.ReadFile(work + ".sum"); err == nil {
		write(t, filepath.Join(dir, "go.work.sum"), string(sums))
	}
	write(t, filepath.Join(dir, "go.mod"), "module snippets\n\ngo 1.26.0\n")
	vet := exec.CommandContext(t.Context(), "go", "vet", "-unreachable=false", "./...")
	vet.Dir, vet.Env = dir, append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"))
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// block is the Go text between two fences; line is that of the first one.
type block struct {
	line int
	text string
}

var fenced = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

func goBlocks(page string) (blocks []block) {
	for _, at := range fenced.FindAllStringSubmatchIndex(page, -1) {
		blocks = append(blocks, block{1 + strings.Count(page[:at[0]], "\n"), page[at[2]:at[3]]})
	}
	return blocks
}

// file makes the block a Go file.
func (b block) file() (string, error) {
	if strings.HasPrefix(b.text, "package ") {
		return b.text, nil
	}
	body, err := b.declarations()
	if err != nil {
		return "", err
	}
	text := "package snippet\n\n" + given + body
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	imports, seen := "", map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && imported[x.Name] != "" && !seen[x.Name] {
				seen[x.Name] = true
				imports += "import " + strconv.Quote(imported[x.Name]) + "\n"
			}
		}
		return true
	})
	return strings.Replace(text, "\n\n", "\n\n"+imports, 1), nil
}

// declarations wraps a fragment in what makes it declarations.
func (b block) declarations() (string, error) {
	if _, err := parseDecls(b.text); err == nil {
		return b.text, nil
	}
	if x, err := parser.ParseExpr(b.text); err == nil && isLiteral(x) {
		return "var _ = " + b.text, nil
	}
	if fields := regexp.MustCompile(`^[A-Z]\w*:`); fields.MatchString(b.text) {
		return "var _ = latchkey.Config{\n" + b.text + "}\n", nil
	}
	const head = "func _(ctx context.Context, t *testing.T, w http.ResponseWriter, r *http.Request) error {\n"
	f, err := parseDecls(head + b.text + "\n}\n")
	if err != nil {
		return "", fmt.Errorf("neither declarations nor statements, a literal or fields: %w", err)
	}
	used := ""
	for _, s := range f.Decls[0].(*ast.FuncDecl).Body.List {
		for _, name := range declared(s) {
			used += "_ = " + name + "\n"
		}
	}
	if used += "return nil\n"; strings.Contains(lastLine(b.text), "return ") {
		used = ""
	}
	return head + b.text + used + "}\n", nil
}

func parseDecls(text string) (*ast.File, error) {
	return parser.ParseFile(token.NewFileSet(), "", "package snippet\n"+text, parser.SkipObjectResolution)
}

func isLiteral(x ast.Expr) bool {
	if u, ok := x.(*ast.UnaryExpr); ok {
		x = u.X
	}
	_, ok := x.(*ast.CompositeLit)
	return ok
}

// declared are the variables that a statement declares.
func declared(s ast.Stmt) (names []string) {
	var idents []ast.Expr
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			idents = s.Lhs
		}
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, spec := range d.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					idents = append(idents, name)
				}
			}
		}
	}
	for _, x := range idents {
		if id, ok := x.(*ast.Ident); ok && id.Name != "_" {
			names = append(names, id.Name)
		}
	}
	return names
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// imported is what a fragment means by a name in front of a point.
var imported = map[string]string{
	"context": "context", "errors": "errors", "fmt": "fmt", "http": "net/http", "httptest": "net/http/httptest",
	"io": "io", "json": "encoding/json", "net": "net", "netip": "net/netip", "os": "os", "slog": "log/slog", "sql": "database/sql", "strings": "strings", "template": "html/template",
	"testing": "testing", "time": "time", "url": "net/url",
	"pbkdf2": "crypto/pbkdf2", "rand": "crypto/rand", "sha256": "crypto/sha256", "subtle": "crypto/subtle", "sync": "sync",

	"latchkey": core, "storage": core + "/storage", "event": core + "/event", "fault": core + "/fault", "passkey": core + "/passkey", "users": core + "/users", "jwt": core + "/jwt", "latchkeytest": core + "/latchkeytest", "storagetest": core + "/latchkeytest/storagetest", "frameworktest": core + "/latchkeytest/frameworktest", "mail": core + "/mail",
	"mailtext": core + "/mailtext", "memoryadapter": core + "/adapters/memoryadapter", "pgxadapter": core + "/adapters/pgxadapter",
	"config": "github.com/aws/aws-sdk-go-v2/config", "dynamodb": "github.com/aws/aws-sdk-go-v2/service/dynamodb", "dynamoadapter": core + "/adapters/dynamoadapter",
	"nats": "github.com/nats-io/nats.go", "jetstream": "github.com/nats-io/nats.go/jetstream", "natsadapter": core + "/adapters/natsadapter",
	"redis": "github.com/redis/go-redis/v9", "redisadapter": core + "/adapters/redisadapter",
	"providers": core + "/providers", "sqladapter": core + "/adapters/sqladapter", "sqlstore": core + "/adapters/sqlstore", "ui": core + "/ui", "templui": core + "/ui/templui",
	"password": core + "/password", "admin": core + "/admin", "frame": core + "/frame", "oauth2source": core + "/oauth2source",
	"webauthn": core + "/webauthn",
	"pgxpool":  "github.com/jackc/pgx/v5/pgxpool", "log": "log", "bytes": "bytes",
	"mongoadapter": core + "/adapters/mongoadapter", "mongo": "go.mongodb.org/mongo-driver/v2/mongo", "options": "go.mongodb.org/mongo-driver/v2/mongo/options",

	"ginauth": core + "/frameworks/ginauth", "echoauth": core + "/frameworks/echoauth", "fiberauth": core + "/frameworks/fiberauth",
	"gin": "github.com/gin-gonic/gin", "fiber": "github.com/gofiber/fiber/v3", "echo": "github.com/labstack/echo/v5", "chi": "github.com/go-chi/chi/v5", "mux": "github.com/gorilla/mux",
	"connectauth": core + "/frameworks/connectauth", "grpcauth": core + "/frameworks/grpcauth",
	"telemetry": core + "/telemetry", "latchkeyotel": core + "/otel",
	"connect": "connectrpc.com/connect", "grpc": "google.golang.org/grpc",
}

// given is what a reader of a fragment has.
const given = `
var (
	auth    *latchkey.Auth
	adapter storage.Adapter
	db      *sql.DB
	userID  string
	server  *http.Server
	send    func(context.Context, latchkey.Message) error
	queue   interface {
		Put(ctx context.Context, to, subject, text, html string) error
	}
	mystore interface{ New(*sql.DB) storage.Adapter }

	mailUser func(ctx context.Context, userID, text string) error

	invited       func(email string) bool
	roleOf        func(userID string) string
	roleOfAccount func(provider, providerAccountID string) string
	newApp        func(latchkey.Provider) http.Handler
	newFiberApp   func(*latchkey.Auth) *fiber.App
	emptyDatabase func(*testing.T) *sql.DB
)
`

func TestGoBlocks(t *testing.T) {
	page := "# A\n\n```go\na := 1\n```\n\n```sh\nls\n```\n\n```go\nb := 2\n\nc := 3\n```\n"
	want := []block{{3, "a := 1\n"}, {11, "b := 2\n\nc := 3\n"}}
	if got := goBlocks(page); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestFragments(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a program stays as it is", "package main\n\nfunc main() {}\n", "package main\n\nfunc main() {}\n"},
		{"declarations stay as they are", "func TestA(t *testing.T) {}\n", "func TestA(t *testing.T) {}\n"},
		{"what statements declare is used", "a, err := f()\nvar b int\n", "a, err := f()\nvar b int\n_ = a\n_ = err\n_ = b\nreturn nil\n}\n"},
		{"statements may end in a return", "err := f()\nreturn err\n", "err := f()\nreturn err\n}\n"},
		{"a call is a statement", "f()\n", "f()\nreturn nil\n}\n"},
		{"a literal", "&latchkey.Email{SameBrowser: true}\n", "var _ = &latchkey.Email{SameBrowser: true}\n"},
		{"fields are a Config's", "Hardened: true,\n", "var _ = latchkey.Config{\nHardened: true,\n}\n"},
		{"imports are added", "jwt.Decode()\n", `import "` + core + `/jwt"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := block{1, c.text}.file()
			if err != nil || !strings.Contains(got, c.want) {
				t.Errorf("%v\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
	if _, err := (block{1, "a := {\n"}).file(); err == nil {
		t.Error("what is no Go passes")
	}
}
