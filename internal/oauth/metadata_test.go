package oauth

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestR045DiscoveryIsAboutTheIssuer(t *testing.T) {
	f := newFake(t)
	tenant := func(issuer string, _ map[string]any) bool { return issuer == "https://op.example/{tenant}" }
	for _, row := range []struct {
		name       string
		configured string // after the base URL
		stated     any
		match      func(string, map[string]any) bool
		ok         bool
	}{
		{"exact", "", f.URL, nil, true},
		{"exact with a slash", "/", f.URL + "/", nil, true},
		{"a slash too many behind a bare host, configured", "/", f.URL, nil, true},
		{"R-383 slash of a path, configured", "/realm/", f.URL + "/realm", nil, false},
		{"R-383 slash of an empty path, stated", "", f.URL + "/", nil, false},
		{"another host", "", "https://op.example", nil, false},
		{"missing", "", nil, nil, false},
		{"empty", "", "", nil, false},
		{"not a string", "", 5, nil, false},
		{"upper case", "", strings.ToUpper(f.URL), nil, false},
		{"exact with a path", "/realm/", f.URL + "/realm/", nil, true},
		{"R-383 slash of a path", "/realm", f.URL + "/realm/", nil, false},
		{"two slashes", "", f.URL + "//", nil, false},
		{"longer", "", f.URL + ".evil.example", nil, false},
		{"template with a match of its own", "", "https://op.example/{tenant}", tenant, true},
		{"the match decides alone", "", f.URL, tenant, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f.describe(map[string]any{"issuer": row.stated})
			config := f.config()
			config.Issuer += row.configured
			config.MatchIssuer = row.match
			c := newClient(t, config)
			_, err := c.AuthorizationURL(t.Context(), AuthRequest{})
			if row.ok {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantStep(t, err, StepDiscovery, "issuer")
		})
	}
}

func TestR383ErrorSaysThatItIsTheSlash(t *testing.T) {
	f := newFake(t)
	f.describe(map[string]any{"issuer": f.URL + "/"})
	_, err := f.client(t).Discover(t.Context())
	wantStep(t, err, StepDiscovery, "slash")
}

func TestR383TheDocumentsSpellingCounts(t *testing.T) {
	f := newFake(t)
	c := f.client(t, func(c *Config) { c.Issuer += "/" })
	if _, err := c.VerifyIDToken(t.Context(), f.idToken(nil), IDTokenCheck{}); err != nil {
		t.Error(err)
	}
	_, err := c.VerifyIDToken(t.Context(), f.idToken(map[string]any{"iss": f.URL + "/"}), IDTokenCheck{})
	wantStep(t, err, StepIDToken, "iss")
}

func TestDiscoveryDocument(t *testing.T) {
	f := newFake(t)
	for _, row := range []struct {
		name     string
		document map[string]any
		want     string // of the error; empty: accepted
	}{
		{"honest", nil, ""},
		{"optional members missing", map[string]any{"userinfo_endpoint": nil, "end_session_endpoint": nil, "code_challenge_methods_supported": nil}, ""},
		{"unknown members of any type", map[string]any{"x": []int{1}, "y": map[string]any{"z": nil}}, ""},
		{"R-383 issuer twice", map[string]any{"x": json.RawMessage(`{"issuer":1,"issuer":1}`)}, "repeated"},
		{"R-036 names are exact", map[string]any{"issuer": nil, "Issuer": f.URL}, "another issuer"},
		{"R-046 http token endpoint", map[string]any{"token_endpoint": "http://op.example/token"}, "token_endpoint"},
		{"R-046 relative key URL", map[string]any{"jwks_uri": "/jwks"}, "jwks_uri"},
		{"R-046 file scheme", map[string]any{"userinfo_endpoint": "file:///etc/passwd"}, "userinfo_endpoint"},
		{"R-046 javascript authorization endpoint", map[string]any{"authorization_endpoint": "javascript:alert(1)"}, "authorization_endpoint"},
		{"R-046 userinfo in the URL", map[string]any{"token_endpoint": "https://canary:x@op.example"}, "token_endpoint"},
		{"R-046 fragment", map[string]any{"end_session_endpoint": "https://op.example/#x"}, "end_session_endpoint"},
		{"endpoint of another type", map[string]any{"token_endpoint": 1}, "token_endpoint"},
		{"list of another type", map[string]any{"id_token_signing_alg_values_supported": "RS256"}, "id_token_signing"},
		{"list of mixed types", map[string]any{"code_challenge_methods_supported": []any{"S256", 1}}, "code_challenge"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f.describe(row.document)
			_, err := f.client(t).Discover(t.Context())
			if row.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantStep(t, err, StepDiscovery, row.want)
		})
	}
}

func TestR046LoopbackOnlyFromLoopback(t *testing.T) {
	c := newClient(t, Config{OIDC: true, Issuer: "https://op.example", ClientID: "c", ClientSecret: fixed("s")})
	_, err := c.parseMetadata([]byte(`{"issuer":"https://op.example","token_endpoint":"http://127.0.0.1/token"}`))
	if err == nil || !strings.Contains(err.Error(), "token_endpoint") {
		t.Errorf("got %v, want a refusal of token_endpoint", err)
	}
	if _, err := c.parseMetadata([]byte(`{"issuer":"https://op.example","token_endpoint":"https://op.example/token"}`)); err != nil {
		t.Error(err)
	}
}

func TestDiscoveryAnswers(t *testing.T) {
	f := newFake(t)
	honest := `{"issuer":"` + f.URL + `","authorization_endpoint":"` + f.URL + `/authorize"}`
	for _, row := range []struct {
		name, body string
		status     int
	}{
		{"500 with a document", honest, 500},
		{"201 with a document", honest, 201},
		{"404 page", `<html>`, 404},
		{"HTML", `<html>`, 200},
		{"empty", ``, 200},
		{"array", `[]`, 200},
		{"null", `null`, 200},
		{"truncated", `{"issuer":"`, 200},
		{"two documents", `{}{}`, 200},
		{"not UTF-8", "{\"issuer\":\"\xff\"}", 200},
	} {
		t.Run(row.name, func(t *testing.T) {
			f.answer(discoveryPath, send(row.status, "application/json", row.body))
			_, err := f.client(t).AuthorizationURL(t.Context(), AuthRequest{})
			wantStep(t, err, StepDiscovery, "")
		})
	}
}

func TestMissingEndpointsFailWhereTheyAreNeeded(t *testing.T) {
	f := newFake(t)
	f.describe(map[string]any{"authorization_endpoint": nil, "token_endpoint": nil, "userinfo_endpoint": nil, "jwks_uri": nil})
	c := f.client(t)
	_, err := c.AuthorizationURL(t.Context(), AuthRequest{})
	wantStep(t, err, StepAuthorization, "no authorization endpoint")
	_, err = c.Exchange(t.Context(), "canary-code", callback, "canary-verifier", nil)
	wantStep(t, err, StepToken, "no token endpoint")
	_, err = c.UserInfo(t.Context(), "canary-token", "person-1")
	wantStep(t, err, StepUserInfo, "no userinfo endpoint")
	_, err = c.VerifyIDToken(t.Context(), f.idToken(nil), IDTokenCheck{})
	wantStep(t, err, StepKeys, "no keys")
}

func TestConfiguredEndpointsWin(t *testing.T) {
	f := newFake(t)
	c := f.client(t, func(c *Config) {
		c.Token = Endpoint{URL: f.URL + "/own/token?a=1", Params: map[string][]string{"b": {"2"}}}
	})
	m, err := c.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m.TokenEndpoint != f.URL+"/own/token?a=1&b=2" || m.UserInfoEndpoint != f.URL+"/userinfo" {
		t.Errorf("endpoints are %q and %q", m.TokenEndpoint, m.UserInfoEndpoint)
	}
}

func TestR015SupportsS256(t *testing.T) {
	f := newFake(t)
	for _, row := range []struct {
		name    string
		methods any
		want    bool
	}{
		{"advertised", []string{"plain", "S256"}, true},
		{"not advertised", nil, false},
		{"only plain", []string{"plain"}, false},
		{"another spelling", []string{"s256"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f.describe(map[string]any{"code_challenge_methods_supported": row.methods})
			if got, err := f.client(t).SupportsS256(t.Context()); got != row.want || err != nil {
				t.Errorf("got %v, %v; want %v", got, err, row.want)
			}
		})
	}
}
