package providers_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
)

func TestTikTokOnTheWire(t *testing.T) {
	server := api{"/v2/oauth/token/": tokenAnswer, "/v2/user/info/": jsonOf(t, record(t, "tiktok").Profile)}.serve(t)
	s := newSite(t, server, providers.TikTok(latchkey.OAuth{
		ClientID: "the key", ClientSecret: "hush", Scopes: []string{"user.info.profile", "user.info.stats"},
		UserInfo: providers.TikTokFields(providers.TikTokDisplayName, providers.TikTokFollowerCount),
	}))
	to := s.Begin("tiktok").Location()
	if q := to.Query(); to.Host != "www.tiktok.com" || q.Get("client_key") != "the key" || q.Get("scope") != "user.info.profile,user.info.stats" {
		t.Errorf("sent to %s", to)
	}
	s.comeBack(t, "tiktok")
	token := s.wire.to("open.tiktokapis.com/v2/oauth/token/")[0]
	if token.Form.Get("client_key") != "the key" || token.Form.Get("client_secret") != "hush" || token.Header.Get("Authorization") != "" ||
		token.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Errorf("token request %v %v", token.Form, token.Header)
	}
	info := s.wire.to("open.tiktokapis.com/v2/user/info/")[0]
	if info.Query != "fields="+url.QueryEscape("open_id,display_name,follower_count") || info.Header.Get("Authorization") != "Bearer the access token" {
		t.Errorf("userinfo request %s %v", info.Query, info.Header)
	}
}

func TestTikTokAsksForTheUsualFields(t *testing.T) {
	p := providers.TikTok(latchkey.OAuth{})
	if got := p.UserInfo.Params.Get("fields"); got != "open_id,avatar_url,display_name,username" {
		t.Errorf("fields %q", got)
	}
	if got := strings.Join(p.Scopes, ","); got != "user.info.profile" {
		t.Errorf("scopes %q", got)
	}
}

func TestTikTokTokenAnswers(t *testing.T) {
	profile := jsonOf(t, record(t, "tiktok").Profile)
	for name, row := range map[string]struct {
		status      int
		contentType string
		body        string
		reason      string // empty: signed in
	}{
		"as the standard says":      {200, "application/json; charset=utf-8", tokenAnswer, ""},
		"labelled as text":          {200, "text/plain", tokenAnswer, ""},
		"created":                   {201, "application/json", tokenAnswer, ""},
		"R-051 error with 200":      {200, "application/json", `{"error":"invalid_grant","error_description":"x","log_id":"1"}`, "invalid_grant"},
		"error in the old envelope": {200, "application/json", `{"data":{"error_code":10007,"description":"expired"},"message":"error"}`, "tiktok_10007"},
		"R-049 HTML":                {200, "text/html", "<html>", "not application/json"},
		"R-049 no token":            {200, "application/json", `{"token_type":"bearer"}`, "access_token"},
		"too large to repair":       {200, "text/plain", tokenAnswer + strings.Repeat(" ", 100<<10), "not application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v2/user/info/" {
					_, _ = w.Write([]byte(profile))
					return
				}
				w.Header().Set("Content-Type", row.contentType)
				w.WriteHeader(row.status)
				_, _ = w.Write([]byte(row.body))
			}))
			t.Cleanup(server.Close)
			s := newSite(t, server.URL, providers.TikTok(latchkey.OAuth{}))
			page := s.comeBack(t, "tiktok")
			if row.reason == "" {
				s.attempt(t)
				return
			}
			s.isRefused(t, page, row.reason)
		})
	}
}

func TestTikTokKeepsACallersTransport(t *testing.T) {
	used := 0
	p := providers.TikTok(latchkey.OAuth{Transport: func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { used++; return next.RoundTrip(r) })
	}})
	server := api{"/v2/oauth/token/": tokenAnswer, "/v2/user/info/": jsonOf(t, record(t, "tiktok").Profile)}.serve(t)
	s := newSite(t, server, p)
	s.comeBack(t, "tiktok")
	if s.attempt(t); used != 2 {
		t.Errorf("used %d times", used)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTikTokErrors(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		body   string
		code   string // empty: an error of another kind
	}{
		"stated with 401": {401, `{"data":{},"error":{"code":"access_token_invalid","message":"secret details","log_id":"2022"}}`, "access_token_invalid"},
		"stated with 200": {200, `{"data":{},"error":{"code":"scope_not_authorized","message":"secret details","log_id":"2022"}}`, "scope_not_authorized"},
		"no JSON":         {500, `oops`, ""},
		"status alone":    {500, `{"error":{"code":"ok"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(row.status)
				_, _ = w.Write([]byte(row.body))
			}))
			t.Cleanup(server.Close)
			p := providers.TikTok(latchkey.OAuth{UserInfo: latchkey.Endpoint{URL: server.URL}})
			_, err := p.FetchProfile(context.Background(), server.Client(), latchkey.Tokens{AccessToken: "t"})
			if err == nil || strings.Contains(err.Error(), "secret details") {
				t.Fatalf("error %v", err)
			}
			said, ok := errors.AsType[*providers.TikTokError](err)
			if ok != (row.code != "") || ok && (said.Code != row.code || said.LogID != "2022" || said.Message != "secret details") {
				t.Errorf("error %#v", err)
			}
		})
	}
}
