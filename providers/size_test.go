package providers_test

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

// TestOneProviderLinksNoOther holds that a program gets the provider that it
// names, and nothing else of the catalogue.
func TestOneProviderLinksNoOther(t *testing.T) {
	program := filepath.Join(t.TempDir(), "one")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./testdata/one").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	symbols, err := exec.CommandContext(t.Context(), "go", "tool", "nm", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]bool{}
	for _, m := range regexp.MustCompile(`latchkey/providers\.([A-Z]\w*)\b`).FindAllSubmatch(symbols, -1) {
		linked[string(m[1])] = true
	}
	if !linked["GitHub"] {
		t.Errorf("linked are %v", linked)
	}
	for _, e := range catalogue.Providers() {
		if name := functionName(e); name != "GitHub" && linked[name] {
			t.Errorf("%s is in a program that uses GitHub alone", name)
		}
	}
}

// many are so many providers of the catalogue, completed as their records say.
func many(tb testing.TB, count int) (list []latchkey.Provider) {
	tb.Helper()
	for _, e := range catalogue.Providers()[:count] {
		r := record(tb, e.New(latchkey.OAuth{}).ID)
		list = append(list, r.provider(e))
	}
	return list
}

func configOf(list []latchkey.Provider) latchkey.Config {
	return latchkey.Config{
		Providers: list, Secrets: []string{"a secret of a good length for all tests"}, Site: latchkey.Site{URL: "https://app.example"},
	}
}

// BenchmarkStart is what New costs, with one provider and with a hundred.
func BenchmarkStart(b *testing.B) {
	for name, count := range map[string]int{"one": 1, "hundred": min(100, len(catalogue.Providers()))} {
		b.Run(name, func(b *testing.B) {
			list := many(b, count)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := latchkey.New(configOf(list)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSession is what a request costs then.
func BenchmarkSession(b *testing.B) {
	for name, count := range map[string]int{"one": 1, "hundred": min(100, len(catalogue.Providers()))} {
		b.Run(name, func(b *testing.B) {
			auth, err := latchkey.New(configOf(many(b, count)))
			if err != nil {
				b.Fatal(err)
			}
			r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "https://app.example/auth/session", nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				auth.ServeHTTP(nobody{}, r)
			}
		})
	}
}

// nobody reads an answer.
type nobody struct{}

func (nobody) Header() http.Header         { return http.Header{} }
func (nobody) Write(p []byte) (int, error) { return len(p), nil }
func (nobody) WriteHeader(int)             {}

// TestHundredProviders: a site may have them all at once, and its sign-in page
// loads nothing from elsewhere.
func TestHundredProviders(t *testing.T) {
	list := many(t, len(catalogue.Providers()))
	c := configOf(list)
	c.Site = latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}
	auth, err := latchkey.New(c)
	if err != nil {
		t.Fatal(err)
	}
	page := latchkeytest.NewClient(t, auth).Get("/auth/signin")
	if from := regexp.MustCompile(`(?:src|srcset)="(?:https?:)?//[^"]*"|url\((?:https?:)?//[^)]*\)|<link[^>]+href="https?:[^"]*"`).FindAll(page.Body, -1); page.Status != http.StatusOK || len(from) > 0 {
		t.Errorf("status %d, loads %s", page.Status, from)
	}
	if buttons := regexp.MustCompile(`/auth/signin/[\w-]+"`).FindAll(page.Body, -1); len(buttons) < len(list) {
		t.Errorf("%d buttons for %d providers", len(buttons), len(list))
	}
}
