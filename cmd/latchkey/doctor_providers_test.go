package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestIssuers is for answers that no good provider gives, and one that
// Microsoft does.
func TestIssuers(t *testing.T) {
	var url string
	documents := map[string]string{
		"/common/v2.0": `{"issuer":"URL/{tenantid}/v2.0","authorization_endpoint":"URL/a","token_endpoint":"URL/t","jwks_uri":"URL/k"}`,
		"/garbage":     `<html>`,
		"/par":         `{"issuer":"URL/par","authorization_endpoint":"URL/a","token_endpoint":"URL/t","jwks_uri":"URL/k","require_pushed_authorization_requests":true}`,
		"/hostile":     `{"issuer":"https://x.example/\u001b[2J"}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimSuffix(r.URL.Path, "/.well-known/openid-configuration")
		switch document, ok := documents[path]; {
		case ok:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(strings.ReplaceAll(document, "URL", url)))
		case path == "/elsewhere":
			http.Redirect(w, r, "https://x.example/common/v2.0", http.StatusFound)
		default:
			http.Error(w, "hunter2", http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	url = server.URL
	for path, want := range map[string]string{
		"/common/v2.0": "OK    ISSUER: answers and names itself so; it does not say that it knows PKCE, so state and nonce are used too\n",
		"/garbage":     "FAIL  ISSUER: URL/garbage/.well-known/openid-configuration: ",
		"/par":         "FAIL  ISSUER: the provider demands pushed authorization requests (RFC 9126), which is not supported: ", // T-136
		"/hostile":     `FAIL  ISSUER: its document says that it is "https://x.example/\x1b[2J". Set it to exactly that`,
		"/elsewhere":   "FAIL  ISSUER: answers URL/elsewhere/.well-known/openid-configuration with status 302: redirects are not followed. ",
		"/broken":      "FAIL  ISSUER: answers URL/broken/.well-known/openid-configuration with status 500: ",
	} {
		t.Run(path, func(t *testing.T) {
			var out bytes.Buffer
			p := &program{http: server.Client(), now: time.Now}
			newDoctor(p, &out, nil).checkIssuers(t.Context(), []issuer{{"ISSUER", url + path}})
			got := strings.ReplaceAll(out.String(), url, "URL")
			if !strings.HasPrefix(got, want) || strings.Contains(got, "hunter2") {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
