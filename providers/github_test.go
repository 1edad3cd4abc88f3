package providers_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
	"github.com/latchkeyhq/latchkey/providers/profile"
)

func TestGitHubAsksForAPrivateEmail(t *testing.T) {
	for name, row := range map[string]struct {
		list     string // empty: 404
		want     string
		verified bool
	}{
		"primary and verified": {`[{"email":"other@example.com","primary":false,"verified":true},{"email":"Me@Example.com","primary":true,"verified":true}]`, "me@example.com", true},
		"primary not verified": {`[{"email":"victim@example.com","primary":true,"verified":false},{"email":"me@example.com","primary":false,"verified":true}]`, "me@example.com", true},
		"none verified":        {`[{"email":"victim@example.com","primary":true,"verified":false}]`, "", false},
		"R-036 other spelling": {`[{"email":"victim@example.com","primary":true,"verified":false,"Verified":true}]`, "", false},
		"empty list":           {`[]`, "", false},
		"scope not granted":    {"", "", false},
		"no list":              {`{"message":"x"}`, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, "github")
			r.Profile["email"] = nil
			delete(r.Profile, "email_verified")
			answers := api{"/login/oauth/access_token": tokenAnswer, "/user": jsonOf(t, r.Profile)}
			if row.list != "" {
				answers["/user/emails"] = row.list
			}
			s := newSite(t, answers.serve(t), providers.GitHub(latchkey.OAuth{}))
			s.comeBack(t, "github")
			a := s.attempt(t)
			typed, err := latchkey.Decode[profile.GitHub](a.Profile)
			if err != nil || a.User.Email != row.want || typed.EmailVerified != row.verified {
				t.Errorf("e-mail %q, verified %v (%v)", a.User.Email, typed.EmailVerified, err)
			}
			for _, c := range append(s.wire.to("api.github.com/user"), s.wire.to("api.github.com/user/emails")...) {
				if c.Header.Get("User-Agent") == "" || c.Header.Get("Authorization") != "Bearer the access token" {
					t.Errorf("header %v", c.Header)
				}
			}
		})
	}
}

func TestGitHubAsksOnceForAPublicEmail(t *testing.T) {
	answers := api{"/login/oauth/access_token": tokenAnswer, "/user": jsonOf(t, record(t, "github").Profile)}
	s := newSite(t, answers.serve(t), providers.GitHub(latchkey.OAuth{}))
	s.comeBack(t, "github")
	if s.attempt(t); len(s.wire.to("api.github.com/user/emails")) != 0 {
		t.Error("asked for the list of e-mails")
	}
}

func TestGitHubIssuer(t *testing.T) {
	answers := api{"/login/oauth/access_token": tokenAnswer, "/user": jsonOf(t, record(t, "github").Profile)}
	for iss, allowed := range map[string]bool{"https://github.com/login/oauth": true, "https://evil.example": false} {
		t.Run("R-007 "+iss, func(t *testing.T) {
			s := newSite(t, answers.serve(t), providers.GitHub(latchkey.OAuth{}))
			state := s.Begin("github").Location().Query().Get("state")
			s.Get("/auth/callback/github?code=c&state=" + state + "&iss=" + iss)
			if got := len(s.arrived) == 1; got != allowed {
				t.Errorf("signed in: %v", got)
			}
			if !allowed && len(s.wire.to("github.com/login/oauth/access_token")) != 0 {
				t.Error("the code was spent")
			}
		})
	}
}

func TestGitHubEnterprise(t *testing.T) {
	r := record(t, "github")
	r.Profile["email"] = nil
	answers := api{
		"/login/oauth/access_token": tokenAnswer, "/api/v3/user": jsonOf(t, r.Profile),
		"/api/v3/user/emails": `[{"email":"me@example.com","primary":true,"verified":true}]`,
	}
	p := providers.GitHubEnterprise("https://git.example.com/", latchkey.OAuth{ID: "work"})
	if p.EmailTrust != latchkey.EmailTrustUnknown || p.Issuer != "https://git.example.com/login/oauth" {
		t.Errorf("verdict %v, issuer %s", p.EmailTrust, p.Issuer)
	}
	s := newSite(t, answers.serve(t), p)
	if to := s.Begin("work").Location(); to.Host != "git.example.com" || to.Path != "/login/oauth/authorize" {
		t.Errorf("sent to %s", to)
	}
	s.comeBack(t, "work")
	if got := s.attempt(t).User.Email; got != "me@example.com" {
		t.Errorf("e-mail %q", got)
	}
}

func TestGitHubLargeIDsSurvive(t *testing.T) {
	got, err := providers.GitHub(latchkey.OAuth{}).Identify(latchkey.Grant{Profile: latchkey.Claims{"id": json.Number("9007199254740993")}})
	if err != nil || got.Subject != "9007199254740993" {
		t.Errorf("subject %q, %v", got.Subject, err)
	}
}

func TestProfileCallsAreGuarded(t *testing.T) {
	reached := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(elsewhere.Close)
	for name, row := range map[string]struct {
		answer http.HandlerFunc
		reason string
	}{
		"R-047 redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }, "status 302"},
		"too large":      {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat(" ", 2<<20))) }, "too large"},
		"server error":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "status 502"},
		"HTML":           {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "not a JSON object"},
		"null":           {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("null")) }, "not a JSON object"},
		"two objects":    {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"id":1}{"id":2}`)) }, "not a JSON object"},
		"not UTF-8":      {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{\"id\":\"\xff\"}")) }, "not a JSON object"},
		"dropped":        {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "calling api.github.com"},
		"R-069 without id": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"login":"octocat","email":"o@example.com"}`))
		}, "Subject"},
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("/user", row.answer)
			mux.HandleFunc("/login/oauth/access_token", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(tokenAnswer))
			})
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			s := newSite(t, server.URL, providers.GitHub(latchkey.OAuth{}))
			s.isRefused(t, s.comeBack(t, "github"), row.reason)
			if reached || strings.Contains(s.log.String(), "the access token") {
				t.Errorf("redirect followed: %v; log: %s", reached, s.log)
			}
		})
	}
}
