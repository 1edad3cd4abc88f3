package explain

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/race"
)

var update = flag.Bool("update", false, "write docs/troubleshooting.md anew")

const repository = "../.."

func now() time.Time { return time.Date(2026, 11, 24, 6, 30, 15, 0, time.UTC) }

func secretCodec() *Codec { return NewCodec([]string{"a secret of the tests, which is long enough"}) }

// O-057: each detail comes back out of its code, with the minute.
func TestCodeSaysWhatAndWhen(t *testing.T) {
	c := secretCodec()
	for _, text := range Texts() {
		r, err := c.Open(c.Make(text.Detail, now()), now())
		if err != nil || r.Detail != text.Detail || !r.Time.Equal(now().Truncate(time.Minute)) {
			t.Errorf("O-057 %s: %+v, %v", text.Detail, r, err)
		}
	}
}

// O-058: codes of one failure share no pattern.
func TestCodesShareNoPattern(t *testing.T) {
	const codes = 100_000
	c, seen := secretCodec(), map[string]bool{}
	var counts [codeLetters][len(alphabet)]int
	for range codes {
		code := c.Make(fault.SignInWrong, now())
		seen[code] = true
		for i, letter := range strings.ReplaceAll(code, "-", "") {
			counts[i][strings.IndexRune(alphabet, letter)]++
		}
	}
	if len(seen) < codes*9/10 { // 20 random bits
		t.Errorf("O-058 only %d codes differ", len(seen))
	}
	const expected = float64(codes) / float64(len(alphabet))
	for at, letters := range counts {
		chi := 0.0
		for _, n := range letters {
			chi += (float64(n) - expected) * (float64(n) - expected) / expected
		}
		if chi > 80 { // 31 degrees of freedom: one in 300,000, and few codes are repeated
			t.Errorf("O-058 letter %d: χ² = %.0f", at, chi)
		}
	}
}

// O-059: what people do to a code is forgiven, and another code is refused.
func TestCodesAsPeopleTypeThem(t *testing.T) {
	c := secretCodec()
	code := c.Make(fault.StateMissing, now())
	for _, typed := range []string{
		strings.ToLower(code), strings.ReplaceAll(code, "-", ""), strings.ReplaceAll(code, "-", " "), " " + code + " ",
		strings.ReplaceAll(code, "0", "o"), strings.ReplaceAll(code, "1", "i"), strings.ReplaceAll(code, "1", "L"),
	} {
		if r, err := c.Open(typed, now()); err != nil || r.Detail != fault.StateMissing || Spelled(typed) != code {
			t.Errorf("O-059 %q: %+v, %v", typed, r, err)
		}
	}
	seed, steps := race.Steps(t, 100_000)
	random, taken := rand.New(rand.NewPCG(seed, 0)), map[string]bool{} // few codes differ in one place: each counts once
	for i := range steps {
		b := []byte(strings.ReplaceAll(code, "-", ""))
		if i%2 == 0 {
			at := random.IntN(len(b))
			b[at] = alphabet[(strings.IndexByte(alphabet, b[at])+1+random.IntN(31))%32]
		} else {
			for at := range b {
				b[at] = alphabet[random.IntN(32)]
			}
		}
		if _, err := c.Open(string(b), now()); err == nil {
			taken[string(b)] = true
		}
	}
	if len(taken) > max(5, steps/7000) { // without the check it would be one in 3,000
		t.Errorf("O-059 %d of %d foreign codes are taken", len(taken), steps)
	}
}

// O-060: a rotated secret opens; one that is gone does not.
func TestCodesAndSecrets(t *testing.T) {
	old, newer := "an old secret that is long enough, too", "a new secret that is long enough, as well"
	code := NewCodec([]string{old}).Make(fault.StoreAway, now())
	if r, err := NewCodec([]string{newer, old}).Open(code, now()); err != nil || r.Detail != fault.StoreAway {
		t.Errorf("O-060 rotated: %+v, %v", r, err)
	}
	if _, err := NewCodec([]string{newer}).Open(code, now()); !errors.Is(err, ErrForeign) {
		t.Errorf("O-060 gone: %v", err)
	}
	if _, err := NewCodec([]string{old}).Open(code, now().Add(-27*time.Hour)); !errors.Is(err, ErrForeign) {
		t.Errorf("O-060 from the future: %v", err)
	}
	if r, err := NewCodec([]string{old}).Open(code, now().Add(-26*time.Hour)); err != nil || !r.Time.After(now().Add(-26*time.Hour)) {
		t.Errorf("R-780 from a clock that is ahead: %+v, %v", r, err)
	}
	if got := NewCodec(nil).Make(fault.StoreAway, now()); got != "" {
		t.Errorf("O-060 without a secret: %q", got)
	}
}

func BenchmarkMake(b *testing.B) {
	c := secretCodec()
	for b.Loop() {
		c.Make(fault.StateMissing, now())
	}
}

// O-087: every detail of package fault is explained, once, and the page has the texts.
func TestEveryDetailIsExplained(t *testing.T) {
	var numbers []int
	for _, text := range Texts() {
		if slices.Contains(numbers, text.Number) || text.Number <= 0 || text.Number >= 1<<bitsDetail {
			t.Errorf("O-087 %s: the number %d is taken or out of range", text.Detail, text.Number)
		}
		numbers = append(numbers, text.Number)
		if text.What == "" || len(text.Causes) == 0 || text.Cure == "" || text.Party == "" {
			t.Errorf("O-087 %s has no complete explanation", text.Detail)
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), repository+"/fault/detail.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			found++
			d := fault.Detail(strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`))
			if _, known := Find(d); !known {
				t.Errorf("O-087 %s has no explanation", d)
			}
		}
		return true
	})
	if found != len(Texts()) {
		t.Errorf("O-087 %d details, %d explanations", found, len(Texts()))
	}
	for typ := range byType {
		if _, known := Find(byType[typ]); !known {
			t.Errorf("O-087 the detail of %s is not in the list", typ)
		}
	}
}

func TestPageHasTheExplanations(t *testing.T) {
	const name = repository + "/docs/troubleshooting.md"
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	made, err := Page(page)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Page(made); err != nil || !bytes.Equal(again, made) {
		t.Error("O-087 the page made twice differs")
	}
	if *update {
		if err := os.WriteFile(name, made, 0o600); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(page, made) {
		t.Error("O-087 docs/troubleshooting.md is stale: go test ./internal/explain -update")
	}
}

// several are the types that stand for more than one detail: a place that makes such an
// error has to name one.
var several = []string{
	"ErrInvalidCheck", "ErrVerification", "ErrAccessDenied", "ErrCallbackRoute", "ErrMissingCSRF", "ErrOAuthCallback", "ErrFactor",
	"ErrEmailSignIn", "ErrSessionToken", "ErrUntrustedHost", "ErrWebAuthnVerification",
}

// O-087: every place that makes an error names its detail, unless the type says it all.
func TestPlacesNameADetail(t *testing.T) {
	places := 0
	for _, dir := range []string{".", "users", "internal"} {
		err := filepath.WalkDir(filepath.Join(repository, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && dir == "." && path != filepath.Join(repository, dir) {
				return cmp.Or(err, fs.SkipDir)
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if unnamed(n) {
					t.Errorf("O-087 %s makes an error without a detail", set.Position(n.Pos()))
				}
				if c, ok := n.(*ast.CallExpr); ok && isWrap(c) {
					places++
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if places < 100 {
		t.Errorf("only %d places were found", places)
	}
	for source, want := range map[string]bool{
		`failure.Wrap(ErrInvalidCheck, errors.New("x"))`:                            true,
		`failure.WrapFor(fault.ErrVerification, "p", fmt.Errorf("x"))`:              true,
		`failure.Wrap(ErrInvalidCheck, failure.Of(fault.LinkUsed, errors.New("")))`: false,
		`failure.Wrap(ErrMissingAdapter, errors.New("x"))`:                          false,
		`failure.Wrap(ErrInvalidCheck, err)`:                                        false,
	} {
		if e, err := parser.ParseExpr(source); err != nil || unnamed(e) != want {
			t.Errorf("O-087 the test misjudges %s", source)
		}
	}
}

func isWrap(c *ast.CallExpr) bool {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "Wrap" || sel.Sel.Name == "WrapFor")
}

// unnamed reports whether a node wraps a new error of a type that means several things,
// without a detail.
func unnamed(n ast.Node) bool {
	c, ok := n.(*ast.CallExpr)
	if !ok || !isWrap(c) || len(c.Args) < 2 {
		return false
	}
	name := ""
	switch t := c.Args[0].(type) {
	case *ast.Ident:
		name = t.Name
	case *ast.SelectorExpr:
		name = t.Sel.Name
	}
	if !slices.Contains(several, name) {
		return false
	}
	makes, names := false, false
	ast.Inspect(c.Args[len(c.Args)-1], func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			makes = makes || slices.Contains([]string{"New", "Errorf"}, sel.Sel.Name)
			names = names || sel.Sel.Name == "Of"
		}
		return true
	})
	return makes && !names
}
