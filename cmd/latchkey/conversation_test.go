package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestMain removes what the library would read from the tests' own environment.
func TestMain(m *testing.M) {
	for _, line := range os.Environ() {
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "AUTH_") || strings.HasPrefix(name, "NEXTAUTH_") || strings.HasPrefix(name, "PG") {
			_ = os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}

// TestConversations runs the scripts of testdata. In a script
//
//	# …           says something to the reader
//	$ command     is run: latchkey, or one of the tools below
//	< line        goes to its standard input
//	line          is expected on its standard output
//	! line        is expected on its standard error
//	? 2           is expected as its exit code; without such a line, 0
//
// In expected lines «regexp» matches, and «name=regexp» also sets $name for the
// commands that follow. The password of every database in them is hunter2; it,
// and every secret in the environment, must never be printed.
func TestConversations(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, name := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			newConversation(t, string(text)).hold(parseScript(t, string(text)))
		})
	}
}

// exchange is a command and what it should answer.
type exchange struct {
	line, command string
	in, out, err  []string
	code          string
}

func parseScript(t *testing.T, text string) (list []exchange) {
	t.Helper()
	for i, line := range strings.Split(text, "\n") {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			list = append(list, exchange{line: fmt.Sprintf("line %d: %s", i+1, command), command: command, code: "0"})
			continue
		}
		if strings.HasPrefix(line, "#") || len(list) == 0 {
			continue
		}
		x := &list[len(list)-1]
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "<":
			x.in = append(x.in, rest)
		case "!":
			x.err = append(x.err, rest)
		case "?":
			x.code = rest
		default:
			x.out = append(x.out, line)
		}
	}
	return list
}

// conversation is a script being run.
type conversation struct {
	*testing.T
	env   environment
	vars  map[string]string
	clock time.Time
}

// newConversation starts the servers that the script mentions.
func newConversation(t *testing.T, script string) *conversation {
	c := &conversation{t, nil, map[string]string{}, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	for name, start := range map[string]func(*testing.T) string{"POSTGRES": startPostgres, "MARIADB": startMariaDB, "ISSUER": startIssuer, "MISNAMED": startMisnamed} {
		if strings.Contains(script, "$"+name) {
			c.vars[name] = start(t)
		}
	}
	return c
}

func startPostgres(t *testing.T) string {
	server := realservers.Postgres(t, false)
	return "postgres://latchkey:hunter2@/postgres?host=" + server.Dir + "&sslmode=disable"
}

func startMariaDB(t *testing.T) string {
	socket := realservers.MariaDB(t)
	db, err := sql.Open("mysql", "root@unix("+socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range []string{"CREATE DATABASE site", "CREATE USER site@localhost IDENTIFIED BY 'hunter2'", "GRANT ALL ON site.* TO site@localhost"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return socket
}

func startIssuer(t *testing.T) string { return latchkeytest.NewIssuer(t).URL }

func startMisnamed(t *testing.T) string {
	issuer := latchkeytest.NewIssuer(t)
	issuer.Misbehave(latchkeytest.Misbehaviour{Discovery: func(document map[string]any) { document["issuer"] = "https://other.example" }})
	return issuer.URL
}

func (c *conversation) hold(exchanges []exchange) {
	for _, x := range exchanges {
		words := c.words(x.command)
		var out, errs bytes.Buffer
		in := strings.Join(x.in, "\n")
		for name, value := range c.vars {
			in = strings.ReplaceAll(in, "$"+name, value)
		}
		code := c.perform(words, in, &out, &errs)
		c.compare(x.line+": standard output", out.String(), x.out)
		c.compare(x.line+": standard error", errs.String(), x.err)
		if code != x.code {
			c.Errorf("%s: exit code %s, want %s", x.line, code, x.code)
		}
		c.keepsSecrets(x.line, out.String()+errs.String(), words)
		if c.Failed() {
			c.FailNow()
		}
	}
}

// perform runs the program or a tool:
//
//	env NAME=value…   sets variables from here on; env NAME= unsets one
//	write FILE TEXT   writes a file, \n being a new line
//	cat FILE          prints one
//	clock +30d        sets the clock forward
//	sql FILE|$DB STATEMENT…
func (c *conversation) perform(words []string, in string, out, errs *bytes.Buffer) string {
	switch words[0] {
	case "latchkey":
		p := &program{strings.NewReader(in), out, errs, c.env, func() time.Time { return c.clock }, &http.Client{}}
		return fmt.Sprint(p.run(c.Context(), words[1:]))
	case "env":
		for _, word := range words[1:] {
			name, _, _ := strings.Cut(word, "=")
			c.env = slices.DeleteFunc(c.env, func(line string) bool { return strings.HasPrefix(line, name+"=") })
			c.env = append(c.env, word)
		}
	case "write":
		c.must(os.WriteFile(words[1], []byte(strings.ReplaceAll(words[2], `\n`, "\n")), 0o600))
	case "cat":
		text, err := os.ReadFile(words[1])
		c.must(err)
		out.Write(text)
	case "clock":
		var s span
		c.must(s.Set(strings.TrimPrefix(words[1], "+")))
		c.clock = c.clock.Add(time.Duration(s))
	case "sql":
		c.sql(words[1], words[2:], out)
	default:
		c.Fatalf("no such command: %s", words[0])
	}
	return "0"
}

func (c *conversation) sql(rawURL string, statements []string, out *bytes.Buffer) {
	d, err := parseDatabase(rawURL)
	c.must(err)
	db, err := d.open(true)
	c.must(err)
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		if !strings.HasPrefix(statement, "SELECT") {
			_, err := db.ExecContext(context.Background(), statement)
			c.must(err)
			continue
		}
		var answer string
		c.must(db.QueryRow(statement).Scan(&answer))
		fmt.Fprintln(out, answer)
	}
}

func (c *conversation) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

var (
	variable = regexp.MustCompile(`\$[A-Za-z]+`)
	wildcard = regexp.MustCompile(`«(?:([a-z]+)=)?(.*?)»`)
)

// words splits a command as a shell does, with single and double quotes.
func (c *conversation) words(command string) (words []string) {
	var word strings.Builder
	quote, begun, escaped := rune(0), false, false
	for _, r := range command + " " {
		switch {
		case escaped:
			if r != '"' && r != '\\' {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case quote == '"' && r == '\\':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				words = append(words, variable.ReplaceAllStringFunc(word.String(), func(name string) string { return c.vars[name[1:]] }))
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	return words
}

// compare matches whole lines; blank ones at the end do not count.
func (c *conversation) compare(what, got string, want []string) {
	c.Helper()
	var names []string
	var pattern strings.Builder
	rest := strings.TrimRight(strings.Join(want, "\n"), "\n")
	for {
		at := wildcard.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		pattern.WriteString(regexp.QuoteMeta(rest[:at[0]]) + "(" + rest[at[4]:at[5]] + ")")
		name := ""
		if at[2] >= 0 {
			name = rest[at[2]:at[3]]
		}
		names, rest = append(names, name), rest[at[1]:]
	}
	pattern.WriteString(regexp.QuoteMeta(rest))
	match := regexp.MustCompile("^" + pattern.String() + "$").FindStringSubmatch(strings.TrimRight(got, "\n"))
	if match == nil {
		c.Errorf("%s:\n%s\nwant:\n%s", what, got, strings.Join(want, "\n"))
		return
	}
	for i, name := range names {
		if name != "" {
			c.vars[name] = match[i+1]
		}
	}
}

// keepsSecrets holds for every command but those that print a file.
func (c *conversation) keepsSecrets(line, printed string, words []string) {
	c.Helper()
	if words[0] != "latchkey" {
		return
	}
	secrets := []string{"hunter2"}
	for _, name := range c.env.names() {
		if strings.Contains(name, "SECRET") {
			secrets = append(secrets, c.env.get(name))
		}
	}
	for _, secret := range secrets {
		if len(secret) > 5 && strings.Contains(printed, secret) {
			c.Errorf("%s: prints a secret:\n%s", line, printed)
		}
	}
}
