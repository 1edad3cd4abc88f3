package client

import (
	"bytes"
	"compress/gzip"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostBytes is what the documents promise: a little under 4 KB over the wire.
const mostBytes = 4000

func TestSize(t *testing.T) {
	f, _ := Find(Module)
	t.Logf("%d bytes, %d compressed", len(f.Body), len(f.Zipped))
	if len(f.Zipped) > mostBytes {
		t.Errorf("R-421: the client has %d bytes compressed, want at most %d", len(f.Zipped), mostBytes)
	}
}

func TestNamesStandForContents(t *testing.T) {
	for _, name := range []string{Module, Types, Passkeys} {
		plain, fixed := Find(name)
		if plain == nil || fixed || plain.Name != Name(name) {
			t.Fatalf("R-422 %s: %v, fixed %t", name, plain, fixed)
		}
		if same, fixed := Find(plain.Name); same != plain || !fixed {
			t.Errorf("R-422 %s: fixed %t", plain.Name, fixed)
		}
		stem, ext, _ := strings.Cut(name, ".")
		if old, fixed := Find(stem + "-0123456789abcdef." + ext); old != plain || fixed {
			t.Errorf("R-422: the file of another version is %v, fixed %t", old, fixed)
		}
		z, err := gzip.NewReader(bytes.NewReader(plain.Zipped))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(z); err != nil || !bytes.Equal(body, plain.Body) {
			t.Errorf("R-422 %s does not unpack to itself: %v", name, err)
		}
	}
	for _, name := range []string{"", ".", "client.go", "latchkey", "latchkey-.js", "../latchkey.js", "latchkey.JS"} {
		if f, fixed := Find(name); f != nil || fixed || Name(name) != "" {
			t.Errorf("R-422: %q finds %v", name, f)
		}
	}
}

// TestPasskeysImportTheModule: by its name for ever, so that nobody asks about it.
func TestPasskeysImportTheModule(t *testing.T) {
	f, _ := Find(Passkeys)
	if !bytes.Contains(f.Body, []byte(`from "./`+Name(Module)+`"`)) {
		t.Errorf("R-422: %.400s", f.Body)
	}
	t.Logf("%d bytes, %d compressed", len(f.Body), len(f.Zipped))
	if len(f.Zipped) > 1900 { // pages that ask for another proof take a hundred
		t.Errorf("R-421: the script of pages has %d bytes compressed, want at most 1900", len(f.Zipped))
	}
}

// TestTypesNameWhatIsExported compares the module with its types.
func TestTypesNameWhatIsExported(t *testing.T) {
	module, _ := Find(Module)
	types, _ := Find(Types)
	exported := regexp.MustCompile(`(?m)^export (?:async )?(?:function|const) (\w+)`)
	names := func(text []byte) (all []string) {
		for _, m := range exported.FindAllSubmatch(text, -1) {
			all = append(all, string(m[1]))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	if a, b := names(module.Body), names(types.Body); len(a) < 12 || !slices.Equal(a, b) {
		t.Errorf("R-421: the module exports %q, its types name %q", a, b)
	}
	if imports := regexp.MustCompile(`(?m)^import\b|\bimport\(`).Find(module.Body); imports != nil {
		t.Error("R-421: the module depends on another")
	}
}
