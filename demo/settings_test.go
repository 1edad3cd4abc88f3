package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/mailtext"
)

func TestSettingsThatMakeNoSense(t *testing.T) {
	for _, row := range []struct{ name, variable, value, says string }{
		{"a strategy that is none", "SESSION_STRATEGY", "cookie", "SESSION_STRATEGY"},
		{"a data folder that is a file", "DEMO_DATA", os.Args[0], "not a directory"},
	} {
		t.Run(row.name, func(t *testing.T) {
			env := map[string]string{"DEMO_DATA": t.TempDir(), row.variable: row.value}
			_, err := readSettings(func(name string) string { return env[name] })
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("error %v, want one about %s", err, row.says)
			}
		})
	}
}

// TestUnusedVariables names what the demo does not read, and never its value.
func TestUnusedVariables(t *testing.T) {
	for _, row := range []struct {
		name, variable string
		warns          bool
	}{
		{"a database", "DATABASE_URL", true},
		{"a Redis", "REDIS_URL", true},
		{"something else", "PORT", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out strings.Builder
			env := map[string]string{row.variable: "scheme://u:hunter2@host"}
			warnUnused(slog.New(slog.NewTextHandler(&out, nil)), func(name string) string { return env[name] })
			said := out.String()
			if strings.Contains(said, row.variable) != row.warns || strings.Contains(said, "hunter2") {
				t.Errorf("logged %q", said)
			}
		})
	}
}

func TestSecretFromTheEnvironment(t *testing.T) {
	s := environment(t, "AUTH_SECRET", "a secret of the environment, long enough")
	if len(s.secrets) != 1 || s.secrets[0] != "a secret of the environment, long enough" {
		t.Errorf("secrets %q", s.secrets)
	}
	if _, err := os.Stat(filepath.Join(s.data, "secret")); err == nil {
		t.Error("a secret was made all the same")
	}
}

// TestSecretIsMadeOnce by demos that start at the same time.
func TestSecretIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	var secrets sync.Map
	var started sync.WaitGroup
	for range 8 {
		started.Go(func() {
			secret, err := keptSecret(path)
			if err != nil || len(secret) < 40 {
				t.Errorf("%d characters, %v", len(secret), err)
			}
			secrets.Store(secret, true)
		})
	}
	started.Wait()
	n := 0
	secrets.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d secrets", n)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestMailbox(t *testing.T) {
	m, err := newMailbox(filepath.Join(t.TempDir(), "mails"))
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(m.dir, time.Now().UTC().Add(-2*lettersKept).Format(stamp)+"-x.eml")
	if err := os.WriteFile(old, []byte("To: x@example.com\n\nold\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ends := time.Now().Add(time.Hour)
	link := func(to string) latchkey.Message {
		return latchkey.Message{Kind: latchkey.MessageSignIn, To: to, URL: "http://localhost:3000/auth/callback/email?email=" + to, Expires: ends, Language: "ja"}
	}
	for _, to := range []string{"first@example.com", "second@example.com"} {
		if err := m.send(t.Context(), link(to)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := m.letters()
	if err != nil || len(list) != 2 {
		t.Fatalf("%d letters, %v", len(list), err)
	}
	newest := list[0]
	if newest.To != "second@example.com" || !strings.Contains(newest.Subject, "localhost:3000") || newest.Sent.IsZero() {
		t.Errorf("%+v", newest)
	}
	sent, err := mailtext.Compose(link("second@example.com"))
	if err != nil || newest.HTML != sent.HTML || newest.Text != sent.Text {
		t.Errorf("R-328: what is kept is not what was sent: %+v, %v", newest, err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("an old mail was kept")
	}
}

// TestRun starts the whole program, reads the URL it prints, and stops it.
func TestRun(t *testing.T) {
	t.Setenv("DEMO_DATA", t.TempDir())
	t.Setenv("DATABASE_URL", "")
	t.Setenv("SESSION_STRATEGY", "")
	t.Setenv("PORT", "0")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, in)
		in.Close()
	}()
	rawURL := firstURL(t, out)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	resp, err := http.Get(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if page, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(page), "Try signing in") {
		t.Errorf("%v\n%s", err, page)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("stopped with %v", err)
	}
	if again, err := http.Get(rawURL); err == nil { // by now somebody else may have the port
		defer again.Body.Close()
		if page, _ := io.ReadAll(again.Body); strings.Contains(string(page), "Try signing in") {
			t.Error("still answers")
		}
	}
}

func firstURL(t *testing.T, out io.Reader) string {
	t.Helper()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if rawURL := regexp.MustCompile(`http://localhost:\d+`).FindString(lines.Text()); rawURL != "" {
			return rawURL
		}
	}
	t.Fatalf("no URL: %v", lines.Err())
	return ""
}

func TestListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	if l, err := listen(port); err == nil {
		l.Close()
		t.Error("took another port than was asked for")
	}
	first, err := listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for _, l := range []net.Listener{first, second} { // the second's port may be before the first's, if somebody has just left it
		if a := l.Addr().(*net.TCPAddr); a.Port < firstPort || a.Port >= firstPort+tries || !a.IP.IsLoopback() {
			t.Errorf("listens at %v", a)
		}
	}
}
