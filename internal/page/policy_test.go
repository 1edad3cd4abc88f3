package page

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var styleElement = regexp.MustCompile(`(?s)<style>(.*?)</style>`)

func TestPolicy(t *testing.T) {
	r := mustNew(t, Options{Theme: Theme{BrandColor: "teal"}})
	for _, s := range everyPage {
		p, err := s.page(r)
		if err != nil {
			t.Fatal(err)
		}
		sent := styleElement.FindAllSubmatch(p.Body, -1)
		if len(sent) != 1 {
			t.Fatalf("%s: %d styles", s.name, len(sent))
		}
		sum := sha256.Sum256(sent[0][1])
		want := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; "
		if !strings.Contains(p.Policy, want) {
			t.Errorf("R-206 %s: the style sent is not the one in %q", s.name, p.Policy)
		}
		parts := directives(p.Policy)
		parts = slices.DeleteFunc(parts, func(d string) bool { return d == "script-src" || d == "connect-src" })
		if !slices.Equal(parts, []string{"default-src", "style-src", "img-src", "form-action", "base-uri", "frame-ancestors"}) {
			t.Errorf("R-206 %s: %q", s.name, p.Policy)
		}
		for _, part := range []string{"default-src 'none'", "img-src 'self' data:;", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"} {
			if !strings.Contains(p.Policy, part) {
				t.Errorf("R-206 %s: no %s in %q", s.name, part, p.Policy)
			}
		}
		if hasScript := strings.Contains(p.Policy, "script-src"); hasScript != (s.name == "signin" || s.name == "account" || s.name == "frame" || s.name == "offer") {
			t.Errorf("R-206 %s: scripts are let in: %v", s.name, hasScript)
		}
	}
}

func TestFormOrigins(t *testing.T) {
	p, err := mustNew(t, Options{}).SignIn(SignIn{FormOrigins: []string{
		"https://github.com/login/oauth/authorize", "https://GitHub.com", "http://127.0.0.1:9000/a", "javascript:x", "https://[::1]/",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "form-action 'self' https: http://127.0.0.1:9000; base-uri"; strings.Contains(p.Policy, want) {
		t.Errorf("R-206 a page without a form: %q", p.Policy)
	}
	p, err = mustNew(t, Options{}).SignIn(SignIn{Providers: someProviders, FormOrigins: []string{
		"https://github.com/login/oauth/authorize", "http://127.0.0.1:9000/a", "http://127.0.0.1:9000/b", "javascript:x", "https://[::1]/",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "form-action 'self' https: http://127.0.0.1:9000; base-uri"; !strings.Contains(p.Policy, want) {
		t.Errorf("R-206 policy %q, want %s", p.Policy, want)
	}
}

// R-530 A form may lead wherever its flow leads. The pages that ask to sign out, to
// resend a link, to confirm one and to delete an account listed nothing but the site.
func TestFormsMayLeadOn(t *testing.T) {
	r := mustNew(t, Options{})
	for _, s := range everyPage {
		p, err := s.page(r)
		forms := mustParse(t, p, err).all("form")
		if leads := strings.Contains(p.Policy, "form-action 'self' https:"); leads != (len(forms) > 0) {
			t.Errorf("R-530 %s has %d forms and the policy %q", s.name, len(forms), p.Policy)
		}
	}
	for _, given := range []func([]string) (Page, error){
		func(to []string) (Page, error) { return r.SignIn(SignIn{Providers: someProviders, FormOrigins: to}) },
		func(to []string) (Page, error) { return r.SignOut(SignOut{FormOrigins: to}) },
		func(to []string) (Page, error) {
			return r.VerifyRequest(VerifyRequest{Email: "a@b.example", FormOrigins: to})
		},
		func(to []string) (Page, error) { return r.Confirm(Confirm{FormOrigins: to}) },
		func(to []string) (Page, error) { return r.DeleteAccount(DeleteAccount{FormOrigins: to}) },
		func(to []string) (Page, error) {
			return r.Account(Account{Providers: someProviders[:1], FormOrigins: to})
		},
	} {
		for want, to := range map[string][]string{
			"form-action 'self' https: http://front.example:5173;": {"http://front.example:5173/in", "https://front.example/in"},
			"form-action 'self' https: http:;":                     {AnyHTTP, "http://front.example:5173/in"},
		} {
			if p, err := given(to); err != nil || !strings.Contains(p.Policy, want) {
				t.Errorf("R-530 %q, %v, want %s", p.Policy, err, want)
			}
		}
	}
}

func TestScript(t *testing.T) {
	r := mustNew(t, Options{})
	seen := map[string]bool{}
	for range 3 {
		p, err := r.SignIn(SignIn{Script: "/auth/passkey.js"})
		script := one(t, mustParse(t, p, err), "script")
		nonce := script.attr("nonce")
		if len(nonce) < 22 || seen[nonce] || script.attr("src") != "/auth/passkey.js" || len(script.kids) != 0 {
			t.Errorf("script %v", script.attrs)
		}
		seen[nonce] = true
		if want := "; script-src 'nonce-" + nonce + "'; connect-src 'self'; "; !strings.Contains(p.Policy, want) {
			t.Errorf("R-206 policy %q, want %s", p.Policy, want)
		}
	}
	p, err := r.SignIn(SignIn{})
	if len(mustParse(t, p, err).all("script")) != 0 || strings.Contains(p.Policy, "script-src") {
		t.Errorf("R-206 a page without script lets one in: %q", p.Policy)
	}
}

func TestSource(t *testing.T) {
	for in, want := range map[string]string{
		"https://accounts.example/o/authorize?x=1#y": "https://accounts.example",
		"http://127.0.0.1:4000/authorize":            "http://127.0.0.1:4000",
		"HTTPS://Accounts.Example":                   "https://accounts.example",
		"https://user:pass@accounts.example/":        "https://accounts.example",
		"https:":                                     "https:",
		"http:":                                      "http:",
		"":                                           "",
		"/authorize":                                 "",
		"//accounts.example":                         "",
		"javascript:alert(1)":                        "",
		"https://*.example":                          "",
		"https://a.example;script-src":               "",
		"https://a.example,b.example":                "",
		"https://a.example'":                         "",
		"https://[::1]:3000/":                        "",
		"https://ünï.example":                        "",
	} {
		if got, ok := Source(in); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", in, got, ok, want)
		}
	}
}
