package arch

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/hostile"
	"github.com/latchkeyhq/latchkey/internal/race"
)

// program is what TestGuidesGiveNothingAway runs: the files of a folder, or a block of a
// page.
type program struct {
	name   string // a package of the staged module
	source string // where it comes from, for messages
	files  []staged
	folder string // with the files that it embeds; empty: none
	lacks  bool   // a main: it is a fragment
}

// TestGuidesGiveNothingAway runs every program of README.md, the guides, examples and demo
// against providers that bring an unproven address of another user, a changed sub with
// the same address, and the sub of another tenant. In each of these worlds an intruder sees
// what an unrelated visitor sees in the same place, or is not let in: no role, no invitation
// and no account is given away. No program writes to an unproven address, or keeps something
// by one. What a function of Events has failed to do is done at the next sign-in. The test
// knows of no pattern. It notices a program that it
// does not know how to run, since every function that decides by an address, a role, an
// invitation or an account has to run. By day it leaves out programs that decide nothing, and by
// night those of them that need a server.
func TestGuidesGiveNothingAway(t *testing.T) {
	list := guidePrograms(t)
	if len(list) < 40 {
		t.Errorf("only %d programs were found", len(list))
	}
	if os.Getenv("LATCHKEY_STEPS") == "" { // by night all of them
		list = slices.DeleteFunc(list, func(p program) bool { return !p.decides() })
	}
	list = slices.DeleteFunc(list, func(p program) bool { return p.needsServer() && !p.decides() })
	safe := len(list)
	for i, text := range unsafePrograms {
		list = append(list, blockProgram(t, "unsafe.md", block{i, text}))
	}
	for i, faults := range runAgainstAll(t, list) {
		for _, fault := range faults {
			if i < safe {
				t.Errorf("R-587 %s: %s", list[i].source, fault)
			}
		}
		if i >= safe && len(faults) == 0 {
			t.Errorf("R-587 this program gives something away, and the test does not notice:\n%s", unsafePrograms[i-safe])
		}
	}
}

// unsafePrograms are patterns that give something away: roles, invitations, accounts and
// passwords by an address that the user has not proven, mails to it, and a role by a sub of
// any issuer. The last one depends on one call of a function of Events, whose error is only
// logged. Guides had five of them before.
var unsafePrograms = []string{
	`Callbacks: latchkey.Callbacks{
	Session: func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
		if r.Session.User.Email == "ada@example.com" {
			r.Session.Extra = latchkey.Claims{"role": "admin"}
		}
		return r.Session, nil
	},
},
`,
	`Callbacks: latchkey.Callbacks{
	SignIn: func(_ context.Context, a latchkey.SignInAttempt) error {
		if !invited(a.User.Email) {
			return latchkey.ErrAccessDenied
		}
		return nil
	},
},
`,
	`Callbacks: latchkey.Callbacks{
	Token: func(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
		if t.Account != nil {
			t.Claims["role"] = roleOfAccount("issuer", t.Account.ProviderAccountID)
		}
		return t.Claims, nil
	},
	Session: func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
		r.Session.Extra = latchkey.Claims{"role": r.Claims["role"]}
		return r.Session, nil
	},
},
`,
	`&latchkey.OAuth{ID: "acme", OIDC: true, AllowDangerousEmailAccountLinking: true, TrustUnverifiedEmail: true}
`,
	`func authorized(_ *http.Request, s *latchkey.Session) error {
	if s == nil {
		return latchkey.ErrNoSession
	}
	if !invited(s.User.Email) {
		return latchkey.ErrAccessDenied
	}
	return nil
}
`,
	`Events: latchkey.Events{
	CreateUser: func(ctx context.Context, u latchkey.User) error {
		return queue.Put(ctx, u.Email, "Welcome", "Hello, "+u.Name, "")
	},
},
`,
	`func setPassword(auth *latchkey.Auth, store func(email, userID string) error) http.Handler {
	return auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, err := auth.CurrentUser(r.Context())
		if err == nil {
			err = store(u.Email, u.ID)
		}
		if err != nil {
			auth.WriteError(w, r, err)
		}
	}))
}
`,
	`func closed(store storage.Adapter, mail latchkey.Provider, join func(ctx context.Context, userID, team string) error) (*latchkey.Auth, error) {
	return latchkey.New(latchkey.Config{
		Site:        latchkey.Site{URL: "https://shop.example"},
		Adapter:     store,
		Providers:   []latchkey.Provider{mail},
		Invitations: true,
		Events: latchkey.Events{SignIn: func(ctx context.Context, e latchkey.SignInEvent) error {
			if e.Invitation == nil {
				return nil
			}
			return join(ctx, e.User.ID, e.Invitation.Data)
		}},
	})
}
`,
}

// guidePrograms stages all programs.
func guidePrograms(t *testing.T) (list []program) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(root, "examples", "*"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, dir := range append(dirs, filepath.Join(root, "demo")) {
		if p, ok := folderProgram(t, dir, shown); ok {
			list = append(list, p)
		}
	}
	pages := guides(t)
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		for _, b := range goBlocks(pages[page]) {
			if shown[b.text] {
				continue
			}
			if p := blockProgram(t, page, b); !p.lacks || p.decides() {
				list = append(list, p)
			}
		}
	}
	return list
}

// folderProgram stages the Go files of a folder, and notes what its page may show.
func folderProgram(t *testing.T, dir string, shown map[string]bool) (p program, ok bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
	if len(files) == 0 {
		return p, false
	}
	where, _ := filepath.Rel(root, dir)
	p = program{name: "p_" + strings.ReplaceAll(filepath.ToSlash(where), "/", "_"), source: filepath.ToSlash(where), folder: dir}
	listens := false
	for _, file := range files {
		listens = listens || listensIn(t, read(t, file))
	}
	for _, file := range files {
		text := read(t, file)
		if at := strings.Index(text, "package main\n"); at >= 0 {
			shown[text[at:]] = true
		}
		p.add(t, filepath.ToSlash(where)+"/"+filepath.Base(file), text, listens)
	}
	return p, true
}

// blockProgram stages a block of a page.
func blockProgram(t *testing.T, page string, b block) program {
	t.Helper()
	text, err := b.file()
	if err != nil {
		t.Fatalf("%s:%d: %v", page, b.line, err)
	}
	name := strings.NewReplacer("/", "_", "-", "_", ".", "_").Replace(strings.ToLower(page))
	p := program{name: fmt.Sprintf("b_%s_%d", name, b.line), source: fmt.Sprintf("%s:%d", page, b.line)}
	p.lacks = !strings.Contains(text, "\nfunc main() {")
	p.add(t, p.source, strings.Replace(text, given, stagedGiven, 1), listensIn(t, text))
	return p
}

// decides reports whether a function of p decides who may do what.
func (p program) decides() bool {
	return slices.ContainsFunc(p.files, func(f staged) bool { return len(f.decides) > 0 })
}

// needsServer reports whether p is a program of examples that runs on PostgreSQL alone,
// which the worlds do not have. Its own test signs in there.
func (p program) needsServer() bool {
	return p.folder != "" && p.imports("github.com/jackc/pgx/v5/pgxpool") && !p.imports("modernc.org/sqlite")
}

func (p *program) add(t *testing.T, name, text string, listens bool) {
	t.Helper()
	f, err := stage(name, text, listens)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	p.files = append(p.files, f)
}

func listensIn(t *testing.T, text string) (found bool) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && serves(map[string]string{"net": "net"}, c) && c.Fun.(*ast.SelectorExpr).Sel.Name != "Serve" {
			found = true
		}
		return true
	})
	return found
}

// stagedGiven is what a reader of a fragment has, as given, with rights that belong to
// the victim alone.
const stagedGiven = `
var (
	auth    *latchkey.Auth
	adapter storage.Adapter
	db      *sql.DB
	userID  string
	server  = new(http.Server)
	send    func(context.Context, latchkey.Message) error = hostile.Send
	queue   hostile.Queue
	mystore interface{ New(*sql.DB) storage.Adapter }

	mailUser      = hostile.MailUser
	invited       = hostile.Invited
	roleOf        = hostile.RoleOf
	roleOfAccount = hostile.RoleOfAccount
	newApp        = hostile.NewApp
	newFiberApp   func(*latchkey.Auth) *fiber.App
	emptyDatabase func(*testing.T) *sql.DB
)

func given() *latchkey.Auth {
	auth, adapter = hostile.Auth(), hostile.Adapter()
	return auth
}
`

// write puts the package of p into the module in dir.
func (p program) write(t *testing.T, dir string) {
	t.Helper()
	to := filepath.Join(dir, p.name)
	if p.folder != "" {
		if err := os.CopyFS(to, os.DirFS(p.folder)); err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []string{"*.go", "go.*", "*/*.go"} {
			drop, _ := filepath.Glob(filepath.Join(to, pattern))
			for _, file := range drop {
				_ = os.Remove(file)
			}
		}
	}
	items := []string{}
	for i, f := range p.files {
		write(t, filepath.Join(to, fmt.Sprintf("file%d.go", i)), f.text)
		items = append(items, f.items...)
	}
	if p.lacks {
		auth := "hostile.Auth()"
		if strings.Contains(p.files[0].text, "\nfunc given() ") {
			auth = "given()"
			items = slices.DeleteFunc(items, func(name string) bool { return name == "given" })
		}
		write(t, filepath.Join(to, "main.go"), "package p\n\nimport \""+core+"/internal/hostile\"\n\nfunc Main() { hostile.Fragment("+
			strings.Join(append([]string{auth}, items...), ", ")+") }\n")
	}
}

// buildAll compiles the programs into one file, which saves linking each of them.
func buildAll(t *testing.T, list []program) string {
	t.Helper()
	dir := t.TempDir()
	text := "package main\n\nimport (\n\t\"" + core + "/internal/hostile\"\n"
	table := ""
	for _, p := range list {
		p.write(t, dir)
		text += "\t" + p.name + " \"" + core + "/staged/" + p.name + "\"\n"
		table += fmt.Sprintf("\t\t%q: {Main: %s.Main, Literals: %#v, Source: %q},\n", p.name, p.name, p.literals(), p.source)
	}
	write(t, filepath.Join(dir, "main.go"), text+")\n\nfunc main() {\n\thostile.Main(map[string]hostile.Program{\n"+table+"\t})\n}\n")
	own := "go 1.26.0\n\nuse .\n"
	for _, module := range strings.Fields(goCommand(t, "list", "-m", "-f", "{{.Dir}}")) {
		own += "use " + strconv.Quote(filepath.ToSlash(module)) + "\n"
	}
	write(t, filepath.Join(dir, "go.work"), own)
	if sums, err := os.ReadFile(strings.TrimSpace(goCommand(t, "env", "GOWORK")) + ".sum"); err == nil {
		write(t, filepath.Join(dir, "go.work.sum"), string(sums))
	}
	write(t, filepath.Join(dir, "go.mod"), "module "+core+"/staged\n\ngo 1.26.0\n")
	binary := filepath.Join(dir, "staged.exe")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", binary, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

func (p program) imports(pkg string) bool {
	return slices.ContainsFunc(p.files, func(f staged) bool { return strings.Contains(f.text, strconv.Quote(pkg)) })
}

func (p program) literals() (all []string) {
	for _, f := range p.files {
		all = append(all, f.literals...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var mailPattern = regexp.MustCompile(`^([\w.+-]*)@([\w-]+\.[\w.-]+)$`)

// addresses returns the e-mail addresses that the program may decide by.
func (p program) addresses() (list []string) {
	for _, text := range p.literals() {
		if m := mailPattern.FindStringSubmatch(text); m != nil {
			if m[1] == "" {
				m[1] = "ada"
			}
			list = append(list, strings.ToLower(m[1]+"@"+m[2]))
		}
	}
	if len(list) == 0 {
		list = []string{"ada@example.com"}
	}
	return list[:min(len(list), 3)]
}

// runAgainstAll runs each program in each world and returns what it gave away.
func runAgainstAll(t *testing.T, list []program) [][]string {
	t.Helper()
	watch(t, func(string) {})
	alone := func(p program) bool { return p.imports("github.com/glebarez/sqlite") } // registers a driver that others register, too
	var apart []program
	for _, p := range list {
		if alone(p) {
			apart = append(apart, p)
		}
	}
	together := buildAll(t, slices.DeleteFunc(slices.Clone(list), alone))
	other := ""
	if len(apart) > 0 {
		other = buildAll(t, apart)
	}
	var all sync.WaitGroup
	found := make([][]string, len(list))
	places := make(chan int)
	for range 2 {
		all.Go(func() {
			for i := range places {
				binary := together
				if alone(list[i]) {
					binary = other
				}
				found[i] = list[i].attack(t, binary)
			}
		})
	}
	for i := range list {
		places <- i
	}
	close(places)
	all.Wait()
	return found
}

// attack plays every world on p, and returns what it gave away and what has not run.
func (p program) attack(t *testing.T, binary string) (faults []string) {
	todo, makes := map[string]bool{}, false
	for _, f := range p.files {
		for id := range f.decides {
			todo[id] = true
		}
		makes = makes || f.makes
	}
	for _, address := range p.addresses() {
		reports, err := p.play(t, binary, address)
		if err != nil {
			return append(faults, err.Error())
		}
		for _, world := range slices.Sorted(maps.Keys(reports)) {
			for _, id := range reports[world].Ran {
				delete(todo, id)
			}
			for _, fault := range reports[world].Faults {
				faults = append(faults, world+", "+address+": "+fault)
			}
			if makes && !p.lacks && world == "stranger" && !reports[world].VictimIn {
				faults = append(faults, "in the world "+world+" the victim "+address+" cannot sign in")
			}
		}
		for world, plain := range hostile.Worlds {
			if r := reports[world]; plain != "" && r.In {
				if gained := difference(reports[plain].Log, r.Log); gained != "" {
					faults = append(faults, fmt.Sprintf("world %s, %s: %s", world, address, gained))
				}
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(todo)) {
		faults = append(faults, "the function at "+id+" decides, and this test does not know how to run it")
	}
	return faults
}

// difference returns the first place where an intruder sees something else than a visitor
// without rights.
func difference(plain, intruder []string) string {
	for i := range max(len(plain), len(intruder)) {
		a, b := "nothing", "nothing"
		if i < len(plain) {
			a = plain[i]
		}
		if i < len(intruder) {
			b = intruder[i]
		}
		if a != b {
			return fmt.Sprintf("the intruder sees %.600s\nand a visitor without rights %.600s", b, a)
		}
	}
	return ""
}

// play runs p in every world.
func (p program) play(t *testing.T, binary, address string) (reports map[string]hostile.Report, err error) {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		return nil, err
	}
	dist, err := filepath.Abs(filepath.Join("testdata", "dist"))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(t.Context(), race.Patience(time.Minute))
	defer cancel()
	cmd := exec.CommandContext(ctx, binary)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // which shows where it hangs
	report := filepath.Join(dir, "report")
	cmd.Dir = dir
	cmd.Env = []string{
		"HOSTILE_PROGRAM=" + p.name, "HOSTILE_ADDRESS=" + address, "HOSTILE_REPORT=" + report, "HOSTILE_DIR=" + dir, "HOSTILE_DIST=" + dist,
		"HOME=" + dir, "TMPDIR=" + dir, "AUTH_SECRET=a secret for tests that is long enough", "AUTH_URL=http://localhost:3000",
		"AUTH_ACME_ISSUER=http://127.0.0.1:1", "LEGACY_URL=http://127.0.0.1:1", "GIN_MODE=release",
	}
	out, failure := cmd.CombinedOutput()
	text, err := os.ReadFile(report)
	if err != nil {
		return nil, fmt.Errorf("it did not run: %v\n%.3000s", failure, out)
	}
	return reports, json.Unmarshal(text, &reports)
}
