package page

import (
	"bytes"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
)

// corpus are strings that broke pages somewhere.
func corpus(t testing.TB) []string {
	t.Helper()
	file, err := os.ReadFile("testdata/xss.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")
	control := strings.NewReplacer(`\x00`, "\x00", `\x01`, "\x01", `\x09`, "\t", `\x0b`, "\v", `\x0c`, "\f", `\x7f`, "\x7f",
		`\xc2\xa0`, "\u00a0", `\u2028`, "\u2028", `\u2029`, "\u2029", `\ufeff`, "\ufeff", `\u202e`, "\u202e", `\u0130`, "\u0130", `\u017f`, "\u017f")
	for _, line := range lines {
		if plain := control.Replace(line); plain != line {
			lines = append(lines, plain)
		}
		lines = append(lines, "a\n"+line)
	}
	return lines
}

func TestHostileStrings(t *testing.T) {
	lines := corpus(t)
	if len(lines) < 200 {
		t.Fatalf("R-203 wants 200 strings, the corpus has %d", len(lines))
	}
	r := mustNew(t, Options{Theme: Theme{Logo: "/logo.svg"}})
	harmless := pagesOf(t, r, "harmless")
	shapes := make([]string, len(harmless))
	for i, p := range harmless {
		shapes[i] = mustParse(t, p, nil).shape()
	}
	for _, line := range lines {
		for i, p := range pagesOf(t, r, line) {
			got, err := parse(string(p.Body))
			if err != nil {
				t.Errorf("R-203 %q: %s: %v", line, everyPage[i].name, err)
				continue
			}
			if shape := got.shape(); shape != shapes[i] {
				t.Fatalf("R-203 %q changes %s:\n got %s\nwant %s", line, everyPage[i].name, shape, shapes[i])
			}
			if p.Status != harmless[i].Status {
				t.Errorf("R-203 %q: %s has status %d", line, everyPage[i].name, p.Status)
			}
			checkURLs(t, got)
			checkPolicy(t, p.Policy, harmless[i].Policy)
		}
	}
}

// checkURLs: no attribute that a browser may follow leads anywhere but to the
// web, read as leniently as browsers read.
func checkURLs(t *testing.T, doc *node) {
	t.Helper()
	for _, name := range []string{"a", "form", "img", "script"} {
		for _, n := range doc.all(name) {
			for _, a := range n.attrs {
				if slices.Contains([]string{"href", "action", "src"}, a.name) && !isWebURL(a.value) {
					t.Errorf("R-203 <%s %s=%q>", name, a.name, a.value)
				}
			}
		}
	}
}

func isWebURL(link string) bool {
	link = strings.Map(func(c rune) rune {
		if c <= ' ' {
			return -1
		}
		return c
	}, strings.ToLower(link))
	scheme, _, found := strings.Cut(link, ":")
	return !found || strings.ContainsAny(scheme, "/?#") || scheme == "http" || scheme == "https"
}

// checkPolicy: a policy has the parts it should have, and every source in it is
// one that was meant.
func checkPolicy(t *testing.T, policy, like string) {
	t.Helper()
	if !slices.Equal(directives(policy), directives(like)) {
		t.Errorf("R-206 %q has other parts than %q", policy, like)
	}
	if strings.ContainsAny(policy, ",*\"<>\r\n") || strings.Contains(policy, "unsafe") {
		t.Errorf("R-206 policy %q", policy)
	}
}

// Codes decide which fixed text is shown and reach nothing else.
func TestUnknownCodes(t *testing.T) {
	r := mustNew(t, Options{})
	general := r.texts.text("signin.error.other")
	for _, code := range append(corpus(t), "constructor", "toString", "Unheard", "credentialssignin", "CredentialsSignin ", "MissingCSRF", "AccountNotLinked") {
		p, err := r.SignIn(SignIn{Error: code})
		if alert := mustParse(t, p, err).all("div")[0]; alert.attr("role") != "alert" || alert.words() != general {
			t.Errorf("code %q: the page says %q", code, alert.words())
		}
	}
}

func TestPasswordsAreNotFilledIn(t *testing.T) {
	r := mustNew(t, Options{})
	p, err := r.SignIn(SignIn{Providers: []Provider{{ID: "c", Type: Credentials, Fields: []Field{{Name: "p", Type: "PassWord", Value: "hunter2"}}}}})
	mustParse(t, p, err)
	if bytes.Contains(p.Body, []byte("hunter2")) {
		t.Error("the page holds a password")
	}
}

func FuzzPages(f *testing.F) {
	for i, line := range corpus(f) {
		if i%8 == 0 { // TestHostileStrings has all of them
			f.Add(line)
		}
	}
	for _, word := range []string{"", "password", "hidden", "checkbox", "email", "webauthn", "github", "Configuration", "linked", "https:", "\xff\xfe"} {
		f.Add(word)
	}
	r := mustNew(f, Options{Theme: Theme{Logo: "https://static.example/logo.png"}})
	elements := vocabulary(f, r)
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range pagesOf(t, r, s) {
			doc := mustParse(t, p, nil)
			checkURLs(t, doc)
			for pair := range markupPairs(doc) {
				if !elements[pair] {
					t.Errorf("R-203 %q brings %q", s, pair)
				}
			}
			if strings.Contains(p.Policy, "unsafe") {
				t.Errorf("R-206 %q brings %q", s, p.Policy)
			}
		}
	})
}

// vocabulary is every element, with each attribute it may have, of the pages.
func vocabulary(t testing.TB, r *Renderer) map[string]bool {
	all := map[string]bool{}
	for _, p := range pagesOf(t, r, "harmless") {
		for pair := range markupPairs(mustParse(t, p, nil)) {
			all[pair] = true
		}
	}
	for _, s := range everyPage {
		p, err := s.page(r)
		for pair := range markupPairs(mustParse(t, p, err)) {
			all[pair] = true
		}
	}
	for _, drawing := range drawings {
		doc, err := parse("<!doctype html>\n" + string(icon(drawing)))
		if err != nil {
			t.Fatal(err)
		}
		for pair := range markupPairs(doc) {
			all[pair] = true
		}
	}
	return all
}

func markupPairs(doc *node) map[string]bool {
	all := map[string]bool{}
	var walk func(*node)
	walk = func(n *node) {
		all[n.name] = true
		for _, a := range n.attrs {
			all[n.name+" "+a.name] = true
		}
		for _, kid := range n.kids {
			walk(kid)
		}
	}
	walk(doc)
	return all
}

func FuzzSource(f *testing.F) {
	for _, s := range []string{"https://a.example/x?y", "https:", "http://[::1]:3000", "https://a;b", "https://a.example:443", "//a", "https://*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		source, ok := Source(s)
		if !ok || source == anyHTTPS || source == AnyHTTP {
			return
		}
		u, err := url.Parse(source)
		if err != nil || u.Host == "" || u.Path != "" || u.User != nil || strings.ContainsAny(source, " ;,'\"*") {
			t.Errorf("%q gives %q", s, source)
		}
		if again, ok := Source(source); !ok || again != source {
			t.Errorf("%q gives %q, which gives %q", s, source, again)
		}
	})
}

func FuzzParseColor(f *testing.F) {
	for _, s := range []string{"#fff", "#ff6600", "rgb(1, 2, 3)", "hsl(120 50% 50%)", "rebeccapurple", "red;}", "rgb(NaN 1 1)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := parseColor(s); err == nil && strings.ContainsAny(s, ";{}<>\\/\"'@:!\n\r\t\f\x00") {
			t.Errorf("%q is taken for a colour", s)
		}
	})
}
