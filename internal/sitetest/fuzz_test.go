package sitetest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// FuzzServeHTTP sends whole requests of any kind: nothing panics, nothing
// fails but configuration, nobody is signed in, nobody is sent away.
func FuzzServeHTTP(f *testing.F) {
	s := newSite(f, func(c *latchkey.Config) {
		c.Limits.Disabled = true
		c.AccountPage.Enabled = true
	})
	pair := csrfCookie + "=" + csrfPair("token", siteSecret)
	for _, seed := range []struct{ method, path, query, header, cookie, contentType, body string }{
		{"GET", "/auth/session", "", "", "__Secure-authjs.session-token=a.b.c.d.e", "", ""},
		{"GET", "/auth/signin", "callbackUrl=/x&error=CredentialsSignin", "", "", "", ""},
		{"POST", "/auth/signin/acme", "prompt=none&redirect_uri=//evil.example", "Sec-Fetch-Site: same-origin", pair, formContentType, "csrfToken=token"},
		{"POST", "/auth/signin/post", "", "", pair, formContentType, "csrfToken=token&email=a@example.com"},
		{"POST", "/auth/callback/crew", "", "X-Auth-Return-Redirect: 1", pair, "application/json", `{"csrfToken":"token","username":"alice","password":"x"}`},
		{"GET", "/auth/callback/acme", "code=x&state=y&iss=z", "", "__Secure-authjs.state=x; __Secure-authjs.pkce.code_verifier=y", "", ""},
		{"GET", "/auth/callback/post", "token=x&email=a@example.com", "Sec-Purpose: prefetch", "", "", ""},
		{"POST", "/auth/signout", "", "Origin: null", pair, formContentType, "csrfToken=token&callbackUrl=//evil.example"},
		{"POST", "/auth/session", "", "", pair, "application/json", `{"csrfToken":"token","data":[{}]}`},
		{"GET", "/auth/error", "error=%00", "X-Forwarded-Host: evil.example", "", "", ""},
		{"GET", "/auth/session", "", "Authorization: Bearer %", "__Secure-authjs.session-token.0=a; __Secure-authjs.session-token.1=b", "", ""},
		{"POST", "/auth/account", "do=delete", "", pair, formContentType, "csrfToken=token&confirm=delete"},
		{"HEAD", "/auth/csrf", "", "", "", "", ""},
	} {
		f.Add(seed.method, seed.path, seed.query, seed.header, seed.cookie, seed.contentType, seed.body)
	}
	f.Fuzz(func(t *testing.T, method, path, query, header, cookie, contentType, body string) {
		if strings.Contains(body, "wonderland") {
			return // who knows the password may sign in
		}
		r := httptest.NewRequest(http.MethodPost, siteOrigin, strings.NewReader(body))
		r.Method = method
		r.URL = &url.URL{Scheme: "https", Host: "app.example", Path: path, RawQuery: query}
		if u, err := url.Parse(path); err == nil && u.Host == "" {
			r.URL.RawPath = u.RawPath
		}
		if name, value, ok := strings.Cut(header, ":"); ok {
			r.Header[http.CanonicalHeaderKey(name)] = []string{strings.TrimSpace(value)}
		}
		r.Header["Cookie"], r.Header["Content-Type"] = []string{cookie}, []string{contentType}
		w := httptest.NewRecorder()
		s.auth.ServeHTTP(w, r)
		if w.Code >= 500 && !strings.Contains(strings.ToLower(w.Body.String()), "configuration") {
			t.Errorf("status %d: %.300s", w.Code, w.Body)
		}
		a := &answer{w}
		if a.signsIn() {
			t.Errorf("a session is set: %v", w.Header()["Set-Cookie"])
		}
		if to := a.location(); hasLineBreak(to) || to != "" && landsOn(siteOrigin, to) != siteOrigin && !strings.HasPrefix(to, "https://acme.example/authorize?") {
			t.Errorf("sent to %q", to)
		}
	})
}
