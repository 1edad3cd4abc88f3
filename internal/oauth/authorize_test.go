package oauth

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func TestR014Verifier(t *testing.T) {
	form := regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)
	seen := map[string]bool{}
	for range 100 {
		v := NewVerifier()
		if !form.MatchString(v) || seen[v] {
			t.Fatalf("bad verifier %q", v)
		}
		seen[v] = true
	}
	// RFC 7636, appendix B.
	if got := S256("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"); got != "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" {
		t.Errorf("S256 = %s", got)
	}
}

func TestAuthorizationURL(t *testing.T) {
	f := newFake(t)
	full := AuthRequest{RedirectURI: callback, State: "s", Nonce: "n", Verifier: "v", ResponseMode: "form_post"}
	for _, row := range []struct {
		name    string
		change  func(*Config)
		request AuthRequest
		want    map[string]string // "-": absent
	}{
		{"defaults", nil, AuthRequest{RedirectURI: callback}, map[string]string{
			"response_type": "code", "client_id": clientID, "redirect_uri": callback, "scope": "openid profile email",
			"state": "-", "nonce": "-", "code_challenge": "-", "code_challenge_method": "-", "response_mode": "-",
		}},
		{"everything", nil, full, map[string]string{
			"state": "s", "nonce": "n", "code_challenge": S256("v"), "code_challenge_method": "S256", "response_mode": "form_post",
		}},
		{
			"R-014 S256 even if only plain is advertised", func(*Config) { f.describe(map[string]any{"code_challenge_methods_supported": []string{"plain"}}) },
			full,
			map[string]string{"code_challenge": S256("v"), "code_challenge_method": "S256"},
		},
		{"scopes", func(c *Config) { c.Scopes = []string{"a", "b"} }, AuthRequest{}, map[string]string{"scope": "a b"}},
		{"empty scope", func(c *Config) { c.Scopes = []string{} }, AuthRequest{}, map[string]string{"scope": ""}},
		{
			"scope as a parameter", func(c *Config) { c.Authorization.Params = url.Values{"scope": {"a,b"}} },
			AuthRequest{},
			map[string]string{"scope": "a,b"},
		},
		{
			"no scope at all", func(c *Config) { c.Authorization.Params = url.Values{"scope": nil} },
			AuthRequest{},
			map[string]string{"scope": "-"},
		},
		{
			"second name of the client id", func(c *Config) { c.ClientIDParam = "client_key" },
			AuthRequest{Params: url.Values{"client_key": {"evil"}}},
			map[string]string{"client_key": clientID, "client_id": clientID},
		},
		{"provider parameters win over defaults", func(c *Config) {
			c.Authorization.Params = url.Values{"response_type": {"Assertion"}, "redirect_uri": {"https://fixed.example"}}
		}, full, map[string]string{"response_type": "Assertion", "redirect_uri": "https://fixed.example"}},
		{"the endpoint's query wins over provider parameters", func(c *Config) {
			f.describe(map[string]any{"authorization_endpoint": f.URL + "/authorize?tenant=7&prompt=login"})
			c.Authorization.Params = url.Values{"prompt": {"none"}}
		}, AuthRequest{}, map[string]string{"tenant": "7", "prompt": "login", "client_id": clientID}},
		{
			"R-516 the request adds, and replaces neither", func(c *Config) {
				f.describe(map[string]any{"authorization_endpoint": f.URL + "/authorize?prompt=login"})
				c.Authorization.Params = url.Values{"prompt": {"none"}, "acr_values": {"phr"}}
			},
			AuthRequest{Params: url.Values{"prompt": {"consent"}, "acr_values": {"0"}, "scope": {"openid"}, "login_hint": {"first", "a b+c@d.example"}}},
			map[string]string{"prompt": "login", "acr_values": "phr", "scope": "openid", "login_hint": "a b+c@d.example"},
		},
		{
			"R-516 the request wins over both where that is allowed", func(c *Config) {
				f.describe(map[string]any{"authorization_endpoint": f.URL + "/authorize?prompt=login"})
				c.Authorization.Params = url.Values{"prompt": {"none"}, "acr_values": {"phr"}}
			},
			AuthRequest{Params: url.Values{"prompt": {"first", "consent"}, "acr_values": {"0"}}, Replaceable: []string{"prompt"}},
			map[string]string{"prompt": "consent", "acr_values": "phr"},
		},
		{
			"R-382 the request has no longer max_age than the provider", func(c *Config) { c.Authorization.Params = url.Values{"max_age": {"100"}} },
			AuthRequest{Params: url.Values{"max_age": {"99999"}}},
			map[string]string{"max_age": "100"},
		},
		{
			"R-382 and does not take it away", func(c *Config) { c.Authorization.Params = url.Values{"max_age": {"100"}} },
			AuthRequest{Params: url.Values{"max_age": {""}}},
			map[string]string{"max_age": "100"},
		},
		{"R-016 protocol parameters of the request are ignored", nil, func() AuthRequest {
			r := full
			r.Params = url.Values{}
			for _, name := range reserved {
				r.Params.Set(name, "evil")
			}
			return r
		}(), map[string]string{
			"client_id": clientID, "redirect_uri": callback, "response_type": "code", "response_mode": "form_post", "state": "s",
			"nonce": "n", "code_challenge": S256("v"), "code_challenge_method": "S256", "request": "-", "request_uri": "-",
		}},
		{
			"R-016 also when nothing is sent in their place", nil,
			AuthRequest{Params: url.Values{"state": {"evil"}, "nonce": {"evil"}, "code_challenge": {"evil"}, "response_mode": {"evil"}}},
			map[string]string{"state": "-", "nonce": "-", "code_challenge": "-", "response_mode": "-", "redirect_uri": "-"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			f.describe(map[string]any{})
			config := f.config()
			if row.change != nil {
				row.change(&config)
			}
			endpoint, err := newClient(t, config).AuthorizationURL(t.Context(), row.request)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(endpoint, f.URL+"/authorize?") || strings.Contains(endpoint, "+") {
				t.Errorf("unexpected URL %s", endpoint)
			}
			got := query(t, endpoint)
			for name, want := range row.want {
				switch {
				case want == "-" && got.Has(name):
					t.Errorf("%s = %q, want none", name, got[name])
				case want != "-" && (len(got[name]) != 1 || got[name][0] != want):
					t.Errorf("%s = %q, want %q", name, got[name], want)
				}
			}
		})
	}
}

func TestAuthorizationRequestIsNotChanged(t *testing.T) {
	f := newFake(t)
	c := f.client(t)
	r := AuthRequest{RedirectURI: callback, State: "s", Params: url.Values{"prompt": {"a", "b"}, "state": {"x"}}}
	first, err := c.AuthorizationURL(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Params) != 2 || len(r.Params["prompt"]) != 2 || r.Params.Get("state") != "x" {
		t.Errorf("the request was changed: %v", r.Params)
	}
	second, err := c.AuthorizationURL(t.Context(), AuthRequest{RedirectURI: callback})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(second, "prompt") || strings.Contains(second, "state") || first == second {
		t.Errorf("one request shows in the next: %s", second)
	}
}

func TestExplicitEndpointsNeedNoDiscovery(t *testing.T) {
	f := newFake(t)
	config := f.plain()
	config.Issuer = f.URL
	c := newClient(t, config)
	if _, err := c.AuthorizationURL(t.Context(), AuthRequest{RedirectURI: callback}); err != nil {
		t.Fatal(err)
	}
	if s256, err := c.SupportsS256(t.Context()); s256 || err != nil {
		t.Errorf("R-015: SupportsS256 = %v, %v; nothing is advertised", s256, err)
	}
	if n := f.hits(discoveryPath); n != 0 {
		t.Errorf("%d discovery requests, want none", n)
	}
}
