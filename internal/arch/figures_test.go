package arch

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"testing"
)

// budget bounds the root package for each delivery: functions that are bound to
// the request object (as receiver or parameter), exported names, lines, and files. A later
// line adds to those before it. A line changes together with its reason.
var budget = []struct {
	delivery                   string
	bound, names, lines, files int
}{
	{"floor", 120, 155, 12_800, 85},
	// Each flow records what it sent and demands it back, sign-ins are compared with
	// the instant at which a user's sessions ended, and headers are written late.
	{"one instant, sealed kinds, demanded answers", 0, 0, 600, 0},
	// Each of these has at most three files of at most 350 lines, and a few lines in
	// the files that exist: fields of Config, entries of tables.
	// Passwords and factors have four more: what users fill in, the provider and the pages
	// in one file would make a cycle with the configuration.
	// Another proof in a session has a file of its own; guards, the account page and
	// callbacks of providers ask for it.
	{"passwords, factors, step-up", 34, 50, 2_200, 8},
	// Acting as a user has a file of its own, and lines in both kinds of sessions.
	{"people", 10, 12, 850, 3},
	// The user's own page: profile, activity and export are a file of forms and answers.
	{"the user's own page", 3, 3, 250, 1},
	// Linking an account for its tokens, and logout at and from the provider, are a file
	// each; three routes answer providers, and the checks of their tokens are below the root.
	{"provider tokens and logout", 19, 20, 1_700, 5},
	{"operations", 6, 14, 1_000, 3},
	// A failure is named where it happens, and shown and kept where a request ends. What
	// other deliveries took has used up the place of operations.
	{"reference codes and audit log", 3, 0, 250, 1},
	// The audit log in the store has its settings beside Events, and lists in audit.go.
	{"audit log in the store", 0, 0, 230, 0},
	// An ID token that a script or a native app brings needs a file of its own: it is
	// another way through the callback than a flow.
	{"ID tokens from scripts and native apps", 4, 0, 150, 1},
	// The removal of lost factors after a delay has pages, mails and a cookie, which no
	// file about second factors has room for: it would pass the 350 lines.
	{"lost second factors", 4, 0, 270, 1},
	// Tokens of sites without a database live in a cookie: AccessToken reads and sets it, and
	// a sign-in fills it. The rest is in internal/tokenjar.
	{"provider tokens in a cookie", 0, 0, 150, 0},
	// Passkeys are offered after a password, codes move addresses, users may come in before
	// their address is proven, and a reset of factors is mailed: lines in files that exist.
	{"passkeys beside passwords, codes for addresses", 0, 0, 150, 0},
	// Addresses change on sites without passwords, too: lines in files that exist.
	{"changes of addresses without passwords", 0, 0, 90, 0},
	// Comments name every error, what zero values mean, and whom a pronoun stands for: that
	// takes more lines than the riddles did. No code is among them.
	// A second reader took half of signin.go for something else: what a function writes, and
	// when it returns nil, takes a line or two for each. A third one read all files. A fourth reader bet on each
	// comment before the body was open, and wrote down what had to be guessed. A fifth one compared each guess with the
	// code, and wrote down what was untrue or not said, as did two more, who knew the documentation alone.
	{"comments that a reader understands at once", 0, 0, 930, 0},
	// Guards of gRPC and Connect refuse what the configuration never lets anybody prove.
	{"proofs that no session has", 0, 0, 15, 0},
	// New refuses keys for tokens that are no secrets.
	{"keys that are no secrets", 0, 0, 8, 0},
	// A sign-in is recorded, and its former session ended, after its session is made; what
	// comes late is waited for at the shutdown, of each tenant; what ends all sessions needs
	// an adapter that lists them: lines in files that exist.
	{"what ends with a session, and what outlives it", 0, 0, 170, 0},
	// The tries of a code are given back when it was used up, in three flows, and after an
	// outage, as are those of what it is for; an event says why a code was wrong: lines in
	// files that exist.
	{"codes that were right", 0, 0, 20, 0},
	// New refuses a redirect proxy without a state: a case in a file that exists.
	{"a redirect proxy without a state", 0, 0, 5, 0},
	// New refuses a layout without the table of a required audit log: a case in a file that exists.
	{"the table of a required audit log", 0, 0, 2, 0},
	// A guard decides in one place whether a request is for a page of the application's own:
	// origin, whole path and query, and what stops a circle where it is in doubt.
	{"which request is for an own page", 3, 0, 60, 0},
	// Staff replaces the address of a user who has lost the mailbox: two kinds of mail, two
	// links, and what is mailed half-way, in files that exist.
	{"addresses of users who have lost the mailbox", 2, 0, 90, 0},
	// The account page shows and stops such a change, a former mailbox hears of more, and
	// there is a word for a mailbox that is gone: lines in files that exist.
	{"what a lost mailbox hears, and what stops its change", 0, 0, 60, 0},
	// Each list and map that New is handed is named where it is copied.
	{"copies of what New is handed", 0, 0, 30, 0},
	// What a client asks for is counted before it is known whether a mail leaves, and cookies
	// are added in place of earlier ones: a few lines in files that exist.
	{"mails that are counted alike, and cookies once", 0, 0, 20, 0},
	// With tenants the path of a request is remembered as it came, and what renews a session
	// is told from the other cookies of an answer: lines in files that exist.
	{"requests within requests of tenants", 0, 0, 40, 0},
	// What a provider calls a session after another proof there is written into the claims of
	// a JWT session, and into the row of a stored one: a function, and lines in files that exist.
	{"names of proofs at a provider", 0, 0, 30, 0},
	// Which visitors each page of Pages is for stands in one table, that New and guards read;
	// a refused post leads back to its form. Three questions more are asked of a request.
	{"own pages behind the guard of a whole site", 3, 0, 70, 0},
	// A session that was not ended is told to handlers, too: a branch in a file that exists.
	{"failures that handlers are told", 0, 0, 2, 0},
	// Users choose mailed codes on the account page, and give them up: a form and its answer,
	// in a file that exists.
	{"mailed codes that users choose", 2, 0, 40, 0},
	// A token is found in a form of any size, the routes of a configuration that is not known
	// yet are all that can be on, and two comments say what these checks answer.
	{"forms of any size, and routes of any configuration", 0, 0, 30, 0},
}

// What the root package may grow to.
const (
	mostFolderFiles = 141 // Go files in the folder, tests included
	mostCycle       = 12  // files that all depend on each other
	mostPath        = 25  // files from a callback's code to the session cookie
)

// pathStart and pathCalls are where the reading path begins, and what the calls
// through its interfaces mean there.
const pathStart = "exchange.callback"

var pathCalls = map[string]string{"preparedProvider.receive": "oauthProvider.receive", "sessionStrategy.open": "tokenStrategy.open"}

// TestFigures prints the figures of the root package and holds them to their
// bounds: go test ./internal/arch -run Figures -v
func TestFigures(t *testing.T) {
	p := loadRoot(t)
	lines := 0
	for _, f := range p.files {
		lines += p.set.Position(f.FileEnd).Line
	}
	inFolder, err := filepath.Glob(filepath.Join(root, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var bound, names, mostLines, mostFiles int
	for _, b := range budget {
		bound, names = bound+b.bound, names+b.names
		mostLines, mostFiles = mostLines+b.lines, mostFiles+b.files
	}
	path := p.readingPath()
	for _, f := range []struct {
		name      string
		got, most int
	}{
		{"functions bound to the request object", p.bound("exchange"), bound},
		{"exported names, aliases included", p.exported(), names},
		{"files", len(p.files), mostFiles},
		{"lines", lines, mostLines},
		{"Go files in the folder", len(inFolder), mostFolderFiles},
		{"files of the largest cycle", len(p.largestCycle()), mostCycle},
		{"files from a callback's code to the session cookie", len(path), mostPath},
	} {
		t.Logf("%-52s %6d of %d", f.name, f.got, f.most)
		if f.got > f.most {
			t.Errorf("%s: %d, want at most %d", f.name, f.got, f.most)
		}
	}
	t.Logf("the path: %v", path)
	t.Logf("the cycle: %v", p.largestCycle())
}

// bound counts the functions and methods that have the named type, or a pointer to
// it, as receiver or parameter.
func (p *rootPackage) bound(name string) (n int) {
	want := p.pkg.Scope().Lookup(name)
	is := func(v *types.Var) bool {
		t := v.Type()
		if pointer, ok := t.(*types.Pointer); ok {
			t = pointer.Elem()
		}
		named, ok := t.(*types.Named)
		return ok && named.Obj() == want
	}
	for _, f := range p.files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			s := p.info.Defs[fn.Name].Type().(*types.Signature)
			hit := s.Recv() != nil && is(s.Recv())
			for v := range s.Params().Variables() {
				hit = hit || is(v)
			}
			if hit {
				n++
			}
		}
	}
	return n
}

func (p *rootPackage) exported() (n int) {
	for _, name := range p.pkg.Scope().Names() {
		if token.IsExported(name) {
			n++
		}
	}
	return n
}

// largestCycle returns the largest set of files of which each uses, directly or by
// others, each other one (Tarjan's algorithm).
func (p *rootPackage) largestCycle() (largest []string) {
	uses := map[string][]string{}
	for _, a := range p.arrows {
		if !slices.Contains(uses[a.from], a.to) {
			uses[a.from] = append(uses[a.from], a.to)
		}
	}
	index, low := map[string]int{}, map[string]int{}
	var stack []string
	var visit func(file string)
	visit = func(file string) {
		index[file] = len(index) + 1
		low[file] = index[file]
		stack = append(stack, file)
		for _, next := range uses[file] {
			if index[next] == 0 {
				visit(next)
				low[file] = min(low[file], low[next])
			} else if slices.Contains(stack, next) {
				low[file] = min(low[file], index[next])
			}
		}
		if low[file] != index[file] {
			return
		}
		i := slices.Index(stack, file)
		if cycle := slices.Clone(stack[i:]); len(cycle) > len(largest) {
			largest = cycle
		}
		stack = stack[:i]
	}
	for _, file := range p.names {
		if index[file] == 0 {
			visit(file)
		}
	}
	return largest
}

// readingPath returns the files that hold the functions between a callback and the
// session cookie of an OpenID Connect sign-in with JWT sessions: those from which
// the call that sets the cookie, or the one that redeems the code, is reached.
func (p *rootPackage) readingPath() (files []string) {
	bodies := map[string]*ast.FuncDecl{}
	for _, f := range p.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				bodies[nameOf(p.info.Defs[fn.Name].(*types.Func))] = fn
			}
		}
	}
	seen := map[string]bool{}
	var read func(name string)
	read = func(name string) {
		if through := pathCalls[name]; through != "" {
			name = through
		}
		fn := bodies[name]
		if fn == nil || seen[name] {
			return
		}
		seen[name] = true
		if file := p.file(fn.Pos()); !slices.Contains(files, file) {
			files = append(files, file)
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if branch, ok := n.(*ast.IfStmt); ok && p.isFailure(branch.Cond) {
				if branch.Init != nil {
					ast.Inspect(branch.Init, p.eachCall(read))
				}
				ast.Inspect(branch.Cond, p.eachCall(read))
				return false // what follows a failure is not on the way to the cookie
			}
			return p.eachCall(read)(n)
		})
	}
	read(pathStart)
	slices.Sort(files)
	return files
}

// eachCall calls f for each function of the root that a node calls.
func (p *rootPackage) eachCall(f func(name string)) func(ast.Node) bool {
	return func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if fn, ok := p.calledBy(call).(*types.Func); ok && fn.Pkg() == p.pkg {
				f(nameOf(fn))
			}
		}
		return true
	}
}

func (p *rootPackage) calledBy(call *ast.CallExpr) types.Object {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return p.info.Uses[fun]
	case *ast.SelectorExpr:
		return p.info.Uses[fun.Sel]
	}
	return nil
}

// isFailure reports whether a condition is err != nil.
func (p *rootPackage) isFailure(cond ast.Expr) bool {
	b, ok := cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ {
		return false
	}
	left, isName := b.X.(*ast.Ident)
	right, isNil := b.Y.(*ast.Ident)
	return isName && isNil && right.Name == "nil" && left.Name == "err"
}

// nameOf returns Type.Method, or the name of a function.
func nameOf(fn *types.Func) string {
	recv := fn.Signature().Recv()
	if recv == nil {
		return fn.Name()
	}
	t := recv.Type()
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + fn.Name()
	}
	return fn.Name()
}
