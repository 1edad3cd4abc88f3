package latchkey

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// fuzzSetup is a site without a database.
func fuzzSetup(f testing.TB, change ...func(*Config)) *setup {
	f.Helper()
	c := Config{Site: Site{URL: "https://app.example"}, Providers: []Provider{&OAuth{ID: "some", OIDC: true, Issuer: "https://id.example", ClientID: "x", ClientSecret: "y"}}, Secrets: []string{"a secret for fuzzing that is long enough"}, Runtime: Runtime{Logger: slog.New(slog.DiscardHandler)}}
	for _, do := range change {
		do(&c)
	}
	s, err := prepare(c.WithEnv(func(string) string { return "" }), "", common{})
	if err != nil {
		f.Fatal(err)
	}
	return s
}

func fuzzExchange(f testing.TB, s *setup, r *Request) *exchange {
	x, err := readingExchange(s, r)
	if err != nil {
		f.Fatal(err)
	}
	x.form = map[string]any{}
	return x
}

// FuzzFormPairs: a form is read as net/url reads it.
func FuzzFormPairs(f *testing.F) {
	f.Add("a=1&b=2&a=3&&c&=d&e=%zz&f;g=1&%41+b=%26+%3d&h==")
	f.Fuzz(func(t *testing.T, body string) {
		want, _ := url.ParseQuery(body)
		got := url.Values{}
		for name, value := range formPairs(body) {
			got.Add(name, value)
		}
		if !maps.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%q: %v, want %v", body, got, want)
		}
	})
}

// FuzzCSRFCookie: no cookie makes a token valid that the site did not make.
func FuzzCSRFCookie(f *testing.F) {
	s := fuzzSetup(f, func(c *Config) { c.Secrets = append(c.Secrets, "an older secret that is long enough as well") })
	good := strings.Repeat("ab", 32)
	f.Add(good+"|"+secret.HashWith(good, s.csrfSecret), good)
	f.Add(good+"%7C"+secret.HashWith(good, s.csrfSecret), good)
	f.Add(good, good)
	f.Add("|", "")
	f.Add("|"+secret.HashWith("", s.csrfSecret), "")
	f.Add("a|b|c", "a")
	f.Add("%7C%7C", "%")
	f.Fuzz(func(t *testing.T, cookie, token string) {
		r := &Request{Method: http.MethodPost, URL: &url.URL{Path: "/auth/signout"}, Header: http.Header{"Cookie": {"__Host-authjs.csrf-token=" + cookie}}}
		x := fuzzExchange(t, s, r)
		x.form["csrfToken"] = token
		x.takeCSRF()
		if !x.csrfVerified {
			return
		}
		made := false
		for _, suffix := range s.csrfSecrets {
			made = made || strings.Contains(cookie, secret.HashWith(token, suffix)) && token != ""
		}
		if !made {
			t.Errorf("cookie %q and token %q pass", cookie, token)
		}
	})
}

// FuzzCallbackURL: wherever the default lets a browser go, it is on the site.
func FuzzCallbackURL(f *testing.F) {
	for _, s := range []string{
		"/", "//evil.example", `/\evil.example`, "https://app.example", "https://app.example@evil.example", "https://app.example.evil.example", "HTTPS://APP.EXAMPLE:443/x", "https://app.example\t.evil.example",
		"javascript:alert(1)", "http://app.example", "https:evil.example", "https://app.example?x", "https://app.example#x", "/\r\nX: y", "https://[::1]", "https://app.example:", "https://app%2eexample", "\x00",
	} {
		f.Add(s)
	}
	s := fuzzSetup(f)
	x := fuzzExchange(f, s, &Request{Method: http.MethodGet, URL: &url.URL{Path: "/auth/signin"}, Header: http.Header{}})
	f.Fuzz(func(t *testing.T, to string) {
		if !weburl.Valid(to) {
			return
		}
		landed, err := x.resolveRedirect(t.Context(), to)
		if err != nil {
			return
		}
		lower := strings.ToLower(landed)
		rest, ours := strings.CutPrefix(strings.Replace(lower, "https://app.example:443", "https://app.example", 1), "https://app.example")
		if !ours || rest != "" && strings.IndexByte("/?#", rest[0]) < 0 {
			t.Errorf("%q lands at %q", to, landed)
		}
		if strings.ContainsAny(landed, "\r\n\t\x00\\") {
			t.Errorf("%q lands at %q, which browsers read differently", to, landed)
		}
	})
}

// FuzzCheckChosen: whatever an application chooses, no script is run and no
// header broken.
func FuzzCheckChosen(f *testing.F) {
	for _, s := range []string{"/", "https://partner.example/x", "javascript:x", "java\nscript:x", "https://a@b", "//x", "https:\\\\x", "https://a\\b"} {
		f.Add(s)
	}
	var chosen string
	s := fuzzSetup(f, func(c *Config) {
		c.Callbacks.Redirect = func(context.Context, string, string) (string, error) { return chosen, nil }
	})
	x := fuzzExchange(f, s, &Request{Method: http.MethodGet, URL: &url.URL{Path: "/auth/signin"}, Header: http.Header{}})
	f.Fuzz(func(t *testing.T, given string) {
		chosen = given
		to, err := x.resolveRedirect(t.Context(), "/")
		if err != nil {
			t.Fatal(err)
		}
		lower := strings.ToLower(to)
		if !strings.HasPrefix(lower, "https://") && !strings.HasPrefix(lower, "http://") || strings.ContainsAny(to, "\r\n\t\x00\\ ") {
			t.Errorf("%q becomes %q", chosen, to)
		}
	})
}

// FuzzBody: a body of any type is read without harm, and only by its type.
func FuzzBody(f *testing.F) {
	f.Add("application/json", []byte(`{"csrfToken":"x","data":{"a":[1,2]}}`))
	f.Add("application/json", []byte(`null`))
	f.Add("application/x-www-form-urlencoded", []byte("a=b&a=c&%zz=%&;"))
	f.Add("text/plain;application/json", []byte(`{"a":"b"}`))
	f.Add("application/json;;=", []byte(`{`))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		x := &exchange{visit: visit{request: &Request{Method: http.MethodPost, Header: http.Header{"Content-Type": {contentType}}, Body: body}}}
		err := x.readForm()
		declared := strings.ToLower(contentType)
		if x.form != nil && err == nil && !strings.Contains(declared, "application/json") && !strings.Contains(declared, formType) {
			t.Errorf("%q was read as %v", contentType, x.form)
		}
		for name := range x.form {
			_ = x.field(name)
		}
	})
}

// FuzzActionPath: a route has one spelling, below the base path.
func FuzzActionPath(f *testing.F) {
	for _, s := range []string{"/auth/session", "/auth//session/", "/authsession", "/auth/signin/github", "/auth/signin/undefined", "/auth/%73ession", "/auth/callback/a/b", "", "/", "/auth"} {
		f.Add("/auth", s)
	}
	f.Add("/a.b", "/axb/session")
	f.Fuzz(func(t *testing.T, base, path string) {
		if !validBasePath(base) {
			return
		}
		action, provider, ok := parsePath(base, path)
		if !ok {
			return
		}
		if !strings.HasPrefix(path, base+"/") || !IsAction(action) || strings.Contains(provider, "/") {
			t.Fatalf("%q is %q at %q", path, action, provider)
		}
		again, same, ok := parsePath(base, base+"/"+action+"/"+provider)
		if !ok || again != action || same != provider {
			t.Errorf("%q is %q at %q, which is read as %q at %q", path, action, provider, again, same)
		}
	})
}

// FuzzForwardedHost: an origin that is believed is one plain host, and on the
// list.
func FuzzForwardedHost(f *testing.F) {
	for _, s := range []string{"app.example", "evil.example, app.example", "[::1]:80", "a@b", "x:99999", "A.EXAMPLE:443", "a..b", "-a", "a\r\nb", "*.preview.example", "a.preview.example", "::1", "é"} {
		f.Add(s, "https")
	}
	f.Add("app.example", "javascript")
	open := fuzzSetup(f, func(c *Config) { c.Site.URL, c.Site.TrustHost = "", true })
	listed := fuzzSetup(f, func(c *Config) {
		c.Site.URL, c.Site.TrustHost, c.Site.AllowedHosts = "", true, []string{"app.example", "*.preview.example"}
	})
	f.Fuzz(func(t *testing.T, host, proto string) {
		r := &Request{Method: http.MethodGet, URL: &url.URL{}, Host: "fallback.invalid", Header: http.Header{"X-Forwarded-Host": {host}, "X-Forwarded-Proto": {proto}}}
		o, err := open.trust.originOf(r)
		if err == nil {
			u, err := url.Parse(o.Text)
			if err != nil || u.Host != o.Host() || u.Path != "" || u.RawQuery != "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") || strings.ContainsAny(o.Text, " \t\r\n,\\@<>\"'") {
				t.Errorf("%q and %q give %q", host, proto, o.Text)
			}
		}
		o, err = listed.trust.originOf(r)
		if err == nil {
			name := o.Host()
			if i := strings.LastIndexByte(name, ':'); i >= 0 {
				name = name[:i]
			}
			if name != "app.example" && !strings.HasSuffix(name, ".preview.example") {
				t.Errorf("%q passes the list as %q", host, o.Text)
			}
		}
	})
}

// FuzzClientAddr: what is counted and logged is an IP address.
func FuzzClientAddr(f *testing.F) {
	f.Add("192.0.2.1:1", "1.1.1.1, 10.0.0.1")
	f.Add("[::1%eth0]:80", "unknown")
	f.Add("@", "")
	s := fuzzSetup(f)
	f.Fuzz(func(t *testing.T, remote, hops string) {
		client := s.trust.clientAddr(&Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": {hops}}})
		if _, ok := parseAddr(client); !ok && client != "" {
			t.Errorf("%q gives %q", remote, client)
		}
		limit.New(limit.Rates{}, false, s.keys, nil, nil).Answer(limit.Requester{Client: client})
	})
}
