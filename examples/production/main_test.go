//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// site is a process of the program under test.
type site struct {
	url, operations string
	issuer          *latchkeytest.Issuer
	log             logs
	stop            context.CancelFunc
	ended           chan error
}

// logs are what the program wrote.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start migrates an empty PostgreSQL and starts the program on free ports.
func start(t *testing.T) *site {
	t.Helper()
	server, ports := realservers.Postgres(t, true), realservers.FreePorts(t, 2)
	s := &site{
		url: fmt.Sprintf("http://127.0.0.1:%d", ports[0]), operations: fmt.Sprintf("http://127.0.0.1:%d", ports[1]),
		issuer: latchkeytest.NewIssuer(t), ended: make(chan error, 1),
	}
	for name, value := range map[string]string{
		"AUTH_SECRET": "q8V2mZ0tLr5xYc7NfKe3Wb9HsJd6Gp4A", "AUTH_URL": s.url,
		"DATABASE_URL":    fmt.Sprintf("postgres://latchkey@127.0.0.1:%d/postgres", server.Port),
		"TRUSTED_PROXIES": "127.0.0.0/8, ::1/128", "DRAIN": "0s",
		"LISTEN": strings.TrimPrefix(s.url, "http://"), "LISTEN_OPERATIONS": strings.TrimPrefix(s.operations, "http://"),
	} {
		t.Setenv(name, value)
	}
	if err := run(t.Context(), []string{"migrate"}, &s.log); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	s.stop = stop
	go func() { s.ended <- run(ctx, nil, &s.log, s.issuer.Provider()) }()
	t.Cleanup(stop)
	s.await(t, http.StatusOK)
	return s
}

// await asks until /readyz is answered with a status.
func (s *site) await(t *testing.T, status int) {
	t.Helper()
	for deadline := time.Now().Add(race.Patience(time.Minute)); ; {
		got, _ := get(t, s.operations+"/readyz")
		if got == status {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("/readyz is %d, want %d; the log:\n%s", got, status, &s.log)
			return
		}
	}
}

// get returns the status and the body at a URL, or 0 if nothing answers.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func TestProduction(t *testing.T) {
	s := start(t)
	s.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada"})
	browser := latchkeytest.NewClientAt(t, s.url)
	browser.SignIn(s.issuer)
	if p := browser.Get("/"); string(p.Body) != "Hello, Ada" {
		t.Error(p.Describe())
	}
	if _, text := get(t, s.operations+"/metrics"); !strings.Contains(text, `latchkey_sign_ins_total{`) {
		t.Errorf("the metrics count no sign-in:\n%s", text)
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		if status, _ := get(t, s.url+path); status != http.StatusNotFound {
			t.Errorf("visitors get %d at %s", status, path)
		}
	}

	// The program is told to end while the provider still thinks about a second sign-in.
	var once sync.Once
	s.issuer.Misbehave(latchkeytest.Misbehaviour{Before: func(path string) {
		if path != "/token" {
			return
		}
		once.Do(func() {
			s.stop()
			s.await(t, http.StatusServiceUnavailable)
			if status, _ := get(t, s.operations+"/livez"); status != http.StatusOK {
				t.Errorf("the instance is not live while it drains: %d", status)
			}
		})
	}})
	late := latchkeytest.NewClientAt(t, s.url)
	if p := late.Complete(late.Begin("issuer")); p.Error() != "" || late.Cookie("authjs.session-token") == nil {
		t.Errorf("the request that ran was lost: %s", p.Describe())
	}
	if err := <-s.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	for _, url := range []string{s.url, s.operations} {
		if c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil {
			c.Close()
			t.Errorf("%s still answers", url)
		}
	}
	if text := s.log.String(); !strings.HasPrefix(text, "{") || strings.Contains(text, `"level":"ERROR"`) {
		t.Errorf("the log:\n%s", text)
	}
	if err := run(t.Context(), []string{"sweep"}, &s.log, s.issuer.Provider()); err != nil {
		t.Errorf("sweep: %v", err)
	}
}

// TestSettings checks that an error names the variable and never repeats a password.
func TestSettings(t *testing.T) {
	const good = "postgres://u:hunter2@db/site"
	for _, row := range []struct {
		name, variable string
		env            map[string]string
	}{
		{"no database", "DATABASE_URL", nil},
		{"a proxy that is no network", "TRUSTED_PROXIES", map[string]string{"DATABASE_URL": good, "TRUSTED_PROXIES": "10.0.0.1"}},
		{"a drain without a unit", "DRAIN", map[string]string{"DATABASE_URL": good, "DRAIN": "5"}},
		{"all that is needed", "", map[string]string{"DATABASE_URL": good, "TRUSTED_PROXIES": "10.0.0.0/8,fd00::/8"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, err := settingsFrom(func(name string) string { return row.env[name] })
			if (err == nil) != (row.variable == "") {
				t.Fatal(err)
			}
			if err != nil && (!strings.HasPrefix(err.Error(), row.variable) || strings.Contains(err.Error(), "hunter2")) {
				t.Error(err)
			}
			if err == nil && (len(s.proxies) != 2 || s.drain != 5*time.Second) {
				t.Errorf("%v, %v", s.proxies, s.drain)
			}
		})
	}
}
