package providers_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

const (
	pageName   = "../docs/providers.md"
	tableFrom  = "<!-- made by TestProvidersPage: LATCHKEY_WRITE=1 go test ./providers -run TestProvidersPage -->\n"
	tableTo    = "<!-- end -->\n"
	tokensFrom = "<!-- tokenTable, made by TestProvidersPage -->\n"
	notesFrom  = "<!-- the comments of the functions, made by TestProvidersPage -->\n"
	theirsFrom = "<!-- our definitions and those of Auth.js, made by TestProvidersPage -->\n"
	trustFrom  = "<!-- the e-mail of each record in providers/testdata, made by TestProvidersPage -->\n"
)

// TestProvidersPage keeps the tables of docs/providers.md as the definitions are.
func TestProvidersPage(t *testing.T) {
	var rows, trusts, notes []string
	comments := functionComments(t)
	all(t, func(t *testing.T, e catalogue.Entry, r recorded) {
		t.Helper()
		rows, trusts = append(rows, row(t, e, r)), append(trusts, trustRow(t, e, r))
		notes = append(notes, noteRow(t, e, comments))
	})
	page, err := os.ReadFile(pageName)
	if err != nil {
		t.Fatal(err)
	}
	want := put(t, string(page), tableFrom, "| id | function | type | checks | scopes | issuer | e-mail proven | on its own |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- |\n", rows)
	want = put(t, want, notesFrom, "| id | what to register, and what is special |\n| --- | --- |\n", notes)
	want = put(t, want, trustFrom, "| id | proven | why |\n| --- | --- | --- |\n", trusts)
	want = put(t, want, tokensFrom, "| id | asks for a refresh token | which, when used | access token; refresh token | revoked by | sign-out there |\n"+
		"| --- | --- | --- | --- | --- | --- |\n", tokenRows())
	version, theirs := foreigners(t)
	want = put(t, want, theirsFrom, "| id | what | here | Auth.js "+version+" |\n| --- | --- | --- | --- |\n", foreignRows(t, theirs))
	if os.Getenv("LATCHKEY_WRITE") != "" {
		if err := os.WriteFile(pageName, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page) != want {
		t.Errorf("%s is not as the definitions are: LATCHKEY_WRITE=1 go test ./providers -run TestProvidersPage", pageName)
	}
}

// put replaces the table that begins after a mark.
func put(t *testing.T, page, from, head string, rows []string) string {
	t.Helper()
	slices.Sort(rows)
	before, rest, found := strings.Cut(page, from)
	_, after, ended := strings.Cut(rest, tableTo)
	if !found || !ended {
		t.Fatalf("the page has no place for the table %s", from)
	}
	return before + from + head + strings.Join(rows, "") + tableTo + after
}

// functionComments returns the doc comments of the functions of package providers.
func functionComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil {
				comments[d.Name.Name] = d.Doc.Text()
			}
		}
	}
	return comments
}

// noteRow puts the comment of a function into a row.
func noteRow(t *testing.T, e catalogue.Entry, comments map[string]string) string {
	t.Helper()
	text := comments[functionName(e)]
	if text == "" {
		t.Error("the function has no comment")
	}
	note := ""
	for line := range strings.Lines(text) {
		if code, is := strings.CutPrefix(line, "\t"); is {
			line = "`" + strings.TrimSpace(code) + "`"
		}
		note += " " + strings.TrimSpace(line)
	}
	note = strings.TrimSpace(ofProfile.ReplaceAllString(strings.Join(strings.Fields(note), " "), ""))
	note = inComment.ReplaceAllStringFunc(note, markdown)
	return fmt.Sprintf("| `%s` | %s |\n", e.New(latchkey.OAuth{}).ID, strings.ReplaceAll(note, "|", `\|`))
}

var (
	ofProfile = regexp.MustCompile(`Its profile is an? \[profile\.\w+\]\. ?`)
	// inComment finds code, links to symbols, URLs with and without {places}, and names with _.
	inComment = regexp.MustCompile("`[^`]*`|\\[[\\w.]+\\](?:\\.\\w+)?|(?:https?://|\\{server\\})(?:\\{[^}]*\\}|[^\\s{}])*(?:\\{[^}]*\\}|[^\\s.,;:){}])|\\w+_\\w+")
)

// markdown returns what inComment has found as Markdown.
func markdown(found string) string {
	switch {
	case found[0] == '`':
		return found
	case found[0] == '[':
		return "`" + strings.NewReplacer("[", "", "]", "").Replace(found) + "`"
	case strings.HasPrefix(found, "http") && !strings.Contains(found, "{"):
		return "<" + found + ">"
	}
	return "`" + found + "`"
}

// trustRow says why an e-mail counts as proven, or not.
func trustRow(t *testing.T, e catalogue.Entry, r recorded) string {
	t.Helper()
	if r.Email.Why == "" || !strings.HasPrefix(r.Email.Source, "https://") {
		t.Errorf("nothing says why e-mails count as they do: %+v", r.Email)
	}
	p := r.derived(t, e)
	return fmt.Sprintf("| `%s` | %s | [%s](%s) |\n", p.ID, provenBy(p, r), r.Email.Why, r.Email.Source)
}

func row(t *testing.T, e catalogue.Entry, r recorded) string {
	p := e.New(latchkey.OAuth{})
	kind := "oauth"
	if p.OIDC {
		kind = "oidc"
	}
	t.Helper()
	return fmt.Sprintf("| `%s` | `%s` | %s | %s | %s | %s | %s | %s |\n",
		p.ID, functionName(e), kind, checksOf(p), scopesOf(p), issuerOf(p, r), provenBy(p, r), seamsOf(r.derived(t, e), p, r))
}

func functionName(e catalogue.Entry) string {
	name := runtime.FuncForPC(reflect.ValueOf(e.New).Pointer()).Name()
	return name[strings.LastIndexByte(name, '.')+1:]
}

func checksOf(p *latchkey.OAuth) string {
	if p.Checks == nil {
		return "pkce"
	}
	names := make([]string, len(p.Checks))
	for i, c := range p.Checks {
		names[i] = string(c)
	}
	return strings.Join(names, ", ")
}

func scopesOf(p *latchkey.OAuth) string {
	switch {
	case p.Scopes == nil:
		return "openid profile email"
	case len(p.Scopes) == 0:
		return "none"
	}
	return strings.Join(p.Scopes, or(p.ScopeSeparator, " "))
}

// issuerOf says whether AUTH_<ID>_ISSUER is needed, or what it replaces.
func issuerOf(p *latchkey.OAuth, r recorded) string {
	switch {
	case p.Issuer != "":
		return p.Issuer
	case r.Options.Issuer != "":
		return "**needed**"
	case p.OIDC && p.Derive != nil:
		return "follows from the client id"
	}
	return ""
}

// provenBy says whether an e-mail is known to be the person's.
func provenBy(p *latchkey.OAuth, r recorded) string {
	switch {
	case r.Identity.Email == "" && r.Profile["email"] == nil:
		return "no e-mail"
	case p.EmailTrust == latchkey.EmailProven:
		return "yes"
	case r.Identity.EmailTrust == latchkey.EmailProven || r.Identity.EmailTrust == latchkey.EmailTrustUnknown && r.Profile["email_verified"] != nil && p.EmailTrust != latchkey.EmailUnproven:
		return "as the profile says"
	case p.EmailTrust == latchkey.EmailUnproven || r.Identity.EmailTrust == latchkey.EmailUnproven:
		return "no"
	}
	return "unknown"
}

// seamsOf names what a provider needs code for.
func seamsOf(made, p *latchkey.OAuth, r recorded) string {
	var names []string
	for _, seam := range []struct {
		name string
		used bool
	}{
		{"profile calls", made.FetchProfile != nil},
		{"dialect", p.Transport != nil},
		{"protocol of its own", r.Authorize.Whole != nil},
		{"endpoints from the issuer", p.Derive != nil && !p.OIDC && p.Authorization.URL == ""},
		{"form post", p.ResponseMode == "form_post"},
	} {
		if seam.used {
			names = append(names, seam.name)
		}
	}
	return strings.Join(names, ", ")
}
