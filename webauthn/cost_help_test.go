package webauthn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// costHead begins the page with the table.
const costHead = `# What a request costs

What one request of an unauthenticated client makes a site do, at most. A test sends every
route requests at the limits of what is read (long queries, cookies and bodies, of few values
and of many), compares each with the line of its route, and writes this page:
` + "`LATCHKEY_WRITE=1 go test ./webauthn -run TestCostOfRoutes`" + `. Cryptography and stores in memory
are counted, a database and the hasher of passwords are not. The work is in proportion to what is read;
` + "`go test -run XXX -bench Answers ./webauthn`" + ` compares hostile answers of passkeys with an honest one.
How long the headers of a request may be is for ` + "`MaxHeaderBytes`" + ` of your ` + "`http.Server`" + ` to say: 1 MiB
unless you set it.

*read* is what the request has: URL, headers and body. *objects* and *allocated* are what the program allocates for it.
Sizes are in KiB, what is stored in bytes. Mails have [limits of their own](../hardening.md#limits).

| route | read | objects | allocated | sent | stored |
| --- | --- | --- | --- | --- | --- |
`

func marshal(text string) (string, error) {
	raw, err := json.Marshal(text)
	return string(raw), err
}

func readCloser(body string) io.ReadCloser { return io.NopCloser(strings.NewReader(body)) }

// newWholeSite returns a site on which every action is on, and that logs to log.
func newWholeSite(t *testing.T, log io.Writer) *site {
	t.Helper()
	return newSite(t, func(c *latchkey.Config, _ *latchkey.WebAuthn) {
		c.Runtime.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.Runtime.HTTPClient = &http.Client{Transport: noNetwork{}}
		c.Providers = append(c.Providers, &latchkey.Email{Send: discardMail}, &latchkey.Credentials{
			ID: "password", Fields: []latchkey.Field{{Name: "username"}, {Name: "password", Type: "password"}}, Authorize: nobody,
		})
		plainsite.Whole(c)
	})
}

// noNetwork answers no request.
type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("there is no network")
}

// TestEveryRouteIsCosted is R-523: every route that can be mounted has a line in the
// table of costs, for each method that it takes. All actions of docs/protocol.md are on.
// What is no route for a method needs no line.
func TestEveryRouteIsCosted(t *testing.T) {
	takes := func(method, path string) bool {
		var log bytes.Buffer // of a site of its own: a log says the same not too often
		s := newWholeSite(t, &log)
		r := httptest.NewRequest(method, s.url+path, strings.NewReader("a=b"))
		r.Header.Set("Content-Type", formType)
		r.Header.Set("Origin", s.url)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		s.auth.ServeHTTP(httptest.NewRecorder(), r)
		must(0, s.auth.Shutdown(t.Context())) // what goes on in the background writes to the log
		return !strings.Contains(log.String(), "no such route for "+method) && !strings.Contains(log.String(), "a sign-in starts with POST")
	}
	lines, on := map[string]bool{}, map[string]bool{}
	for _, c := range costedRoutes() {
		lines[c.key()] = true
	}
	for _, path := range must(newWholeSite(t, io.Discard).auth.Routes("")) {
		action := strings.Split(path, "/")[2]
		on[action] = true
		kind, names := "/:provider", []string{"passkey", "email", "password", "known", "away"}
		if action == "client" {
			kind, names = "/:file", []string{"latchkey.js"}
		}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			line := method + " " + strings.Replace(strings.TrimPrefix(path, "/auth"), "/{name}", kind, 1)
			taken := slices.ContainsFunc(names, func(name string) bool { return takes(method, strings.Replace(path, "{name}", name, 1)) })
			if taken != lines[line] {
				t.Errorf("R-523 %s is a route: %t, has a line in the table of costs: %t", line, taken, lines[line])
			}
		}
	}
	for _, action := range actionsOfProtocol(t) {
		if !on[action] {
			t.Errorf("R-523 docs/protocol.md has the action %s: switch it on in plainsite.Whole", action)
		}
	}
	costedBeside(t)
}

// actionsOfProtocol returns the actions of docs/protocol.md that can be switched on.
func actionsOfProtocol(t *testing.T) (actions []string) {
	t.Helper()
	_, page, _ := strings.Cut(string(must(os.ReadFile("../docs/protocol.md"))), "| action | on |\n")
	table, _, _ := strings.Cut(page, "\n\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 || strings.HasPrefix(cells[2], " never yet") {
			continue
		}
		for i, part := range strings.Split(cells[1], "`") {
			if i%2 == 1 {
				actions = append(actions, part)
			}
		}
	}
	if len(actions) < 15 {
		t.Fatalf("docs/protocol.md has the actions %q", actions)
	}
	return actions
}

// costedBeside fails for a handler of Auth without a line. Such handlers are mounted
// outside of the base path; those that take a handler are guards.
func costedBeside(t *testing.T) {
	t.Helper()
	handlers, beside := 0, 0
	for m := range reflect.TypeFor[*latchkey.Auth]().Methods() {
		if m.Type.NumOut() == 1 && m.Type.Out(0) == reflect.TypeFor[http.Handler]() && (m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[http.Handler]()) {
			handlers++
		}
	}
	for _, c := range costedRoutes() {
		if c.beside != nil {
			beside++
		}
	}
	if handlers != beside {
		t.Errorf("R-523: Auth has %d handlers beside its routes, and the table of costs has %d", handlers, beside)
	}
}

func discardMail(context.Context, latchkey.Message) error { return nil }

func nobody(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
	return latchkey.User{}, latchkey.ErrCredentialsSignin
}

// fill stores a user with as many and as long passkeys as there may be.
func (s *site) fill(t *testing.T) {
	t.Helper()
	u := must(s.store.CreateUser(t.Context(), storage.User{ID: "full", Email: "full@example.com"}))
	for i := range 64 {
		id := make([]byte, 1023)
		id[0] = byte(i)
		k := storage.Authenticator{CredentialID: id, UserID: u.ID, PublicKey: make([]byte, 600), Transports: []string{"internal", "hybrid", "usb", "nfc"}}
		if err := s.store.CreateAuthenticator(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkAnswers compares what hostile answers cost with an honest sign-up. It
// reports the ratio of their times, which is to stay below 20. Before, a certificate
// of RSA of 100,000 bits took a thousand times as long.
func BenchmarkAnswers(b *testing.B) {
	v := readVectors(b).Vectors[0]
	honest := func() { _, _ = v.register(webauthn.Ceremony{}) }
	for name, hostile := range hostileAnswers(b) {
		b.Run(name, func(b *testing.B) {
			var usual, worst time.Duration
			for b.Loop() {
				at := time.Now()
				honest()
				then := time.Now()
				_, _ = hostile.register(webauthn.Ceremony{})
				usual, worst = usual+then.Sub(at), worst+time.Since(then)
			}
			b.ReportMetric(float64(worst)/float64(usual), "x/honest")
		})
	}
}

// hostileAnswers are registrations that would be dear without limits.
func hostileAnswers(b *testing.B) map[string]vector {
	b.Helper()
	first := readVectors(b).Vectors[0]
	all := map[string]vector{}
	for name, object := range map[string]map[string]any{
		"RSA of 100,000 bits": {"fmt": "none", "attStmt": map[string]any{}, "authData": rsaData(first, 12_500)},
		"RSA of 4,096 bits":   {"fmt": "none", "attStmt": map[string]any{}, "authData": rsaData(first, 512)},
		"a certificate of RSA of 100,000 bits": {"fmt": "packed", "authData": rsaData(first, 512), "attStmt": map[string]any{
			"alg": -257, "sig": make([]byte, 1000), "x5c": []any{certificateOf(b, bytes.Repeat([]byte{0xff}, 12_500))},
		}},
	} {
		v := first
		v.Registration.AttestationObject = must(webauthncbor.Marshal(object))
		all[name] = v
	}
	return all
}

// rsaData is authenticator data with an RSA key of so many bytes.
func rsaData(v vector, n int) []byte {
	object := v.Registration.AttestationObject
	data := object[bytes.Index(object, v.CredentialID)-55:]
	key := must(webauthncbor.Marshal(map[int]any{1: 3, 3: -257, -1: bytes.Repeat([]byte{0xff}, n), -2: []byte{1, 0, 1}}))
	return slices.Concat(data[:55+len(v.CredentialID)], key)
}
