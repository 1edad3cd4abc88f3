package oauth

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

func TestR009ParametersOccurOnce(t *testing.T) {
	for _, name := range []string{"code", "state", "iss", "error", "response"} {
		t.Run("R-009 "+name, func(t *testing.T) {
			_, err := ParseCallback(url.Values{name: {"canary", "canary"}})
			wantStep(t, err, StepAuthorization, name)
		})
	}
	if _, err := ParseCallback(url.Values{"code": {"c"}, "scope": {"a", "b"}, "user": {"x", "y"}}); err != nil {
		t.Errorf("other parameters may repeat: %v", err)
	}
}

func TestR007Issuer(t *testing.T) {
	f := newFake(t)
	match := func(issuer string, claims map[string]any) bool {
		return claims == nil && strings.HasPrefix(issuer, f.URL)
	}
	for _, row := range []struct {
		name     string
		promised bool
		change   func(*Config)
		iss      []string
		ok       bool
	}{
		{"equal", true, nil, []string{f.URL}, true},
		{"equal and not promised", false, nil, []string{f.URL}, true},
		{"absent and not promised", false, nil, nil, true},
		{"absent although promised", true, nil, nil, false},
		{"empty", false, nil, []string{""}, false},
		{"another", false, nil, []string{"https://op.example"}, false},
		{"with a slash", false, nil, []string{f.URL + "/"}, false},
		{"upper case", false, nil, []string{strings.ToUpper(f.URL)}, false},
		{"by its own match", false, func(c *Config) { c.MatchIssuer = match }, []string{f.URL + "/tenant-1"}, true},
		{"refused by its own match", false, func(c *Config) { c.MatchIssuer = match }, []string{"https://op.example"}, false},
		{"a provider without issuer", false, func(c *Config) { *c = f.plain() }, []string{f.URL}, false},
		{"a provider without issuer, an empty one", false, func(c *Config) { *c = f.plain() }, []string{""}, false},
		{"a provider without issuer, none sent", false, func(c *Config) { *c = f.plain() }, nil, true},
		{"plain provider with issuer", false, func(c *Config) { *c = f.plain(); c.Issuer = f.URL }, []string{f.URL}, true},
	} {
		t.Run("R-007 "+row.name, func(t *testing.T) {
			f.describe(map[string]any{"authorization_response_iss_parameter_supported": row.promised})
			config := f.config()
			if row.change != nil {
				row.change(&config)
			}
			for _, outcome := range []string{"code", "error"} {
				params := url.Values{outcome: {"x"}}
				if row.iss != nil {
					params["iss"] = row.iss
				}
				cb, err := ParseCallback(params)
				if err != nil {
					t.Fatal(err)
				}
				err = newClient(t, config).CheckResponse(t.Context(), cb)
				var stated *ResponseError
				switch {
				case !row.ok:
					wantStep(t, err, StepAuthorization, "iss")
				case outcome == "error" && !errors.As(err, &stated):
					t.Errorf("got %v, want a ResponseError", err)
				case outcome == "code" && err != nil:
					t.Error(err)
				}
			}
		})
	}
}

func TestCheckResponse(t *testing.T) {
	f := newFake(t)
	c := f.client(t)
	check := func(t *testing.T, params url.Values) (*Callback, error) {
		t.Helper()
		cb, err := ParseCallback(params)
		if err != nil {
			t.Fatal(err)
		}
		return cb, c.CheckResponse(t.Context(), cb)
	}
	t.Run("a code", func(t *testing.T) {
		cb, err := check(t, url.Values{"code": {"c"}, "state": {"s"}})
		if err != nil || cb.Code != "c" || cb.State != "s" {
			t.Errorf("got %+v, %v", cb, err)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		_, err := check(t, url.Values{})
		wantStep(t, err, StepAuthorization, "neither")
	})
	t.Run("an empty code", func(t *testing.T) {
		_, err := check(t, url.Values{"code": {""}})
		wantStep(t, err, StepAuthorization, "neither")
	})
	for what, name := range map[string]string{"a JWT response": "response", "an ID token": "id_token", "an access token": "access_token", "a token": "token"} {
		t.Run(what, func(t *testing.T) {
			_, err := ParseCallback(url.Values{"code": {"c"}, name: {"canary"}})
			wantStep(t, err, StepAuthorization, "not asked for")
		})
	}
	t.Run("R-010 an error wins over a code", func(t *testing.T) {
		_, err := check(t, url.Values{"code": {"c"}, "error": {"access_denied"}})
		var stated *ResponseError
		if !errors.As(err, &stated) || stated.Code != "access_denied" || stated.Step != StepAuthorization {
			t.Errorf("got %v", err)
		}
	})
	t.Run("R-010 R-237 the provider's text is cut and printable", func(t *testing.T) {
		evil := "x\r\nlevel=ERROR \x1b[31m\u202e\"" + strings.Repeat("é", 1<<20)
		_, err := check(t, url.Values{"error": {evil}, "error_description": {"canary" + evil}})
		var stated *ResponseError
		if !errors.As(err, &stated) {
			t.Fatalf("got %v", err)
		}
		for text, limit := range map[string]int{stated.Code: 400, stated.Description: maxDescription + 100, err.Error(): 400} {
			if len(text) > limit || strings.ContainsAny(text, "\r\n\x1b\u202e") {
				t.Errorf("unfit for a log: %d bytes %.80q", len(text), text)
			}
		}
		if strings.Contains(err.Error(), "canary") {
			t.Errorf("Error repeats the description: %v", err)
		}
	})
}
