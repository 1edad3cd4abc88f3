package arch

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// writeAPI is set by `make api`.
var writeAPI = flag.Bool("api", false, "write the lists of exported names in api/")

// untagged are the modules that get no tag: nobody can ask for them.
var untagged = []string{"./demo/...", "./examples/...", "./internal/...", "./adapters/sqladapter/test/...", "./otel/test/..."}

// TestAPI compares the exported names of every tagged module, with their types and
// values, with the lists in api/. A name that is new is written down by `make api`. One
// that goes or changes, and a method that implementers of an interface have to add, is
// named in CHANGELOG.md first.
func TestAPI(t *testing.T) {
	changes := read(t, filepath.Join(root, "CHANGELOG.md"))
	lists := apiLists(t)
	for name, lines := range lists {
		file := filepath.Join(root, "api", name)
		former := strings.FieldsFunc(readIfThere(file), func(r rune) bool { return r == '\n' })
		faults := apiFaults(former, lines, changes)
		for _, fault := range faults {
			t.Errorf("api/%s: %s", name, fault)
		}
		switch {
		case slices.Equal(former, lines):
		case !*writeAPI:
			t.Errorf("api/%s is stale (%s): run `make api`", name, firstDifference(former, lines))
		case len(faults) == 0:
			write(t, file, strings.Join(lines, "\n")+"\n")
		}
	}
	found, err := filepath.Glob(filepath.Join(root, "api", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		if _, known := lists[filepath.Base(file)]; !known {
			t.Errorf("api/%s is of no module: remove it", filepath.Base(file))
		}
	}
}

// firstDifference names the first line that only one of the lists has.
func firstDifference(former, lines []string) string {
	for _, line := range lines {
		if !slices.Contains(former, line) {
			return "+ " + line
		}
	}
	for _, line := range former {
		if !slices.Contains(lines, line) {
			return "- " + line
		}
	}
	return "order"
}

// apiLists returns the list of each tagged module, by the name of its file.
func apiLists(t *testing.T) map[string][]string {
	t.Helper()
	lists := map[string][]string{}
	for _, p := range packages(t) {
		if p.Name == "main" || strings.Contains(p.ImportPath+"/", "/internal/") || isUntagged(p.ImportPath) {
			continue
		}
		name := strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(p.Module.Path, core), "/"), "/", "_")
		if name == "" {
			name = "latchkey"
		}
		in := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, p.Module.Path), "/")
		if in == "" {
			in = path.Base(p.Module.Path)
		}
		for _, file := range p.GoFiles {
			lists[name+".txt"] = append(lists[name+".txt"], exportedLines(in, parse(t, filepath.Join(p.Dir, file)))...)
		}
	}
	for name := range lists {
		slices.Sort(lists[name])
		lists[name] = slices.Compact(lists[name])
	}
	return lists
}

func isUntagged(importPath string) bool {
	return slices.ContainsFunc(untagged, func(pattern string) bool { return within(folder(importPath), pattern) })
}

// exportedLines returns a line for each exported name of a file: functions, methods,
// types with their fields and methods, constants with their values, variables.
func exportedLines(in string, f *ast.File) (lines []string) {
	add := func(parts ...string) { lines = append(lines, in+": "+strings.Join(parts, " ")) }
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() || d.Recv != nil && !ast.IsExported(receiverOf(d)) {
				continue
			}
			bare := *d
			bare.Doc, bare.Body = nil, nil
			add(printed(&bare))
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					valueLines(d.Tok.String(), s, add)
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						typeLines(s, add)
					}
				}
			}
		}
	}
	return lines
}

// valueLines adds constants with their values, since they are on the wire or in tables,
// and variables with their types.
func valueLines(kind string, s *ast.ValueSpec, add func(...string)) {
	for i, name := range s.Names {
		if !name.IsExported() {
			continue
		}
		parts := []string{kind, name.Name}
		if s.Type != nil {
			parts = append(parts, printed(s.Type))
		}
		if kind == "const" && i < len(s.Values) {
			parts = append(parts, "=", printed(s.Values[i]))
		}
		add(parts...)
	}
}

func typeLines(s *ast.TypeSpec, add func(...string)) {
	name := s.Name.Name
	if s.TypeParams != nil {
		name += printedParams(s.TypeParams)
	}
	switch x := s.Type.(type) {
	case *ast.StructType:
		add("type", name, "struct")
		memberLines("type "+name+" struct,", x.Fields, add)
	case *ast.InterfaceType:
		add("type", name, "interface")
		memberLines("type "+name+" interface,", x.Methods, add)
	default:
		equals := ""
		if s.Assign.IsValid() {
			equals = "= "
		}
		add("type", name, equals+printed(s.Type))
	}
}

func memberLines(of string, members *ast.FieldList, add func(...string)) {
	for _, m := range members.List {
		kind := printed(m.Type)
		if len(m.Names) == 0 {
			add(of, kind)
		}
		for _, name := range m.Names {
			if name.IsExported() {
				add(of, name.Name, strings.TrimPrefix(kind, "func"))
			} else if strings.HasSuffix(of, " interface,") {
				add(of, "(sealed)")
			}
		}
	}
}

func printedParams(list *ast.FieldList) string {
	var out []string
	for _, p := range list.List {
		for _, name := range p.Names {
			out = append(out, name.Name+" "+printed(p.Type))
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}

var spaces = regexp.MustCompile(`\s+`)

// printed returns the source of a node on one line.
func printed(node ast.Node) string {
	var out bytes.Buffer
	if err := printer.Fprint(&out, token.NewFileSet(), node); err != nil {
		return err.Error()
	}
	return spaces.ReplaceAllString(out.String(), " ")
}

// implemented finds the interfaces that applications and adapters implement: a method
// more breaks them.
var implemented = regexp.MustCompile(`^(storage|telemetry|passkey): type (\w+) interface, (\w+)`)

// named finds the name that a line of a list is about.
var named = regexp.MustCompile(`^[\w/]+: (?:func (?:\([^)]*\) )?|const |var |type )(\w+)(?:\[[^\]]*\])?(?: (?:struct|interface), \(?(\w+))?`)

// apiFaults returns what CHANGELOG.md has to name and does not: each line of former that
// lines lacks, and each method that an interface of former gains.
func apiFaults(former, lines []string, changes string) (faults []string) {
	for _, line := range former {
		if !slices.Contains(lines, line) && !speaksOf(changes, line) {
			faults = append(faults, "it goes or changes, and CHANGELOG.md does not name it: "+line)
		}
	}
	for _, line := range lines {
		m := implemented.FindStringSubmatch(line)
		if m == nil || slices.Contains(former, line) || speaksOf(changes, line) {
			continue
		}
		if slices.Contains(former, m[1]+": type "+m[2]+" interface") {
			faults = append(faults, "implementers have to add it, and CHANGELOG.md does not name it: "+line)
		}
	}
	return faults
}

// speaksOf reports whether the changes name, in code, the name that a line is about. A
// member is named with its type.
func speaksOf(changes, line string) bool {
	m := named.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	name := regexp.QuoteMeta(m[1])
	if m[2] != "" {
		name += `\.` + regexp.QuoteMeta(m[2])
	} else if receiver := receiverInLine.FindStringSubmatch(line); receiver != nil {
		name = regexp.QuoteMeta(receiver[1]) + `\.` + name
	}
	return regexp.MustCompile("`[^`\n]*\\b" + name + "\\b[^`\n]*`").MatchString(changes)
}

var receiverInLine = regexp.MustCompile(`: func \((?:\w+ )?\*?(\w+)[^)]*\)`)

// TestAPIChanges holds, O-083, that what users lose or have to add is told to them.
func TestAPIChanges(t *testing.T) {
	former := exportedLines("storage", parseText(t, `package storage
type Adapter interface { GetUser(id string) error }
type User struct { ID string; hidden int }
const Kind Word = "sign_in"
func New(a int) *User
func (u *User) Name() string
`))
	if want := 7; len(former) != want {
		t.Fatalf("%d lines, want %d: %q", len(former), want, former)
	}
	slices.Sort(former)
	edited := func(from, to string) []string {
		lines := slices.Clone(former)
		i := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, from) })
		if i < 0 {
			t.Fatalf("no line has %q: %q", from, former)
		}
		if to == "" {
			return slices.Delete(lines, i, i+1)
		}
		lines[i] = strings.Replace(lines[i], from, to, 1)
		return lines
	}
	for _, row := range []struct {
		name   string
		lines  []string
		change string // what CHANGELOG.md has to say; empty: nothing
	}{
		{"nothing changes", former, ""},
		{"a function is added", append(slices.Clone(former), "storage: func More()"), ""},
		{"a function is removed", edited("func New", ""), "`storage.New`"},
		{"a signature changes", edited("a int", "a string"), "`storage.New`"},
		{"a field is removed", edited("struct, ID", ""), "`User.ID`"},
		{"a method is removed", edited("Name() string", ""), "`(*User).Name`, now `User.Name`"},
		{"the value of an event's type changes", edited(`"sign_in"`, `"signin"`), "`storage.Kind`"},
		{"an interface of adapters gains a method", append(slices.Clone(former), "storage: type Adapter interface, Ping () error"), "`Adapter.Ping`"},
		{"another interface of adapters comes", append(slices.Clone(former), "storage: type Pinger interface", "storage: type Pinger interface, Ping () error"), ""},
	} {
		t.Run("O-083 "+row.name, func(t *testing.T) {
			if got := apiFaults(former, row.lines, "nothing of it"); (len(got) > 0) != (row.change != "") {
				t.Errorf("without a word in the changelog: %q", got)
			}
			if got := apiFaults(former, row.lines, "- "+row.change+" is another one now."); len(got) > 0 {
				t.Errorf("with a word in the changelog: %q", got)
			}
		})
	}
}

func parseText(t *testing.T, text string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
