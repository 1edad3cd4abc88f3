package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

func TestAPI(t *testing.T) {
	const secret, name = "a secret for tests that is long enough", "authjs.session-token"
	environment := func(string) string { return "" }
	if _, err := newAPI(jwt.TokenParams{Getenv: environment}); err == nil {
		t.Error("starts without a secret")
	}
	api, err := newAPI(jwt.TokenParams{Secrets: []string{secret}, Getenv: environment})
	if err != nil {
		t.Fatal(err)
	}
	seal := func(secret, salt string, age time.Duration) string {
		token, err := jwt.Encode(jwt.Claims{"sub": "1", "name": "Ada"}, jwt.Params{Secrets: []string{secret}, Salt: salt, MaxAge: age})
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	good := seal(secret, name, time.Hour)
	for _, c := range []struct {
		what, header, value string
		status              int
	}{
		{"nobody", "", "", http.StatusUnauthorized},
		{"a cookie", "Cookie", name + "=" + good, http.StatusOK},
		{"a bearer", "Authorization", "Bearer " + good, http.StatusOK},
		{"an expired token", "Cookie", name + "=" + seal(secret, name, -time.Hour), http.StatusUnauthorized},
		{"a token for another cookie", "Cookie", name + "=" + seal(secret, "another", time.Hour), http.StatusUnauthorized},
		{"another secret", "Authorization", "Bearer " + seal("another secret that is long enough too", name, time.Hour), http.StatusUnauthorized},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/me", nil)
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		w := httptest.NewRecorder()
		if api.ServeHTTP(w, r); w.Code != c.status {
			t.Errorf("%s: %d %s", c.what, w.Code, w.Body)
		}
	}
}
