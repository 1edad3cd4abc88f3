package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// staged is a Go file of a program that internal/hostile runs.
type staged struct {
	text     string
	literals []string          // every string in it
	decides  map[string]string // the functions that decide, by id, with their places
	items    []string          // what a fragment declares, as expressions
	makes    bool              // it calls latchkey.New, NewFunc or NewTenants
}

// edit replaces text[from:to].
type edit struct {
	from, to int
	text     string
}

// stager rewrites a Go file without moving its comments, which may be directives.
type stager struct {
	name, text string
	files      *token.FileSet
	imports    map[string]string // by the name in the file
	edits      []edit
	out        staged
	stack      []ast.Node
	marked     map[ast.Node]bool
	listens    bool // some file of the program calls ListenAndServe or Listen
}

// stage returns a file of a program, as package p, with internal/hostile in place of
// what makes and serves a site. Functions that decide by an address, a role, an invitation
// or an account note that they have run.
func stage(name, text string, listens bool) (staged, error) {
	s := &stager{name: name, text: text, files: token.NewFileSet(), imports: map[string]string{}, marked: map[ast.Node]bool{}, listens: listens}
	s.out.decides = map[string]string{}
	f, err := parser.ParseFile(s.files, name, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return s.out, err
	}
	for _, i := range f.Imports {
		full, _ := strconv.Unquote(i.Path.Value)
		short := path.Base(full)
		if i.Name != nil {
			short = i.Name.Name
		}
		s.imports[short] = full
	}
	s.replace(f.Name.Pos(), f.Name.End(), "p\n\nimport \""+core+"/internal/hostile\"\n")
	ast.Inspect(f, s.see)
	used := "\nvar _ = hostile.Ran\n"
	for short, use := range map[string]string{"latchkey": "var _ latchkey.User\n", "http": "var _ http.Handler\n", "net": "var _ net.Addr\n"} {
		if s.imports[short] != "" {
			used += use
		}
	}
	s.declare(f)
	slices.SortStableFunc(s.edits, func(a, b edit) int { return b.from - a.from })
	s.out.text = text
	for _, e := range s.edits {
		s.out.text = s.out.text[:e.from] + e.text + s.out.text[e.to:]
	}
	s.out.text += used
	return s.out, nil
}

func (s *stager) replace(from, to token.Pos, text string) {
	s.edits = append(s.edits, edit{s.files.Position(from).Offset, s.files.Position(to).Offset, text})
}

// see visits each node with the stack of those around it.
func (s *stager) see(n ast.Node) bool {
	if n == nil {
		s.stack = s.stack[:len(s.stack)-1]
		return true
	}
	s.stack = append(s.stack, n)
	switch n := n.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
			s.out.literals = append(s.out.literals, text)
		}
	case *ast.CallExpr:
		s.seeCall(n)
	case *ast.Ident:
		if sensitive.MatchString(n.Name) {
			s.seeDecision()
		}
	case *ast.FuncDecl:
		if n.Recv == nil && n.Name.Name == "main" {
			s.replace(n.Name.Pos(), n.Name.End(), "Main")
		}
	}
	return true
}

// seeCall puts internal/hostile in the place of what makes a site or serves it.
func (s *stager) seeCall(c *ast.CallExpr) {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	of, _ := sel.X.(*ast.Ident)
	pkg := ""
	if of != nil {
		pkg = s.imports[of.Name]
	}
	switch name := sel.Sel.Name; {
	case pkg == core && (name == "New" || name == "NewFunc" || name == "NewTenants"):
		s.out.makes = true
		s.replace(of.Pos(), of.End(), "hostile")
	case pkg == "net" && name == "Listen":
		s.replace(of.Pos(), of.End(), "hostile")
	case serves(s.imports, c) && (name != "Serve" || !s.listens):
		server := s.text[s.files.Position(sel.X.Pos()).Offset:s.files.Position(sel.X.End()).Offset]
		if pkg == "net/http" {
			server = "nil"
		}
		if len(c.Args) > 0 {
			server += ", "
		}
		s.replace(c.Pos(), c.Lparen+1, "hostile.Serve("+server)
	}
}

// serves reports whether a call serves a site until it ends.
func serves(imports map[string]string, c *ast.CallExpr) bool {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if of, ok := sel.X.(*ast.Ident); ok && imports[of.Name] != "" && imports[of.Name] != "net/http" {
		return false
	}
	switch sel.Sel.Name {
	case "ListenAndServe":
		return true
	case "Listen", "Serve":
		return len(c.Args) > 0
	case "Start", "Run": // of a framework, with an address
		if len(c.Args) == 0 {
			return false
		}
		at, ok := c.Args[0].(*ast.BasicLit)
		return ok && strings.Contains(at.Value, ":")
	}
	return false
}

// sensitive are names of what decides who somebody is and what they may do.
var sensitive = regexp.MustCompile(`(?i)email$|vouched|verified|role|invit|staff|admin|account|userid|subject`)

// seeDecision marks the innermost function around the identifier on top of the stack, if
// its value decides there: in a condition or a comparison, as a key, or in a call.
func (s *stager) seeDecision() {
	for i := len(s.stack) - 2; i >= 0; i-- {
		child := s.stack[i+1]
		switch n := s.stack[i].(type) {
		case *ast.KeyValueExpr:
			if n.Key == child {
				return
			}
		case *ast.CompositeLit:
			if n.Type == child {
				return
			}
		case *ast.Field, *ast.TypeSpec, *ast.ImportSpec, *ast.FuncType:
			return
		case *ast.FuncLit, *ast.FuncDecl, *ast.GenDecl:
			return
		case *ast.IfStmt:
			if n.Cond == child {
				s.markFunction(i)
				return
			}
		case *ast.SwitchStmt, *ast.CaseClause, *ast.IndexExpr:
			if _, isStmt := child.(ast.Stmt); !isStmt {
				s.markFunction(i)
				return
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ || n.Op == token.LAND || n.Op == token.LOR {
				s.markFunction(i)
				return
			}
		case *ast.CallExpr:
			if !s.onlySays(n) {
				s.markFunction(i)
				return
			}
		}
	}
}

// onlySays reports whether a call writes its arguments for people to read.
func (s *stager) onlySays(c *ast.CallExpr) bool {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := sel.X.(*ast.Ident)
	return ok && slices.Contains([]string{"fmt", "log", "slog"}, of.Name)
}

// markFunction makes the innermost function around stack[i] note that it has run. Tests
// are no programs.
func (s *stager) markFunction(i int) {
	for ; i >= 0; i-- {
		switch f := s.stack[i].(type) {
		case *ast.FuncLit:
			if id := s.mark(f, f.Body); id != "" {
				s.replace(f.Pos(), f.Pos(), "hostile.Fn("+strconv.Quote(id)+", ")
				s.replace(f.End(), f.End(), ")")
			}
			return
		case *ast.FuncDecl:
			if f.Body != nil && !strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "main" && !strings.Contains(s.text, "latchkeytest.") {
				s.mark(f, f.Body)
			}
			return
		}
	}
}

func (s *stager) mark(f ast.Node, body *ast.BlockStmt) string {
	if s.marked[f] {
		return ""
	}
	s.marked[f] = true
	if !s.meetsVisitors(f, body) {
		return ""
	}
	id := s.id(f)
	s.out.decides[id] = id
	s.replace(body.Lbrace+1, body.Lbrace+1, " hostile.Ran("+strconv.Quote(id)+"); ")
	return id
}

// visitors are types by which a function is told of a visitor.
var visitors = regexp.MustCompile(`\b(Request|ResponseWriter|Session|SignInAttempt|SignInEvent|TokenInfo|SessionInfo|Grant|User|Account|gin\.Context|echo\.Context|fiber\.Ctx)\b`)

// meetsVisitors reports whether a function is told of a visitor, or stands in one that is.
// Others are called by the application on its own.
func (s *stager) meetsVisitors(f ast.Node, body *ast.BlockStmt) bool {
	if visitors.MatchString(s.source(f.Pos(), body.Pos())) || strings.Contains(s.source(body.Pos(), body.End()), "SessionFrom(") {
		return true
	}
	for _, n := range s.stack {
		if around, ok := n.(*ast.FuncLit); ok && around != f && visitors.MatchString(s.source(around.Type.Params.Pos(), around.Type.Params.End())) {
			return true
		}
		if around, ok := n.(*ast.FuncDecl); ok && around != f && around.Name.Name != "_" && visitors.MatchString(s.source(around.Type.Params.Pos(), around.Type.Params.End())) {
			return true
		}
	}
	return false
}

// id names a function by its place.
func (s *stager) id(f ast.Node) string {
	place := s.files.Position(f.Pos())
	return fmt.Sprintf("%s:%d:%d", s.name, place.Line, place.Column)
}

func (s *stager) source(from, to token.Pos) string {
	return s.text[s.files.Position(from).Offset:s.files.Position(to).Offset]
}

// declare lists what the file declares, for fragments, and notes the functions that decide.
func (s *stager) declare(f *ast.File) {
	noted := ""
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && s.out.decides[s.id(d)] != "" && !strings.Contains(s.source(d.Recv.Pos(), d.Recv.End()), "[") {
				noted += fmt.Sprintf("\nvar _ = hostile.Fn(%q, (%s).%s)\n", s.id(d), s.source(d.Recv.List[0].Type.Pos(), d.Recv.List[0].Type.End()), d.Name.Name)
			}
			if d.Recv != nil || d.Type.TypeParams != nil || d.Name.Name == "main" || strings.HasPrefix(d.Name.Name, "Test") {
				continue
			}
			name := d.Name.Name
			if name == "_" {
				name = "statements"
				s.replace(d.Name.Pos(), d.Name.End(), name)
			}
			s.out.items = append(s.out.items, name)
			if s.out.decides[s.id(d)] != "" {
				noted += fmt.Sprintf("\nvar _ = hostile.Fn(%q, %s)\n", s.id(d), name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				v, ok := spec.(*ast.ValueSpec)
				if ok && d.Tok == token.VAR && len(v.Names) == 1 && v.Names[0].Name == "_" && len(v.Values) == 1 {
					s.replace(d.Pos(), v.Values[0].Pos(), "func literal() any { return ")
					s.replace(d.End(), d.End(), " }")
					s.out.items = append(s.out.items, "literal()")
				}
			}
		}
	}
	s.edits = append(s.edits, edit{len(s.text), len(s.text), noted})
}
