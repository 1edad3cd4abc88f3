package sitetest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/jwt"
)

// A session that no callback looks at is read from the token's text, without a
// map of its claims. What comes out must be what the map would give.
func TestReadingWithoutCallbacksAgreesWithReadingClaims(t *testing.T) {
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	site := func(s latchkey.SessionConfig) (plain, claims *latchkey.Auth) {
		c := latchkey.Config{
			Secrets: []string{benchSecret}, Site: latchkey.Site{URL: "http://site.example/auth"}, Session: s,
			Runtime: latchkey.Runtime{Logger: quiet, Time: func() time.Time { return at }},
			Providers: []latchkey.Provider{&latchkey.Credentials{Fields: []latchkey.Field{{Name: "username"}}, Authorize: func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
				return latchkey.User{}, nil
			}}},
		}
		plain, err := latchkey.New(c)
		if err != nil {
			t.Fatal(err)
		}
		c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) { return r.Session, nil }
		if claims, err = latchkey.New(c); err != nil {
			t.Fatal(err)
		}
		return plain, claims
	}
	plain, claims := site(latchkey.SessionConfig{})
	trackedPlain, trackedClaims := site(latchkey.SessionConfig{AbsoluteMaxAge: time.Hour})
	for name, token := range map[string]jwt.Claims{
		"the claims of a sign-in":             {"sub": "1", "name": "Alice", "email": "alice@example.com", "picture": nil},
		"nothing":                             {},
		"claims of the application's own":     {"sub": "1", "role": "admin", "list": []any{json.Number("1"), "b"}},
		"a number as subject":                 {"sub": json.Number("17")},
		"a name that is no text":              {"sub": "1", "name": json.Number("5"), "email": true},
		"escapes":                             {"sub": "1", "name": "A\u2028\"<b>"},
		"a sign-in that is known":             {"sub": "1", "sid": "s1", "auth_time": json.Number("1793534400.5")},
		"a sign-in an hour ago":               {"sub": "1", "sid": "s1", "auth_time": json.Number("1793530800")},
		"a sign-in without its time":          {"sub": "1", "sid": "s1"},
		"a time that is no number":            {"sub": "1", "sid": "s1", "auth_time": "yesterday"},
		"a session id that is no text":        {"sub": "1", "sid": []any{}, "auth_time": json.Number("1793534400")},
		"a session id that is null":           {"sub": "1", "sid": nil},
		"a token of somebody else's tenant":   {"sub": "1", "tenant": "other"},
		"a tenant that is a number":           {"sub": "1", "tenant": json.Number("1")},
		"a tenant that is neither, so nobody": {"sub": "1", "tenant": []any{}},
	} {
		t.Run(name, func(t *testing.T) {
			sealed, err := jwt.Encode(token, jwt.Params{Secrets: []string{benchSecret}, Salt: benchCookie, Time: func() time.Time { return at.Add(-time.Minute) }})
			if err != nil {
				t.Fatal(err)
			}
			compareReadings(t, at, sealed, plain, claims)
			compareReadings(t, at, sealed, trackedPlain, trackedClaims)
		})
	}
}

// compareReadings compares the session and the renewed token, but for what is
// random in it.
func compareReadings(t *testing.T, at time.Time, token string, plain, claims *latchkey.Auth) {
	t.Helper()
	read := func(auth *latchkey.Auth) (string, jwt.Claims, int) {
		r := httptest.NewRequest(http.MethodGet, "http://site.example/auth/session", nil)
		r.AddCookie(&http.Cookie{Name: benchCookie, Value: token})
		w := httptest.NewRecorder()
		auth.ServeHTTP(w, r)
		cookies := w.Result().Cookies()
		for _, c := range cookies {
			if c.Name == benchCookie && c.MaxAge >= 0 {
				renewed, err := jwt.Decode(c.Value, jwt.Params{Secrets: []string{benchSecret}, Salt: benchCookie, Time: func() time.Time { return at }})
				if err != nil {
					t.Fatal(err)
				}
				return w.Body.String(), renewed, len(cookies)
			}
		}
		return w.Body.String(), nil, len(cookies)
	}
	gotBody, got, gotCookies := read(plain)
	wantBody, want, wantCookies := read(claims)
	if gotBody != wantBody || gotCookies != wantCookies {
		t.Errorf("session %s with %d cookies, want %s with %d", gotBody, gotCookies, wantBody, wantCookies)
	}
	delete(got, "jti")
	delete(want, "jti")
	if len(got.String("sid")) == 32 && len(want.String("sid")) == 32 { // made up, both
		delete(got, "sid")
		delete(want, "sid")
	}
	if !maps.EqualFunc(got, want, func(a, b any) bool { x, _ := json.Marshal(a); y, _ := json.Marshal(b); return string(x) == string(y) }) {
		t.Errorf("token %v, want %v", got, want)
	}
}

// What one request was told of a session stays when the memory that its token
// was opened into holds the next one's.
func TestASessionKeepsNothingOfItsToken(t *testing.T) {
	auth := benchAuth(t, nil)
	read := func(claims jwt.Claims) *latchkey.Session {
		token, err := jwt.Encode(claims, jwt.Params{Secrets: []string{benchSecret}, Salt: benchCookie})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "http://site.example/", nil)
		r.Header.Set("Cookie", benchCookie+"="+token)
		req, err := latchkey.FromHTTP(r)
		if err != nil {
			t.Fatal(err)
		}
		s, _, err := auth.Core().ReadSession(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := read(jwt.Claims{"sub": "1", "name": json.Number("55555"), "email": "ada@example.com", "picture": []any{"ada"}})
	before, _ := json.Marshal(first)
	for range 8 {
		read(jwt.Claims{"sub": "2", "name": json.Number("77777"), "email": "bob@example.org", "picture": []any{"bob"}})
	}
	if after, _ := json.Marshal(first); string(after) != string(before) || first.UserID != "1" {
		t.Errorf("the session was %s and became %s, of user %s", before, after, first.UserID)
	}
}
