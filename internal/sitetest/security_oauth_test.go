package sitetest

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// fullChecks asks for everything, and for the userinfo, so that a call after a
// failed check would be seen.
func fullChecks(p *latchkey.OAuth) {
	p.Checks = []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState, latchkey.CheckNonce}
	p.ProfileFromUserInfo = true
}

func TestOAuthResponse(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(b *browser, params url.Values)
	}{
		{"R-001 another state", func(_ *browser, p url.Values) { p.Set("state", "another") }},
		{"R-001 no state", func(_ *browser, p url.Values) { p.Del("state") }},
		{"R-001 an empty state", func(_ *browser, p url.Values) { p.Set("state", "") }},
		{"R-001 one character more", func(_ *browser, p url.Values) { p.Set("state", p.Get("state")+"x") }},
		{"R-003 no cookies", func(b *browser, _ url.Values) { clear(b.jar) }},
		{"R-003 no state cookie", func(b *browser, _ url.Values) { delete(b.jar, "__Secure-authjs.state") }},
		{"R-003 no verifier cookie", func(b *browser, _ url.Values) { delete(b.jar, "__Secure-authjs.pkce.code_verifier") }},
		{"R-003 no nonce cookie", func(b *browser, _ url.Values) { delete(b.jar, "__Secure-authjs.nonce") }},
		{"R-003 an unsealed state cookie", func(b *browser, p url.Values) { b.jar["__Secure-authjs.state"] = p.Get("state") }},
		{"R-007 another issuer", func(_ *browser, p url.Values) { p.Set("iss", "https://evil.example") }},
		{"R-007 no issuer", func(_ *browser, p url.Values) { p.Del("iss") }},
		{"R-007 an issuer with a slash", func(_ *browser, p url.Values) { p.Set("iss", p.Get("iss")+"/") }},
		{"R-009 two codes", func(_ *browser, p url.Values) { p.Add("code", p.Get("code")) }},
		{"R-009 two states", func(_ *browser, p url.Values) { p.Add("state", p.Get("state")) }},
		{"R-009 two issuers", func(_ *browser, p url.Values) { p.Add("iss", p.Get("iss")) }},
		{"R-009 two errors", func(_ *browser, p url.Values) { p["error"] = []string{"access_denied", "access_denied"} }},
		{"R-009 two responses", func(_ *browser, p url.Values) { p["response"] = []string{"a", "b"} }},
		{"R-010 an error with another state", func(_ *browser, p url.Values) {
			p.Del("code")
			p.Set("error", "access_denied")
			p.Set("state", "another")
		}},
		{"R-001 no code", func(_ *browser, p url.Values) { p.Del("code") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(fullChecks))
			b := s.newBrowser()
			params, before := s.authResponse(b, "issuer"), s.contents()
			c.spoil(b, params)
			refused(t, b.callback("issuer", params), "Configuration")
			s.noCall(t, latchkeytest.PathToken, latchkeytest.PathUserInfo)
			s.noWrite(t, before)
		})
	}
	t.Run("R-001 the untouched response is accepted", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(fullChecks))
		s.mustSignIn(s.newBrowser())
	})
	t.Run("R-003 another browser's cookies", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(fullChecks))
		attacker, victim := s.newBrowser(), s.newBrowser()
		params := s.authResponse(attacker, "issuer")
		s.authResponse(victim, "issuer")
		refused(t, victim.callback("issuer", params), "Configuration")
		s.noCall(t, latchkeytest.PathToken)
	})
	t.Run("R-005 another provider's callback", func(t *testing.T) {
		for _, checks := range [][]latchkey.Check{{latchkey.CheckState}, {latchkey.CheckPKCE}, {latchkey.CheckNonce}} {
			set := func(p *latchkey.OAuth) { p.Checks = checks }
			s := newOAuthSite(t, withIssuer(set), second(set))
			b := s.newBrowser()
			params, before := s.authResponse(b, "issuer"), s.contents()
			refused(t, b.callback("second", params), "Configuration")
			s.noCall(t, latchkeytest.PathToken)
			s.noWrite(t, before)
		}
	})
	t.Run("R-006 the same response twice, old cookies restored", func(t *testing.T) {
		s, b, params := newAnsweredSite(t)
		before := b.copy()
		if a := b.callback("issuer", params); !a.signsIn() {
			t.Fatalf("to %q", a.location())
		}
		asked := s.issuer.Count(latchkeytest.PathToken)
		refused(t, before.copy().callback("issuer", params), "Configuration")
		if s.issuer.Count(latchkeytest.PathToken) != asked {
			t.Error("the token endpoint was asked again")
		}
	})
	t.Run("R-010 an error with the right state", func(t *testing.T) {
		s, b, params := newAnsweredSite(t, withIssuer(fullChecks))
		params.Del("code")
		params.Set("error", "access_denied")
		params.Set("error_description", "<script>described</script>\r\nforged")
		a := b.callback("issuer", params)
		refused(t, a, "OAuthCallbackError")
		if strings.Contains(a.location()+a.Body.String(), "described") {
			t.Error("the provider's text reached the browser")
		}
		s.noCall(t, latchkeytest.PathToken)
		s.log.records(t)
	})
}

func TestOAuthFormPost(t *testing.T) {
	formPost := func(p *latchkey.OAuth) { fullChecks(p); p.ResponseMode = "form_post" }
	sameSite := func(a *answer, suffix string) http.SameSite { return a.cookie(suffix).SameSite }
	t.Run("R-012 cookies survive the cross-site post", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(formPost), second(func(p *latchkey.OAuth) { p.ResponseMode = "" }))
		b := s.newBrowser()
		a := b.post("/auth/signin/issuer")
		for _, c := range a.Result().Cookies() {
			flow := strings.HasSuffix(c.Name, "state") || strings.HasSuffix(c.Name, "nonce") || strings.HasSuffix(c.Name, "code_verifier")
			if none := c.SameSite == http.SameSiteNoneMode; none != flow || !c.Secure {
				t.Errorf("%s: SameSite %v, Secure %v", c.Name, c.SameSite, c.Secure)
			}
		}
		other := s.newBrowser().post("/auth/signin/second")
		for _, name := range []string{"state", "nonce", "code_verifier"} {
			if sameSite(other, name) != http.SameSiteLaxMode {
				t.Errorf("the other provider's %s is not Lax", name)
			}
		}
	})
	t.Run("R-012 the post completes the sign-in", func(t *testing.T) {
		s, b, params := newAnsweredSite(t, withIssuer(formPost))
		b.header.Set("Sec-Fetch-Site", "cross-site")
		b.header.Set("Origin", s.issuer.URL)
		a := b.do(http.MethodPost, "/auth/callback/issuer", formContentType, params.Encode())
		if !a.signsIn() || a.cookie("session-token").SameSite != http.SameSiteLaxMode {
			t.Errorf("%d to %q", a.Code, a.location())
		}
	})
	t.Run("R-009 parameters posted twice", func(t *testing.T) {
		s, b, params := newAnsweredSite(t, withIssuer(formPost))
		params.Add("code", "another")
		refused(t, b.do(http.MethodPost, "/auth/callback/issuer", formContentType, params.Encode()), "Configuration")
		s.noCall(t, latchkeytest.PathToken)
	})
	t.Run("R-012 refused without https", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(formPost), func(c *latchkey.Config) { c.Site.URL = "http://app.example" })
		refused(t, s.newBrowser().post("/auth/signin/issuer"), "Configuration")
		if !strings.Contains(s.log.text(), "form_post needs https") {
			t.Error("the log does not say why")
		}
	})
	t.Run("R-012 accepted on loopback", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(formPost), func(c *latchkey.Config) { c.Site.URL = "http://localhost:3000" })
		if a := s.newBrowser().post("/auth/signin/issuer"); !strings.HasPrefix(a.location(), s.issuer.URL) {
			t.Errorf("to %q", a.location())
		}
	})
}

func TestOAuthRequest(t *testing.T) {
	onlyPlain := func(d map[string]any) { d["code_challenge_methods_supported"] = []any{"plain"} }
	ask := func(s *oauthSite, target string, fields ...string) url.Values {
		a := s.newBrowser().post(target, fields...)
		u, err := url.Parse(a.location())
		if err != nil || !strings.HasPrefix(a.location(), s.issuer.URL) {
			s.t.Fatalf("to %q", a.location())
		}
		return u.Query()
	}
	t.Run("R-014 S256 with a fresh verifier", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = []latchkey.Check{latchkey.CheckPKCE} }))
		s.issuer.Misbehave(latchkeytest.Misbehaviour{Discovery: onlyPlain})
		seen := map[string]bool{}
		for range 20 {
			q := ask(s, "/auth/signin/issuer")
			if challenge := q.Get("code_challenge"); q.Get("code_challenge_method") != "S256" || len(challenge) != 43 || seen[challenge] {
				t.Fatalf("challenge %q by %q", challenge, q.Get("code_challenge_method"))
			}
			seen[q.Get("code_challenge")] = true
		}
		s.mustSignIn(s.newBrowser())
		verifier := s.issuer.Requests(latchkeytest.PathToken)[0].Form.Get("code_verifier")
		if raw, err := base64.RawURLEncoding.DecodeString(verifier); err != nil || len(raw) < 32 || len(verifier) > 128 {
			t.Errorf("a verifier of %d bytes", len(raw))
		}
	})
	for name, spoil := range map[string]func(map[string]any){
		"R-015 only plain is advertised": onlyPlain,
		"R-015 nothing is advertised":    func(d map[string]any) { delete(d, "code_challenge_methods_supported") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = []latchkey.Check{latchkey.CheckPKCE} }))
			s.issuer.Misbehave(latchkeytest.Misbehaviour{Discovery: spoil})
			if q := ask(s, "/auth/signin/issuer"); q.Get("state") == "" || q.Get("nonce") == "" {
				t.Errorf("state %q, nonce %q", q.Get("state"), q.Get("nonce"))
			}
			b := s.newBrowser()
			params := s.authResponse(b, "issuer")
			params.Del("state")
			refused(t, b.callback("issuer", params), "Configuration")
		})
	}
	t.Run("R-015 an explicit none is loud", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = []latchkey.Check{latchkey.CheckNone} }))
		if q := ask(s, "/auth/signin/issuer"); q.Get("state")+q.Get("nonce")+q.Get("code_challenge") != "" {
			t.Error("none adds checks")
		}
		if !strings.Contains(s.log.text(), "not checked") {
			t.Error("no warning at start")
		}
	})
	t.Run("R-015 nothing is added to state where the provider can do no more", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = []latchkey.Check{latchkey.CheckState, latchkey.CheckNone} }))
		s.issuer.Misbehave(latchkeytest.Misbehaviour{Discovery: func(d map[string]any) { delete(d, "code_challenge_methods_supported") }})
		if q := ask(s, "/auth/signin/issuer"); q.Get("state") == "" || q.Get("nonce")+q.Get("code_challenge") != "" {
			t.Errorf("sent %v", q)
		}
		b := s.newBrowser()
		params := s.authResponse(b, "issuer")
		params.Del("state")
		refused(t, b.callback("issuer", params), "Configuration")
		if strings.Contains(s.log.text(), "not checked") {
			t.Error("a warning although the state is checked")
		}
	})
	t.Run("R-016 parameters of the protocol stay ours", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(fullChecks))
		reserved := []string{"client_id", "redirect_uri", "response_type", "response_mode", "state", "nonce", "code_challenge", "code_challenge_method", "request", "request_uri"}
		query := url.Values{"prompt": {"login"}, "login_hint": {"ada"}, "scope": {"openid x"}, "acr_values": {"a"}, "max_age": {"1"}, "ui_locales": {"de"}}
		var fields []string
		for _, name := range reserved {
			query.Set(name, "evil")
			fields = append(fields, name, "evil", "authorizationParams-"+name, "evil", "authorizationParams["+name+"]", "evil")
		}
		got := ask(s, "/auth/signin/issuer?"+query.Encode(), fields...)
		for name, values := range got {
			if len(values) != 1 || strings.Contains(values[0], "evil") {
				t.Errorf("%s=%q", name, values)
			}
		}
		for _, name := range []string{"prompt", "login_hint", "scope", "acr_values", "max_age", "ui_locales"} {
			if got.Get(name) != query.Get(name) {
				t.Errorf("%s=%q did not pass", name, got.Get(name))
			}
		}
	})
}

// what the operator asks of a provider is not the visitor's to change.
func TestOperatorsParameters(t *testing.T) {
	own := url.Values{"acr_values": {"phr"}, "prompt": {"login"}, "claims": {`{"id_token":{"acr":{"essential":true}}}`}, "hd": {"corp.example"}}
	visitors := url.Values{"acr_values": {"0"}, "prompt": {"none"}, "claims": {"{}"}, "hd": {"*"}, "scope": {"openid more"}, "ui_locales": {"de"}}
	sent := func(a *answer) url.Values {
		u, err := url.Parse(a.location())
		if err != nil {
			t.Fatal(err)
		}
		return u.Query()
	}
	for name, set := range map[string]func(*latchkey.OAuth){
		"in Params": func(p *latchkey.OAuth) { p.Authorization.Params = own },
		"in the URL": func(p *latchkey.OAuth) {
			p.Authorization.URL = p.Issuer + latchkeytest.PathAuthorize + "?" + own.Encode()
		},
	} {
		t.Run("R-516 "+name, func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(set))
			var fields []string
			for name := range visitors {
				fields = append(fields, "authorizationParams-"+name, visitors.Get(name))
			}
			form := url.Values{"providerId": {"issuer"}}
			for i := 0; i < len(fields); i += 2 {
				form.Set(fields[i], fields[i+1])
			}
			b := s.newBrowser()
			action := s.auth.SignInAction(http.NotFoundHandler())
			for door, a := range map[string]*answer{
				"the route": b.post("/auth/signin/issuer?" + visitors.Encode()),
				"a form":    b.serve(action, b.request(http.MethodPost, "/login", formContentType, form.Encode()+"&csrfToken="+b.token())),
			} {
				got := sent(a)
				for name := range own {
					if got.Get(name) != own.Get(name) {
						t.Errorf("%s: %s=%q", door, name, got.Get(name))
					}
				}
				if got.Get("scope") != "openid more" || got.Get("ui_locales") != "de" {
					t.Errorf("%s: what the operator does not ask for: %v", door, got)
				}
			}
		})
	}
	t.Run("R-516 but what is listed", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) {
			p.Authorization.Params, p.VisitorParams = own, []string{"prompt"}
		}))
		if got := sent(s.newBrowser().post("/auth/signin/issuer?" + visitors.Encode())); got.Get("prompt") != "none" || got.Get("acr_values") != "phr" {
			t.Errorf("sent %v", got)
		}
	})
	t.Run("R-516 and what the application's own code says", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Authorization.Params = own }))
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := s.auth.SignIn(w, r, "issuer", latchkey.SignInOptions{SkipCSRFCheck: true, Params: url.Values{"prompt": {"consent"}}}); err != nil {
				t.Error(err)
			}
		})
		b := s.newBrowser()
		if got := sent(b.serve(handler, b.request(http.MethodPost, "/go", formContentType, ""))); got.Get("prompt") != "consent" || got.Get("hd") != "corp.example" {
			t.Errorf("sent %v", got)
		}
	})
}

// a claim is set by name; gone removes it.
type gone struct{}

func set(name string, value any) latchkeytest.Misbehaviour {
	return latchkeytest.Misbehaviour{IDToken: func(c map[string]any) { change(c, name, value) }}
}

func change(members map[string]any, name string, value any) {
	if members[name] = value; value == any(gone{}) {
		delete(members, name)
	}
}

// renamed moves a claim to a name that differs in case only.
func renamed(from, to string) latchkeytest.Misbehaviour {
	return latchkeytest.Misbehaviour{IDToken: func(c map[string]any) { c[to] = c[from]; delete(c, from) }}
}

func unsigned(alg string) latchkeytest.Misbehaviour {
	return latchkeytest.Misbehaviour{Sign: latchkeytest.SignNone, Header: func(h map[string]any) { h["alg"] = alg }}
}

func raw(spoil func(token string) string) latchkeytest.Misbehaviour {
	return latchkeytest.Misbehaviour{RawIDToken: spoil}
}

func TestDiscovery(t *testing.T) {
	for name, issuer := range map[string]any{
		"another": "https://evil.example", "absent": gone{}, "a number": 1, "empty": "", "null": nil,
	} {
		t.Run("R-045 the issuer is "+name, func(t *testing.T) {
			s := newOAuthSite(t)
			s.issuer.Misbehave(latchkeytest.Misbehaviour{Discovery: func(d map[string]any) { change(d, "issuer", issuer) }})
			a := s.newBrowser().post("/auth/signin/issuer")
			refused(t, a, "Configuration")
			if a.cookie("code_verifier") != nil {
				t.Error("a sign-in was begun")
			}
			s.noCall(t, latchkeytest.PathAuthorize)
		})
	}
	for _, endpoint := range []string{
		"http://evil.example/x", "ftp://evil.example/x", "javascript:alert(1)", "/relative", "//evil.example/x",
		"https://user:pass@evil.example/x", "https://evil.example/x#fragment", "https://", "",
	} {
		for _, name := range []string{"authorization_endpoint", "token_endpoint", "jwks_uri"} {
			t.Run("R-046 "+name+" "+endpoint, func(t *testing.T) {
				s := newOAuthSite(t)
				s.issuer.Misbehave(latchkeytest.Misbehaviour{Discovery: func(d map[string]any) { d[name] = endpoint }})
				b := s.newBrowser()
				a := b.post("/auth/signin/issuer")
				if name != "authorization_endpoint" && strings.HasPrefix(a.location(), s.issuer.URL) {
					a = s.signIn(b)
				}
				refused(t, a, "Configuration")
			})
		}
		if endpoint == "" {
			continue
		}
		t.Run("R-046 configured "+endpoint, func(t *testing.T) {
			for _, p := range []*latchkey.OAuth{
				{Authorization: latchkey.Endpoint{URL: endpoint}, Token: latchkey.Endpoint{URL: "https://ok.example"}, UserInfo: latchkey.Endpoint{URL: "https://ok.example"}},
				{Authorization: latchkey.Endpoint{URL: "https://ok.example"}, Token: latchkey.Endpoint{URL: endpoint}, UserInfo: latchkey.Endpoint{URL: "https://ok.example"}},
				{Authorization: latchkey.Endpoint{URL: "https://ok.example"}, Token: latchkey.Endpoint{URL: "https://ok.example"}, UserInfo: latchkey.Endpoint{URL: endpoint}},
				{OIDC: true, Issuer: endpoint},
			} {
				p.ID, p.ClientID, p.ClientSecret = "x", "id", "secret"
				_, err := latchkey.New(latchkey.Config{Providers: []latchkey.Provider{p}, Secrets: []string{siteSecret}, Site: latchkey.Site{URL: siteOrigin}, Runtime: latchkey.Runtime{Logger: quiet}})
				if err == nil {
					t.Errorf("accepted in %+v", p)
				}
			}
		})
	}
}

func TestBackChannel(t *testing.T) {
	for _, path := range []string{latchkeytest.PathDiscovery, latchkeytest.PathJWKS, latchkeytest.PathToken, latchkeytest.PathUserInfo} {
		for _, status := range []int{302, 307, 308} {
			t.Run("R-047 "+path+" "+http.StatusText(status), func(t *testing.T) {
				var asked atomic.Int32
				target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
				defer target.Close()
				s := newOAuthSite(t, withIssuer(fullChecks))
				s.issuer.Misbehave(latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{path: {Redirect: target.URL, Status: status}}})
				b := s.newBrowser()
				a := b.post("/auth/signin/issuer")
				if path != latchkeytest.PathDiscovery {
					a = s.signIn(b)
				}
				refused(t, a, "Configuration")
				if asked.Load() != 0 {
					t.Error("the redirect was followed")
				}
			})
		}
	}
	answer := func(status int, contentType, body string) latchkeytest.Misbehaviour {
		return latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{latchkeytest.PathToken: {
			Status: status, Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body),
		}}}
	}
	token := func(name string, value any) latchkeytest.Misbehaviour {
		return latchkeytest.Misbehaviour{Token: func(a map[string]any) { change(a, name, value) }}
	}
	for name, bad := range map[string]latchkeytest.Misbehaviour{
		"R-049 HTML":                    answer(200, "text/html", "<html>"),
		"R-049 JSON called HTML":        {Answers: map[string]latchkeytest.Answer{latchkeytest.PathToken: {Header: http.Header{"Content-Type": {"text/html"}}}}},
		"R-049 an empty body":           answer(200, "application/json", ""),
		"R-049 a list":                  answer(200, "application/json", `[{"access_token":"x"}]`),
		"R-049 null":                    answer(200, "application/json", `null`),
		"R-049 a truncated body":        {Answers: map[string]latchkeytest.Answer{latchkeytest.PathToken: {Truncate: true}}},
		"R-049 no access token":         token("access_token", gone{}),
		"R-049 a number as token":       token("access_token", 1),
		"R-049 an empty access token":   token("access_token", ""),
		"R-049 an unknown token type":   token("token_type", "mac"),
		"R-049 a number as token type":  token("token_type", 1),
		"R-051 an error with 200":       answer(200, "application/json", `{"error":"invalid_grant","error_description":"described"}`),
		"R-051 an error beside a token": token("error", "invalid_grant"),
		"R-051 an error with 400":       answer(400, "application/json", `{"error":"invalid_grant"}`),
		"R-051 a token with 500":        {Answers: map[string]latchkeytest.Answer{latchkeytest.PathToken: {Status: 500}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(fullChecks))
			s.issuer.Misbehave(bad)
			before := s.contents()
			a := s.signIn(s.newBrowser())
			refused(t, a, "Configuration")
			if strings.Contains(a.location(), "invalid_grant") || strings.Contains(a.location(), "described") {
				t.Error("the provider's error is shown")
			}
			s.noCall(t, latchkeytest.PathUserInfo)
			s.noWrite(t, before)
		})
	}
	for name, bad := range map[string]latchkeytest.Misbehaviour{
		"R-049 a token type in capitals":  token("token_type", "BEARER"),
		"R-049 no expires_in":             token("expires_in", gone{}),
		"R-049 expires_in as text":        token("expires_in", "3600"),
		"R-049 parameters of media types": {Answers: map[string]latchkeytest.Answer{latchkeytest.PathToken: {Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}}}},
	} {
		t.Run(name+" is accepted", func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(fullChecks))
			s.issuer.Misbehave(bad)
			s.mustSignIn(s.newBrowser())
		})
	}
	t.Run("R-052 the secret travels in one header only", func(t *testing.T) {
		s, _ := newSignedInOAuthSite(t, withIssuer(fullChecks))
		secret := s.issuer.Provider().ClientSecret
		call := s.issuer.Requests(latchkeytest.PathToken)[0]
		want := base64.StdEncoding.EncodeToString([]byte("client:" + url.QueryEscape(secret)))
		if call.Header.Get("Authorization") != "Basic "+want || call.Form.Has("client_secret") {
			t.Error("the credentials are not form-encoded, or sent twice")
		}
		for _, r := range s.issuer.Requests("") {
			if text := r.Query.Encode() + r.Form.Encode(); strings.Contains(text, url.QueryEscape(secret)) {
				t.Errorf("the secret is in a request to %s", r.Path)
			}
		}
		if strings.Contains(s.log.text(), secret) {
			t.Error("the secret is in the log")
		}
	})
	t.Run("R-052 no other method after a refusal", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(fullChecks))
		s.issuer.Misbehave(answer(401, "application/json", `{"error":"invalid_client"}`))
		refused(t, s.signIn(s.newBrowser()), "Configuration")
		if n := s.issuer.Count(latchkeytest.PathToken); n != 1 {
			t.Errorf("%d token requests, want 1", n)
		}
	})
	for name, sub := range map[string]any{"another": "mallory", "absent": gone{}, "empty": "", "a number": 1, "in another case": "Ada"} {
		t.Run("R-054 the subject of the userinfo is "+name, func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(fullChecks))
			s.issuer.Misbehave(latchkeytest.Misbehaviour{UserInfo: func(c map[string]any) { change(c, "sub", sub) }})
			before := s.contents()
			refused(t, s.signIn(s.newBrowser()), "Configuration")
			s.noWrite(t, before)
		})
	}
}

// Servers that demand a state get one whatever the checks are, and it tells the
// sign-ins of one browser apart without a cookie of its own.
func TestStateAlwaysGoesAlong(t *testing.T) {
	pkce, nonce := latchkey.CheckPKCE, latchkey.CheckNonce
	for _, c := range []struct {
		name   string
		checks []latchkey.Check
	}{{"the default", nil}, {"PKCE alone", []latchkey.Check{pkce}}, {"with a nonce", []latchkey.Check{pkce, nonce}}} {
		for _, order := range []string{"older first", "newer first"} {
			t.Run("R-015 "+c.name+", two sign-ins under way, "+order, func(t *testing.T) {
				s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = c.checks }))
				b := s.newBrowser()
				first, second := s.authResponse(b, "issuer"), s.authResponse(b, "issuer")
				if first.Get("state") == "" || first.Get("state") == second.Get("state") {
					t.Fatalf("states %q and %q, want two that differ", first.Get("state"), second.Get("state"))
				}
				if order == "newer first" {
					first, second = second, first
				}
				for _, params := range []url.Values{first, second} {
					if a := b.callback("issuer", params); !a.signsIn() {
						t.Errorf("not signed in: %d to %q", a.Code, a.location())
					}
				}
			})
		}
	}
	t.Run("R-015 no state for an explicit none", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = []latchkey.Check{latchkey.CheckNone} }))
		if state := s.authResponse(s.newBrowser(), "issuer").Get("state"); state != "" {
			t.Errorf("state %q", state)
		}
	})
	t.Run("R-015 the state is not the challenge", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = []latchkey.Check{pkce} }))
		b := s.newBrowser()
		to, err := url.Parse(b.post("/auth/signin/issuer").location())
		if err != nil || to.Query().Get("state") == to.Query().Get("code_challenge") {
			t.Errorf("%v: state %q", err, to.Query().Get("state"))
		}
	})
}
