package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/testclock"
)

// tokenAnswer is an honest one, changed. A nil value removes the member.
func tokenAnswer(changes map[string]any) string {
	members := map[string]any{"access_token": "canary-access", "token_type": "Bearer", "expires_in": 3600}
	maps.Copy(members, changes)
	maps.DeleteFunc(members, func(_ string, value any) bool { return value == nil })
	return string(encode(members))
}

func TestExchange(t *testing.T) {
	f := newFake(t)
	at := testclock.New(time.Now())
	c := f.client(t, func(c *Config) { c.Time = at.Now })
	f.answer("/token", send(200, "application/json; charset=utf-8", tokenAnswer(map[string]any{
		"refresh_token": "r", "id_token": "i", "scope": "a b", "session_state": "x", "nested": map[string]any{"n": 12345678901234567},
	})))
	token, err := c.Exchange(t.Context(), "code-1", callback, "verifier-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := f.last(t, "/token")
	for name, want := range map[string]string{
		"grant_type": "authorization_code", "code": "code-1", "redirect_uri": callback, "code_verifier": "verifier-1", "client_id": "", "client_secret": "",
	} {
		if got := r.PostForm.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if r.Method != "POST" || r.URL.RawQuery != "" || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || r.Header.Get("Accept") != "application/json" {
		t.Errorf("unexpected request %s %s %v", r.Method, r.URL, r.Header)
	}
	if token.AccessToken != "canary-access" || token.Type != "bearer" || token.RefreshToken != "r" || token.IDToken != "i" || token.Scope != "a b" {
		t.Errorf("unexpected token %+v", token)
	}
	if want := at.Now().Unix() + 3600; token.ExpiresAt.Unix() != want {
		t.Errorf("ExpiresAt = %d, want %d", token.ExpiresAt.Unix(), want)
	}
	if len(token.Extra) != 2 || token.Extra["session_state"] != "x" || token.Extra["nested"].(map[string]any)["n"] != json.Number("12345678901234567") {
		t.Errorf("Extra = %v", token.Extra)
	}
}

func TestExchangeWithoutVerifier(t *testing.T) {
	f := newFake(t)
	f.answer("/token", send(200, "application/json", tokenAnswer(nil)))
	if _, err := f.client(t).Exchange(t.Context(), "c", callback, "", nil); err != nil {
		t.Fatal(err)
	}
	if f.last(t, "/token").PostForm.Has("code_verifier") {
		t.Error("an empty verifier was sent")
	}
}

func TestExchangeRepeatsAFixedRedirectURI(t *testing.T) {
	f := newFake(t)
	f.answer("/token", send(200, "application/json", tokenAnswer(nil)))
	c := f.client(t, func(c *Config) { c.Authorization.Params = url.Values{"redirect_uri": {"https://fixed.example"}} })
	if _, err := c.Exchange(t.Context(), "c", callback, "", nil); err != nil {
		t.Fatal(err)
	}
	if got := f.last(t, "/token").PostForm.Get("redirect_uri"); got != "https://fixed.example" {
		t.Errorf("redirect_uri = %q", got)
	}
}

func TestRefresh(t *testing.T) {
	f := newFake(t)
	f.answer("/token", send(200, "application/json", tokenAnswer(map[string]any{"refresh_token": "r2"})))
	token, err := f.client(t).Refresh(t.Context(), "r1", nil)
	if err != nil || token.RefreshToken != "r2" {
		t.Fatalf("got %+v, %v", token, err)
	}
	form := f.last(t, "/token").PostForm
	if form.Get("grant_type") != "refresh_token" || form.Get("refresh_token") != "r1" || len(form) != 2 {
		t.Errorf("unexpected form %v", form)
	}
}

func TestR049TokenAnswers(t *testing.T) {
	f := newFake(t)
	for _, row := range []struct {
		name, mediaType, body string
		status                int
		want                  string // of the error; empty: accepted
	}{
		{"honest", "application/json", tokenAnswer(nil), 200, ""},
		{"media type in upper case", "Application/JSON", tokenAnswer(nil), 200, ""},
		{"type in lower case", "application/json", tokenAnswer(map[string]any{"token_type": "bearer"}), 200, ""},
		{"type in upper case", "application/json", tokenAnswer(map[string]any{"token_type": "BEARER"}), 200, ""},
		{"expires_in absent", "application/json", tokenAnswer(map[string]any{"expires_in": nil}), 200, ""},
		{"expires_in as text", "application/json", tokenAnswer(map[string]any{"expires_in": "3600"}), 200, ""},
		{"expires_in zero", "application/json", tokenAnswer(map[string]any{"expires_in": 0}), 200, ""},
		{"optional members null", "application/json", `{"access_token":"a","token_type":"bearer","scope":null,"refresh_token":null,"id_token":null,"expires_in":null,"error":null}`, 200, ""},

		{"no media type", "", tokenAnswer(nil), 200, "application/json"},
		{"text", "text/plain", tokenAnswer(nil), 200, "application/json"},
		{"media type as prefix", "application/jsonp", tokenAnswer(nil), 200, "application/json"},
		{"form", "application/x-www-form-urlencoded", "access_token=canary&token_type=bearer", 200, "application/json"},
		{"HTML", "text/html", "<html>canary</html>", 200, "application/json"},
		{"HTML as JSON", "application/json", "<html>canary</html>", 200, "JSON object"},
		{"empty", "application/json", "", 200, "JSON object"},
		{"truncated", "application/json", tokenAnswer(nil)[:30], 200, "JSON object"},
		{"array", "application/json", "[" + tokenAnswer(nil) + "]", 200, "JSON object"},
		{"null", "application/json", "null", 200, "JSON object"},
		{"something after it", "application/json", tokenAnswer(nil) + "x", 200, "exactly one"},
		{"not UTF-8", "application/json", "{\"access_token\":\"\xff\",\"token_type\":\"bearer\"}", 200, "UTF-8"},
		{"access_token missing", "application/json", tokenAnswer(map[string]any{"access_token": nil}), 200, "access_token"},
		{"access_token empty", "application/json", tokenAnswer(map[string]any{"access_token": ""}), 200, "access_token"},
		{"access_token a number", "application/json", tokenAnswer(map[string]any{"access_token": 5}), 200, "access_token"},
		{"R-036 access_token in another case", "application/json", tokenAnswer(map[string]any{"access_token": nil, "Access_Token": "x"}), 200, "access_token"},
		{"token_type missing", "application/json", tokenAnswer(map[string]any{"token_type": nil}), 200, "token_type"},
		{"token_type unknown", "application/json", tokenAnswer(map[string]any{"token_type": "mac"}), 200, "token_type"},
		{"token_type that needs a proof", "application/json", tokenAnswer(map[string]any{"token_type": "DPoP"}), 200, "DPoP"},
		{"token_type a list", "application/json", tokenAnswer(map[string]any{"token_type": []string{"bearer"}}), 200, "token_type"},
		{"expires_in no number", "application/json", tokenAnswer(map[string]any{"expires_in": "soon"}), 200, "expires_in"},
		{"expires_in empty", "application/json", tokenAnswer(map[string]any{"expires_in": ""}), 200, "expires_in"},
		{"expires_in negative", "application/json", tokenAnswer(map[string]any{"expires_in": -1}), 200, "expires_in"},
		{"expires_in NaN", "application/json", tokenAnswer(map[string]any{"expires_in": "NaN"}), 200, "expires_in"},
		{"expires_in an object", "application/json", tokenAnswer(map[string]any{"expires_in": map[string]any{}}), 200, "expires_in"},
		{"refresh_token a number", "application/json", tokenAnswer(map[string]any{"refresh_token": 5}), 200, "refresh_token"},
		{"scope a list", "application/json", tokenAnswer(map[string]any{"scope": []string{"a"}}), 200, "scope"},
		{"id_token an object", "application/json", tokenAnswer(map[string]any{"id_token": map[string]any{}}), 200, "id_token"},
		{"a token with status 201", "application/json", tokenAnswer(nil), 201, "status 201"},
		{"a token with status 400", "application/json", tokenAnswer(nil), 400, "status 400"},
		{"503 page", "text/html", "<h1>canary</h1>", 503, "status 503"},
		{"R-051 error of another type", "application/json", tokenAnswer(map[string]any{"error": 5}), 200, "error"},
	} {
		t.Run("R-049 "+row.name, func(t *testing.T) {
			f.answer("/token", send(row.status, row.mediaType, row.body))
			token, err := f.client(t).Exchange(t.Context(), "canary-code", callback, "canary-verifier", nil)
			if row.want != "" {
				if token != nil {
					t.Error("a token beside the error")
				}
				wantStep(t, err, StepToken, row.want)
			} else if err != nil {
				t.Fatal(err)
			} else if strings.HasPrefix(row.name, "expires_in absent") && !token.ExpiresAt.Equal(time.Time{}) {
				t.Errorf("ExpiresAt = %v, want zero", token.ExpiresAt)
			}
		})
	}
}

func TestR385ExpiryIsKeptWithinTenYears(t *testing.T) {
	f := newFake(t)
	at := testclock.New(time.Now())
	for _, row := range []struct {
		said any
		want time.Duration
	}{
		{3600, time.Hour},
		{"90", 90 * time.Second},
		{1.9, time.Second},
		{10 * 365 * 86400, 10 * 365 * 24 * time.Hour},
		{10*365*86400 + 1, 10 * 365 * 24 * time.Hour},
		{int64(1e10), 10 * 365 * 24 * time.Hour},
		{1e300, 10 * 365 * 24 * time.Hour},
		{"99999999999999999999999", 10 * 365 * 24 * time.Hour},
	} {
		t.Run(fmt.Sprintf("R-385 %v", row.said), func(t *testing.T) {
			f.answer("/token", send(200, "application/json", tokenAnswer(map[string]any{"expires_in": row.said})))
			token, err := f.client(t, func(c *Config) { c.Time = at.Now }).Exchange(t.Context(), "code", callback, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			if token.ExpiresIn != row.want || !token.ExpiresAt.Equal(at.Now().Truncate(time.Second).Add(row.want)) {
				t.Errorf("in %v, at %v", token.ExpiresIn, token.ExpiresAt)
			}
		})
	}
}

func TestR051ErrorAnswers(t *testing.T) {
	f := newFake(t)
	for _, status := range []int{200, 400, 401, 500} {
		f.answer("/token", send(status, "application/json", tokenAnswer(map[string]any{
			"error": "invalid_grant", "error_description": "the code canary-code\nwas used",
		})))
		token, err := f.client(t).Exchange(t.Context(), "canary-code", callback, "", nil)
		var stated *ResponseError
		if token != nil || !errors.As(err, &stated) {
			t.Fatalf("status %d: got %v, %v", status, token, err)
		}
		if stated.Code != "invalid_grant" || stated.Status != status || stated.Step != StepToken {
			t.Errorf("status %d: got %+v", status, stated)
		}
		if strings.Contains(err.Error(), "canary") || strings.Contains(stated.Description, "\n") {
			t.Errorf("status %d: %q, %q", status, err, stated.Description)
		}
	}
}

func TestIDTokenNeedsAnIssuer(t *testing.T) {
	f := newFake(t)
	f.answer("/token", send(200, "application/json", tokenAnswer(map[string]any{"id_token": f.idToken(nil)})))
	_, err := newClient(t, f.plain()).Exchange(t.Context(), "c", callback, "", nil)
	wantStep(t, err, StepToken, "without issuer")
	if _, err := newClient(t, f.plain(), func(c *Config) { c.Issuer = f.URL }).Exchange(t.Context(), "c", callback, "", nil); err != nil {
		t.Errorf("with an issuer: %v", err)
	}
}

func TestCodeIsSentOnce(t *testing.T) {
	t.Run("R-391 also when asked to come again", func(t *testing.T) {
		for _, status := range []int{429, 503} {
			f := newFake(t)
			f.answer("/token", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(status)
			})
			if _, err := f.client(t).Exchange(t.Context(), "code", callback, "", nil); err == nil {
				t.Error("accepted")
			}
			if n := f.hits("/token"); n != 1 {
				t.Errorf("%d token requests for one exchange", n)
			}
		}
	})
	f := newFake(t)
	c := f.client(t)
	f.answer("/token", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	if _, err := c.Exchange(t.Context(), "code", callback, "", nil); err == nil {
		t.Error("accepted")
	}
	f.answer("/token", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if _, err := c.Exchange(t.Context(), "code", callback, "", nil); err == nil {
		t.Error("accepted")
	}
	if n := f.hits("/token"); n != 2 {
		t.Errorf("%d token requests for two exchanges", n)
	}
}

// what comes from a callback replaces nothing that the request has.
func TestExchangeWithMore(t *testing.T) {
	f := newFake(t)
	f.answer("/token", send(200, "application/json", tokenAnswer(nil)))
	c := f.client(t, func(c *Config) { c.ClientAuth = ClientSecretPost })
	more := url.Values{"device_id": {"d"}, "code": {"x"}, "grant_type": {"x"}, "redirect_uri": {"x"}, "code_verifier": {"x"}, "client_id": {"x"}, "client_secret": {"x"}}
	if _, err := c.Exchange(t.Context(), "c", callback, "v", more); err != nil {
		t.Fatal(err)
	}
	form := f.last(t, "/token").PostForm
	if form.Get("device_id") != "d" {
		t.Errorf("R-444 sent %v", form)
	}
	for name := range more {
		if form.Get(name) == "x" || len(form[name]) != 1 {
			t.Errorf("R-444 %s = %q", name, form[name])
		}
	}
}
