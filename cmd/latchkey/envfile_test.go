package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestParseEnv(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "A=b", "A=b"},
		{"space around", "  A = b c  ", "A=b c"},
		{"exported", "export A=b", "A=b"},
		{"a comment", "# A=b", ""},
		{"a comment behind", "A=b # c", "A=b"},
		{"a number sign within", "A=b#c", "A=b#c"},
		{"single quotes", `A='b # \n "c"' # d`, `A=b # \n "c"`},
		{"double quotes", `A="b # \"c\" \$d \\ \n" e`, "A=b # \"c\" $d \\ \n"},
		{"another escape", `A="\d"`, `A=\d`},
		{"a quotation without end", `A="b`, "A=b"},
		{"an equals sign within", "A=b=c==", "A=b=c=="},
		{"Windows lines", "A=b\r\nC=d\r\n", "A=b|C=d"},
		{"empty", "A=", "A="},
		{"no variable", "just text\n1A=b\nA-B=c\n=d", ""},
		{"several", "A=b\n\nA=c", "A=b|A=c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(parseEnv(c.text), "|"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzParseEnv(f *testing.F) {
	for _, seed := range []string{"A=b", "export A='b'", "A=\"\\", "A=\"b\\\"", "=\n#", "A=\x00\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, line := range parseEnv(text) {
			if name, _, ok := strings.Cut(line, "="); !ok || !isVariable(name) {
				t.Errorf("%q became %q", text, line)
			}
		}
	})
}

func TestEnvironment(t *testing.T) {
	e := environment{"A=file", "B=file", "A=", "B=own", "C="}
	for name, want := range map[string]string{"A": "file", "B": "own", "C": "", "D": ""} {
		if got := e.get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := e.names(); !slices.Equal(got, []string{"A", "B"}) {
		t.Errorf("names are %q", got)
	}
}

func TestSecretsInTheLibrarysOrder(t *testing.T) {
	e := environment{"AUTH_SECRET=same", "AUTH_SECRET_1=one", "AUTH_SECRET_2=same", "AUTH_SECRET_3=three", "NEXTAUTH_SECRET=former"}
	var values []string
	names := map[string]bool{}
	for _, s := range e.secrets() {
		values, names[s.name] = append(values, s.value), true
	}
	if !slices.Equal(values, []string{"three", "same", "one", "same"}) || len(names) != 4 || names["NEXTAUTH_SECRET"] {
		t.Errorf("values %q of %v", values, names)
	}
}

// a secret goes into no file that everybody may read.
func TestFilesThatEverybodyReads(t *testing.T) {
	t.Chdir(t.TempDir())
	for mode, want := range map[os.FileMode]bool{0o600: true, 0o640: true, 0o644: false, 0o602: false, 0o666: false} {
		name := fmt.Sprintf("%o.env", mode)
		if err := os.WriteFile(name, []byte("A=b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		err := appendLine(name, "AUTH_SECRET=x")
		content, _ := os.ReadFile(name)
		if (err == nil) != want || strings.Contains(string(content), "AUTH_SECRET") != want || err != nil && !strings.Contains(err.Error(), "chmod 600 "+name) {
			t.Errorf("mode %o: %v, %q", mode, err, content)
		}
	}
}

func TestNewFilesAreTheOwnersAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := appendLine("new.env", "A=b"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat("new.env")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
}
