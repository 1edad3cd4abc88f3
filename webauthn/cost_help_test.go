package webauthn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// costHead begins the page with the table.
const costHead = `# What a request costs

What one request of an unauthenticated client makes a site do, at most. A test sends every
route requests at the limits of what is read (long queries, cookies and bodies, of few values
and of many), compares each with the line of its route, and writes this page:
` + "`LATCHKEY_WRITE=1 go test ./webauthn -run TestCostOfRoutes`" + `. Cryptography and stores in memory
are counted, a database is not. The work is in proportion to what is read;
` + "`go test -run XXX -bench Answers ./webauthn`" + ` compares hostile answers of passkeys with an honest one.
How long the headers of a request may be is for ` + "`MaxHeaderBytes`" + ` of your ` + "`http.Server`" + ` to say: 1 MiB
unless you set it.

Sizes are in KiB, what is stored in bytes.

| route | read | objects | allocated | sent | stored |
| --- | --- | --- | --- | --- | --- |
`

func marshal(text string) (string, error) {
	raw, err := json.Marshal(text)
	return string(raw), err
}

func readCloser(body string) io.ReadCloser { return io.NopCloser(strings.NewReader(body)) }

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
