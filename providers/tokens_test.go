package providers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

// tokenFacts are what becomes of a provider's tokens.
type tokenFacts struct {
	id       string
	ask      string // what brings a refresh token
	rotation string // what becomes of one that was used
	life     string // of access tokens; of refresh tokens
	revoke   string
	logout   string
	source   string
}

// tokenTable has the providers whose tokens were looked at. "check" marks what no
// documentation confirms.
var tokenTable = []tokenFacts{
	{"google", "`access_type=offline`", "stays", "1 h; dead after 6 months unused", "form, ends the grant", "none", "https://developers.google.com/identity/protocols/oauth2"},
	{"microsoft-entra-id", "`offline_access`", "a new one, old ones stay", "about 1 h; 90 days", "none", "end session", "https://learn.microsoft.com/entra/identity-platform/refresh-tokens"},
	{"apple", "always", "stays", "1 h; no end", "form", "none", "https://developer.apple.com/documentation/signinwithapplerestapi/revoke-tokens"},
	{"github", "a setting of the app", "once", "8 h; 6 months", "ends the grant", "none", "https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens"},
	{"gitlab", "always", "once, with the access token", "2 h; not stated", "form", "none", "https://docs.gitlab.com/api/oauth2/"},
	{"slack", "a setting of the app", "once", "12 h", "`auth.revoke`", "none", "https://docs.slack.dev/authentication/using-token-rotation"},
	{"atlassian", "`offline_access`", "once, window of 10 min", "1 h; 90 days unused", "none", "none", "https://developer.atlassian.com/cloud/oauth/getting-started/refresh-tokens/"},
	{"auth0", "`offline_access`", "by setting", "by setting", "discovered", "end session, back channel", "https://auth0.com/docs/secure/tokens/refresh-tokens/refresh-token-rotation"},
	{"okta", "`offline_access`", "by setting", "1 h; 7 days unused", "discovered", "end session, front channel", "https://developer.okta.com/docs/guides/refresh-tokens/main/"},
	{"keycloak", "`offline_access`", "by setting", "5 min; 30 days unused", "discovered", "end session, both channels", "https://www.keycloak.org/securing-apps/oidc-layers"},
	{"authentik", "`offline_access`", "check", "by setting", "discovered", "end session, back channel", "https://docs.goauthentik.io/add-secure-apps/providers/oauth2/"},
	{"spotify", "always", "stays", "1 h; 6 months", "none", "none", "https://developer.spotify.com/documentation/web-api/tutorials/refreshing-tokens"},
	{"shopify", "always", "once, short window", "1 h; 90 days", "check", "none", "https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/offline-access-tokens"},
	{"discord", "always", "once", "7 days", "form, ends the grant", "none", "https://discord.com/developers/docs/topics/oauth2"},
	{"linkedin", "for partners", "stays", "60 days; 365 days", "none", "none", "https://learn.microsoft.com/linkedin/shared/authentication/programmatic-refresh-tokens"},
	{"salesforce", "`refresh_token`", "by setting", "by setting", "discovered", "check", "https://help.salesforce.com/s/articleView?id=xcloud.remoteaccess_oauth_refresh_token_flow.htm"},
	{"zoom", "always", "once", "1 h; 90 days", "form", "none", "https://developers.zoom.us/docs/integrations/oauth/"},
	{"notion", "always", "once", "not stated", "JSON", "none", "https://developers.notion.com/docs/authorization"},
	{"twitter", "`offline.access`", "once", "2 h; check", "form", "none", "https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code"},
	{"twitch", "always", "may change", "4 h; no end", "form", "none", "https://dev.twitch.tv/docs/authentication/refresh-tokens/"},
	{"hubspot", "always", "stays", "30 min; no end", "form", "none", "https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/oauth/oauth-quickstart-guide"},
	{"dropbox", "`token_access_type=offline`", "stays", "4 h; no end", "with the token", "none", "https://developers.dropbox.com/oauth-guide"},
	{"facebook", "none", "none", "2 h", "all permissions", "none", "https://developers.facebook.com/docs/facebook-login/guides/access-tokens/get-long-lived"},
	{"tiktok", "always", "may change", "24 h; 365 days", "form", "none", "https://developers.tiktok.com/doc/oauth-user-access-token-management"},
	{"yandex", "always", "a new one", "months", "form", "none", "https://yandex.com/dev/id/doc/en/tokens/token-invalidate"},
}

// tokenRows returns the rows of the page.
func tokenRows() (rows []string) {
	for _, f := range tokenTable {
		rows = append(rows, fmt.Sprintf("| `%s` | %s | [%s](%s) | %s | %s | %s |\n", f.id, f.ask, f.rotation, f.source, f.life, f.revoke, f.logout))
	}
	return rows
}

// TestTokenTable compares what is written about tokens with the definitions.
func TestTokenTable(t *testing.T) {
	byID := map[string]*latchkey.OAuth{}
	for _, e := range catalogue.Providers() {
		p := e.New(latchkey.OAuth{ClientID: "id", ClientSecret: "secret"})
		if p.Issuer == "" {
			p.Issuer = "https://id.example"
		}
		if p.Derive != nil {
			_ = p.Derive(p) // some need more of the application, and none of the table
		}
		byID[p.ID] = p
	}
	for _, f := range tokenTable {
		t.Run(f.id, func(t *testing.T) {
			p := byID[f.id]
			if p == nil {
				t.Fatal("there is no such provider")
			}
			own := p.Revoke != nil || p.Revocation.URL != ""
			if want := f.revoke != "none" && f.revoke != "discovered" && f.revoke != "check" && !p.OIDC; own != want && !p.OIDC {
				t.Errorf("a way to revoke of its own: %v, want %v", own, want)
			}
			if scope, is := strings.CutPrefix(f.ask, "`"); is && !strings.Contains(scope, "=") {
				scope = strings.TrimSuffix(scope, "`")
				if !slices.Contains(p.Refresh.AskScopes, scope) && !(p.OIDC && p.Refresh.AskScopes == nil && scope == "offline_access") {
					t.Errorf("AskScopes are %q, want %s", p.Refresh.AskScopes, scope)
				}
			}
			if f.ask == "always" && p.OIDC && p.Refresh.AskScopes == nil {
				t.Error("Offline would ask for offline_access, which this provider does not know")
			}
		})
	}
}

// recorder is a provider that answers every request alike.
type recorder struct {
	status int
	body   string
	got    *http.Request
	sent   string
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.got = req
	if req.Body != nil {
		raw, _ := io.ReadAll(req.Body)
		r.sent = string(raw)
	}
	if r.status == 0 {
		return nil, errors.New("no line, and a secret")
	}
	return &http.Response{StatusCode: r.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(r.body)), Request: req}, nil
}

// TestRevoking shows the requests of providers that revoke in a way of their own (T-055).
func TestRevoking(t *testing.T) {
	form := url.Values{"access_token": {"a"}, "client_id": {"id"}, "client_secret": {"secret"}}.Encode()
	for _, c := range []struct {
		p             *latchkey.OAuth
		want, sent    string
		authorization string
	}{
		{providers.GitHub(latchkey.OAuth{}), "DELETE https://api.github.com/applications/id/grant", `{"access_token":"a"}`, "Basic aWQ6c2VjcmV0"},
		{providers.GitHubEnterprise("https://git.example", latchkey.OAuth{}), "DELETE https://git.example/api/v3/applications/id/grant", `{"access_token":"a"}`, "Basic aWQ6c2VjcmV0"},
		{providers.Slack(latchkey.OAuth{}), "POST https://slack.com/api/auth.revoke", "", "Bearer a"},
		{providers.Dropbox(latchkey.OAuth{}), "POST https://api.dropboxapi.com/2/auth/token/revoke", "", "Bearer a"},
		{providers.Notion(latchkey.OAuth{}), "POST https://api.notion.com/v1/oauth/revoke", `{"token":"a"}`, "Basic aWQ6c2VjcmV0"},
		{providers.Yandex(latchkey.OAuth{}), "POST https://oauth.yandex.ru/revoke_token", form, ""},
		{providers.Facebook(latchkey.OAuth{}), "DELETE https://graph.facebook.com/me/permissions", "", "Bearer a"},
	} {
		c.p.ClientID, c.p.ClientSecret = "id", "secret"
		if err := c.p.Derive(c.p); err != nil {
			t.Fatal(err)
		}
		call := func(r *recorder) error {
			return c.p.Revoke(context.Background(), &http.Client{Transport: r}, latchkey.Tokens{AccessToken: "a", RefreshToken: "r"})
		}
		t.Run("T-055 "+c.want, func(t *testing.T) {
			r := &recorder{status: 200, body: `{"ok":true}`}
			if err := call(r); err != nil {
				t.Fatal(err)
			}
			if got := r.got.Method + " " + r.got.URL.String(); got != c.want || r.sent != c.sent || r.got.Header.Get("Authorization") != c.authorization {
				t.Errorf("%s with %q and %q", got, r.sent, r.got.Header.Get("Authorization"))
			}
			for name, answer := range map[string]*recorder{"503": {status: 503, body: "a secret"}, "refused": {status: 200, body: `{"ok":false,"error":"fatal_error"}`}, "no line": {}} {
				if err := call(answer); err == nil || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := call(&recorder{status: 404}); err != nil {
				t.Errorf("tokens that have ended: %v", err)
			}
			// 401 may be about a secret that was replaced, where the request has one.
			if err := call(&recorder{status: 401}); (err != nil) != (c.authorization != "Bearer a") {
				t.Errorf("status 401: %v", err)
			}
		})
	}
}

// TestRefusals shows the codes that mean that a refresh token is dead (T-015).
func TestRefusals(t *testing.T) {
	for id, c := range map[string]struct {
		p    *latchkey.OAuth
		code string
	}{
		"T-015 github":  {providers.GitHub(latchkey.OAuth{}), "bad_refresh_token"},
		"T-015 slack":   {providers.Slack(latchkey.OAuth{}), "invalid_refresh_token"},
		"T-015 hubspot": {providers.HubSpot(latchkey.OAuth{}), "BAD_REFRESH_TOKEN"},
	} {
		t.Run(id, func(t *testing.T) {
			if !slices.Contains(c.p.Refresh.Refused, c.code) {
				t.Errorf("%q is not among %q", c.code, c.p.Refresh.Refused)
			}
		})
	}
	t.Run("T-015 twitch, whose answer has no code", func(t *testing.T) {
		p := providers.Twitch(latchkey.OAuth{})
		r := &recorder{status: 400, body: `{"status":400,"message":"Invalid refresh token"}`}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://id.twitch.tv/oauth2/token", strings.NewReader("grant_type=refresh_token&refresh_token=r"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := p.Transport(r).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || !strings.Contains(string(body), "invalid_grant") {
			t.Errorf("%s, %v", body, err)
		}
	})
}
