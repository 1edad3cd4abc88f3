package oauth

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

func TestUserInfoRequest(t *testing.T) {
	f := newFake(t)
	f.answer("/userinfo", send(200, "application/json", `{"sub":"person-1","n":12345678901234567}`))
	c := f.client(t, func(c *Config) { c.UserInfo.Params = url.Values{"fields": {"id,name"}} })
	claims, err := c.UserInfo(t.Context(), "access", "person-1")
	if err != nil {
		t.Fatal(err)
	}
	if claims["n"] != json.Number("12345678901234567") {
		t.Errorf("digits were lost: %v", claims["n"])
	}
	r := f.last(t, "/userinfo")
	if r.Method != "GET" || r.Header.Get("Authorization") != "Bearer access" || r.URL.Query().Get("fields") != "id,name" || r.Header.Get("User-Agent") != "latchkey" {
		t.Errorf("unexpected request %s %s %v", r.Method, r.URL, r.Header)
	}
}

func TestR054UserInfoSubject(t *testing.T) {
	f := newFake(t)
	for _, row := range []struct {
		name, body, want string
		oidc, ok         bool
	}{
		{"equal", `{"sub":"person-1"}`, "person-1", true, true},
		{"another", `{"sub":"person-2"}`, "person-1", true, false},
		{"missing", `{"name":"x"}`, "person-1", true, false},
		{"in another case", `{"sub":"Person-1"}`, "person-1", true, false},
		{"R-036 under another name", `{"Sub":"person-1"}`, "person-1", true, false},
		{"a number", `{"sub":1}`, "1", true, false},
		{"both empty", `{"sub":""}`, "", true, false},
		{"both missing", `{}`, "", true, false},
		{"plain OAuth has none", `{"id":1}`, "", false, true},
		{"plain OAuth with an ID token", `{"sub":"person-2"}`, "person-1", false, false},
	} {
		t.Run("R-054 "+row.name, func(t *testing.T) {
			f.answer("/userinfo", send(200, "application/json", row.body))
			config := f.plain()
			if row.oidc {
				config = f.config()
			}
			_, err := newClient(t, config).UserInfo(t.Context(), "canary", row.want)
			if row.ok {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantStep(t, err, StepUserInfo, "sub")
		})
	}
}

func TestUserInfoAnswers(t *testing.T) {
	f := newFake(t)
	for _, row := range []struct {
		name, mediaType, body string
		status                int
		ok                    bool
	}{
		{"honest", "application/json", `{"id":1}`, 200, true},
		{"another 2xx", "application/json", `{"id":1}`, 203, true},
		{"another media type", "text/plain", `{"id":1}`, 200, true},
		{"no media type", "", `{"id":1}`, 200, true},
		{"an error member that is an object", "application/json", `{"id":1,"error":{"code":"ok"}}`, 200, true},
		{"401 with a profile", "application/json", `{"id":1}`, 401, false},
		{"500 page", "text/html", `<html>canary`, 500, false},
		{"array", "application/json", `[]`, 200, false},
		{"null", "application/json", `null`, 200, false},
		{"text", "application/json", `"x"`, 200, false},
		{"empty", "application/json", ``, 200, false},
		{"no content", "application/json", ``, 204, false},
		{"truncated", "application/json", `{"id":"canary`, 200, false},
		{"HTML", "text/html", `<html>`, 200, false},
		{"R-383 an id twice", "application/json", `{"id":1,"id":2}`, 200, false},
		{"a JWT from a plain provider", "application/jwt", f.idToken(nil), 200, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f.answer("/userinfo", send(row.status, row.mediaType, row.body))
			_, err := newClient(t, f.plain()).UserInfo(t.Context(), "canary", "")
			if row.ok {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantStep(t, err, StepUserInfo, "")
		})
	}
	for _, status := range []int{200, 401} {
		f.answer("/userinfo", send(status, "application/json", `{"error":"invalid_token","error_description":"canary"}`))
		_, err := newClient(t, f.plain()).UserInfo(t.Context(), "canary", "")
		var stated *ResponseError
		if !errors.As(err, &stated) || stated.Code != "invalid_token" || stated.Step != StepUserInfo {
			t.Errorf("R-051 status %d: got %v", status, err)
		}
	}
}

func TestSignedUserInfo(t *testing.T) {
	f := newFake(t)
	past := time.Now().Unix() - 100
	signed := func(claims map[string]any) string { return sign(rsaKey(), jose.RS256, "k1", nil, encode(claims)) }
	for _, row := range []struct {
		name, token string
		status      int
		want        string
	}{
		{"everything right", signed(f.claims(nil)), 200, ""},
		{"no time of expiry", signed(f.claims(map[string]any{"exp": nil, "iat": nil})), 200, ""},
		{"R-383 claims alone", signed(map[string]any{"sub": "person-1"}), 200, "iss"},
		{"R-383 without iss", signed(f.claims(map[string]any{"iss": nil})), 200, "iss"},
		{"R-383 without aud", signed(f.claims(map[string]any{"aud": nil})), 200, "aud"},
		{"R-383 sub twice", sign(rsaKey(), jose.RS256, "k1", nil, []byte(`{"iss":"`+f.URL+`","aud":"`+clientID+`","sub":"person-2","sub":"person-1"}`)), 200, "repeated"},
		{"another subject", signed(f.claims(map[string]any{"sub": "person-2"})), 200, "sub"},
		{"another issuer", signed(f.claims(map[string]any{"iss": "https://op.example"})), 200, "iss"},
		{"another audience", signed(f.claims(map[string]any{"aud": "other"})), 200, "aud"},
		{"expired", signed(f.claims(map[string]any{"exp": past})), 200, "expired"},
		{"exp of another type", signed(f.claims(map[string]any{"exp": "x"})), 200, "exp is not a time"},
		{"another key", sign(otherKey(), jose.RS256, "k1", nil, encode(f.claims(nil))), 200, "no key"},
		{"no JWT", "canary", 200, "three parts"},
		{"another status", signed(f.claims(nil)), 401, "status 401"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f.answer("/userinfo", send(row.status, "application/jwt", row.token))
			claims, err := f.client(t).UserInfo(t.Context(), "canary", "person-1")
			if row.want != "" {
				wantStep(t, err, StepUserInfo, row.want)
			} else if err != nil || claims["sub"] != "person-1" {
				t.Errorf("got %v, %v", claims, err)
			}
		})
	}
}

func TestUserInfoDoesNotFollowTheToken(t *testing.T) {
	f := newFake(t)
	f.answer("/userinfo", func(w http.ResponseWriter, r *http.Request) { sendJSON(w, 200, map[string]any{"sub": "person-1"}) })
	_, err := f.client(t).UserInfo(t.Context(), "canary\r\nX-Evil: 1", "person-1")
	wantStep(t, err, StepUserInfo, "")
	if n := f.hits("/userinfo"); n != 0 {
		t.Errorf("%d requests with a forged header", n)
	}
}
