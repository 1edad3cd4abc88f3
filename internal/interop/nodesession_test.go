package interop

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestNodeSession: the API of examples/nodesession knows who is signed in at a Node
// server with Auth.js, and nobody else.
func TestNodeSession(t *testing.T) {
	site := theirSite{Secrets: []string{newSecret, oldSecret}}.start(t)
	api := startProgram(t, "nodesession", nil, "AUTH_SECRET="+newSecret, "AUTH_SECRET_1=", "AUTH_SECRET_2=", "AUTH_SECRET_3=", "AUTH_URL="+site)
	b := &browser{latchkeytest.NewClientAt(t, site), t, false}
	refused(t, api, "nobody", nil)

	b.signInAda()
	token := b.cookieValue("session-token")
	if got := asksMe(t, api, b.cookieHeaders()); got != (caller{"id of ada", "ada", "ada@example.com"}) {
		t.Errorf("the cookie is %+v's", got)
	}
	if got := asksMe(t, api, bearer(token)); got.Name != "ada" {
		t.Errorf("the token is %+v's", got)
	}

	b.Post("/auth/session", url.Values{"csrfToken": {b.CSRFToken()}, "data": {"9000"}})
	if names := b.sessionCookies(); len(names) < 3 {
		t.Fatalf("the session is in %v", names)
	}
	if got := asksMe(t, api, b.cookieHeaders()); len(got.Name) != 9000 {
		t.Errorf("the pieces are %+v's", got)
	}
	b.SignOut()
	refused(t, api, "signed out", b.cookieHeaders())

	refused(t, api, "forged", bearer(token[:len(token)-9]+strings.Repeat("A", 9)))
	theirs := startPeer(t, "authjs", "tokens.mjs")
	sealed := func(secret, salt string, maxAge int) (token string) {
		theirs.ask(object{"do": "encode", "token": object{"sub": "1"}, "secret": secret, "salt": salt, "maxAge": maxAge}, &token)
		return token
	}
	if got := asksMe(t, api, bearer(sealed(newSecret, sessionCookie, 60))); got.ID != "1" {
		t.Errorf("a token for a minute is %+v's", got)
	}
	refused(t, api, "expired", bearer(sealed(newSecret, sessionCookie, -60)))
	refused(t, api, "under a secret that is not this API's", bearer(sealed(oldSecret, sessionCookie, 60)))
	refused(t, api, "for another cookie", bearer(sealed(newSecret, secureCookie, 60)))
}

// TestNodeSessionOfHTTPS: a Node server on https has other names for its cookies.
func TestNodeSessionOfHTTPS(t *testing.T) {
	site := theirSite{Secrets: []string{newSecret}, Secure: true}.start(t)
	api := startProgram(t, "nodesession", nil, "AUTH_SECRET="+newSecret, "AUTH_URL=https://node.example")
	b := &browser{latchkeytest.NewClientAt(t, site), t, true}
	b.signInAda()
	if got := asksMe(t, api, b.cookieHeaders()); got.Name != "ada" {
		t.Errorf("the cookie is %+v's", got)
	}
}

type caller struct{ ID, Name, Email string }

// cookieHeaders is what the browser would send the API: cookies know no ports.
func (b *browser) cookieHeaders() http.Header {
	var pairs []string
	for _, c := range b.Cookies() {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	return http.Header{"Cookie": {strings.Join(pairs, "; ")}}
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

func asksMe(t *testing.T, api string, header http.Header) (c caller) {
	t.Helper()
	status, body := getMe(t, api, header)
	if status != http.StatusOK {
		t.Errorf("answered %d %s", status, body)
		return c
	}
	ok(t, json.Unmarshal(body, &c))
	return c
}

func refused(t *testing.T, api, who string, header http.Header) {
	t.Helper()
	if status, body := getMe(t, api, header); status != http.StatusUnauthorized {
		t.Errorf("%s: answered %d %s", who, status, body)
	}
}

func getMe(t *testing.T, api string, header http.Header) (int, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, api+"/me", nil)
	ok(t, err)
	r.Header = header
	res, err := http.DefaultClient.Do(r)
	ok(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	ok(t, err)
	return res.StatusCode, body
}
