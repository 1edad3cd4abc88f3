package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestRunAsAWhole(t *testing.T) {
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"token", "encode"}, strings.NewReader(`{"sub":"42"}`), &out, &errs, []string{"AUTH_SECRET=a-secret-of-more-than-32-characters"})
	if code != exitOK || strings.Count(out.String(), ".") != 4 {
		t.Errorf("exit code %d, output %q, errors %q", code, out.String(), errs.String())
	}
}

// fullDisk is what standard output may be.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputThatIsLostIsAProblem(t *testing.T) {
	for _, args := range [][]string{{"secret"}, {"secret", "--env"}, {"version"}, {"token", "encode", "{}"}, {"migrate", "--print", "--dialect", "sqlite"}} {
		var errs bytes.Buffer
		code := run(t.Context(), args, strings.NewReader(""), fullDisk{}, &errs, []string{"AUTH_SECRET=a-secret-of-more-than-32-characters"})
		if code != exitProblem || errs.String() != "latchkey: no space left\n" {
			t.Errorf("%q: exit code %d, errors %q", args, code, errs.String())
		}
	}
}

// TestHelp holds that every command explains itself and shows how it is used.
func TestHelp(t *testing.T) {
	p := &program{stdout: &bytes.Buffer{}}
	commands := p.command().Commands()
	for len(commands) > 0 {
		c := commands[0]
		commands = append(commands[1:], c.Commands()...)
		if c.Short == "" || c.Example == "" {
			t.Errorf("%s: Short %q, Example %q", c.CommandPath(), c.Short, c.Example)
		}
	}
}
