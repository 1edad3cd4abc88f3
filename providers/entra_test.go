package providers_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/providers"
)

func TestEntraIssuers(t *testing.T) {
	const (
		site      = "https://login.microsoftonline.com/"
		work      = "b9419818-09af-49c2-b0c3-653adc1f376e"
		consumers = "9188040d-6c67-4c5b-b112-36a304b66dad"
	)
	discovery := func(tenant string) (string, latchkey.Claims) { return site + tenant + "/v2.0", nil }
	token := func(tenant string) (string, latchkey.Claims) {
		return site + tenant + "/v2.0", latchkey.Claims{"tid": tenant}
	}
	forged := func(iss string, tid any) func(string) (string, latchkey.Claims) {
		return func(string) (string, latchkey.Claims) { return iss, latchkey.Claims{"tid": tid} }
	}
	for _, row := range []struct {
		name, configured string
		stated           func(string) (string, latchkey.Claims)
		tenant           string
		want             bool
	}{
		{"common: template in the document", providers.EntraCommon, discovery, "{tenantid}", true},
		{"common: a work tenant", providers.EntraCommon, token, work, true},
		{"common: personal accounts", providers.EntraCommon, token, consumers, true},
		{"common: a template in a token", providers.EntraCommon, token, "{tenantid}", false},
		{"common: the word in a token", providers.EntraCommon, token, "common", false},
		{"common: upper case", providers.EntraCommon, token, strings.ToUpper(work), false},
		{"common: path in the tenant", providers.EntraCommon, token, work + "/x", false},
		{"organizations: a work tenant", providers.EntraOrganizations, token, work, true},
		{"organizations: personal accounts", providers.EntraOrganizations, token, consumers, false},
		{"consumers: personal accounts", providers.EntraConsumers, token, consumers, true},
		{"consumers: their tenant in the document", providers.EntraConsumers, discovery, consumers, true},
		{"consumers: a work tenant", providers.EntraConsumers, token, work, false},
		{"R-025 tid of another tenant", providers.EntraCommon, forged(site+work+"/v2.0", consumers), "", false},
		{"R-025 no tid", providers.EntraCommon, forged(site+work+"/v2.0", nil), "", false},
		{"R-025 another site", providers.EntraCommon, forged("https://evil.example/"+work+"/v2.0", work), "", false},
		{"R-025 a site that begins alike", providers.EntraCommon, forged("https://login.microsoftonline.com.evil.example/"+work+"/v2.0", work), "", false},
		{"R-025 another version", providers.EntraCommon, forged(site+work+"/v1.0", work), "", false},
		{"a sovereign cloud", "https://login.microsoftonline.us/common/v2.0", forged("https://login.microsoftonline.us/"+work+"/v2.0", work), "", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := completed(providers.MicrosoftEntraID(latchkey.OAuth{Issuer: row.configured}))
			if got := p.MatchIssuer(row.stated(row.tenant)); got != row.want {
				t.Errorf("matches: %v, want %v", got, row.want)
			}
		})
	}
	t.Run("one tenant is compared as it is", func(t *testing.T) {
		for _, issuer := range []string{site + work + "/v2.0", "https://sts.example", ""} {
			p := completed(providers.MicrosoftEntraID(latchkey.OAuth{Issuer: issuer}))
			if (p.MatchIssuer == nil) != (issuer != "") {
				t.Errorf("%q: wrong comparison", issuer)
			}
		}
	})
}

// the issuer comes from the environment that latchkey.New is given, and
// what it stands for with it.
func TestEntraIssuerFromTheEnvironment(t *testing.T) {
	t.Setenv("AUTH_MICROSOFT_ENTRA_ID_ISSUER", "https://process.example")
	for _, row := range []struct {
		given  latchkey.OAuth
		want   string
		shared bool
	}{
		{latchkey.OAuth{}, providers.EntraConsumers, true},
		{latchkey.OAuth{ID: "my-entra"}, providers.EntraOrganizations, true},
		{latchkey.OAuth{ID: "other"}, providers.EntraCommon, true},
		{latchkey.OAuth{Issuer: "https://x.example"}, "https://x.example", false},
	} {
		p := providers.MicrosoftEntraID(row.given)
		var made latchkey.OAuth
		derive := p.Derive
		p.Derive = func(o *latchkey.OAuth) error { defer func() { made = *o }(); return derive(o) }
		_, err := latchkey.New(latchkey.Config{Providers: []latchkey.Provider{p}}.WithEnv(func(name string) string {
			return map[string]string{
				"AUTH_SECRET": "0123456789abcdef0123456789abcdef", "AUTH_URL": "https://app.example",
				"AUTH_MICROSOFT_ENTRA_ID_ID": "a", "AUTH_MY_ENTRA_ID": "b", "AUTH_OTHER_ID": "c",
				"AUTH_MICROSOFT_ENTRA_ID_SECRET": "a", "AUTH_MY_ENTRA_SECRET": "b", "AUTH_OTHER_SECRET": "c",
				"AUTH_MICROSOFT_ENTRA_ID_ISSUER": providers.EntraConsumers, "AUTH_MY_ENTRA_ISSUER": providers.EntraOrganizations,
			}[name]
		}))
		if err != nil {
			t.Fatal(err)
		}
		if made.Issuer != row.want || (made.MatchIssuer != nil) != row.shared {
			t.Errorf("%q: %s, want %s", row.given.ID, made.Issuer, row.want)
		}
	}
}

// completed is what latchkey.New makes of p, but for the environment.
func completed(p *latchkey.OAuth) *latchkey.OAuth {
	if err := p.Derive(p); err != nil {
		panic(err)
	}
	return p
}

func TestEntraEmailsAreNotBelieved(t *testing.T) {
	for name, row := range map[string]struct {
		claims latchkey.Claims
		want   latchkey.EmailTrust
	}{
		"nothing said":                    {latchkey.Claims{}, latchkey.EmailUnproven},
		"R-073 a claim of a tenant's own": {latchkey.Claims{"email_verified": true}, latchkey.EmailUnproven},
		"domain owner verified":           {latchkey.Claims{"xms_edov": true}, latchkey.EmailProven},
		"domain owner verified, as text":  {latchkey.Claims{"xms_edov": "1"}, latchkey.EmailProven},
		"domain owner not verified":       {latchkey.Claims{"xms_edov": "0"}, latchkey.EmailUnproven},
		"verified primary e-mail":         {latchkey.Claims{"verified_primary_email": []any{"Me@example.com"}}, latchkey.EmailProven},
		"another verified e-mail":         {latchkey.Claims{"verified_primary_email": []any{"you@example.com", 7}}, latchkey.EmailUnproven},
	} {
		t.Run(name, func(t *testing.T) {
			row.claims["sub"], row.claims["email"] = "s", "me@example.com"
			got, err := providers.MicrosoftEntraID(latchkey.OAuth{}).Identify(latchkey.Grant{Profile: row.claims})
			if err != nil || got.EmailTrust != row.want {
				t.Errorf("verdict %v, %v", got.EmailTrust, err)
			}
		})
	}
}

func TestEntraPhoto(t *testing.T) {
	for name, row := range map[string]struct {
		pixels int
		path   string
		want   string
	}{
		"usual size":       {0, "/v1.0/me/photos/48x48/$value", "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString([]byte("\xff\xd8jpeg"))},
		"size of choice":   {240, "/v1.0/me/photos/240x240/$value", "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString([]byte("\xff\xd8jpeg"))},
		"nobody's picture": {64, "/none", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, "microsoft-entra-id")
			iss := pretend(t, "https://login.microsoftonline.com", r, nil)
			local, _ := url.Parse(iss.URL)
			proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(local) }}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == row.path:
					_, _ = w.Write([]byte("\xff\xd8jpeg"))
				case strings.HasPrefix(r.URL.Path, "/v1.0/"):
					http.NotFound(w, r)
				default:
					proxy.ServeHTTP(w, r)
				}
			}))
			t.Cleanup(server.Close)
			s := newSite(t, server.URL, providers.MicrosoftEntraID(latchkey.OAuth{
				ClientSecret: iss.Provider().ClientSecret, FetchProfile: providers.EntraPhoto(row.pixels),
			}))
			s.goTo(iss, "microsoft-entra-id")
			r.Identity.Image = row.want
			s.wants(t, r.Identity)
			if iss.Count(latchkeytest.PathUserInfo) != 0 {
				t.Error("asked for userinfo")
			}
		})
	}
}

func TestEntraPhotoWithoutIDToken(t *testing.T) {
	for _, token := range []string{"", "a.b", "a.!.c", "a.bm8.c"} {
		if _, err := providers.EntraPhoto(0)(t.Context(), http.DefaultClient, latchkey.Tokens{IDToken: token}); err == nil {
			t.Errorf("%q: no error", token)
		}
	}
}

func TestEntraForeignTenant(t *testing.T) {
	r := record(t, "microsoft-entra-id")
	r.Profile["tid"] = "00000000-0000-0000-0000-000000000000" // not the one that iss names
	iss := pretend(t, "https://login.microsoftonline.com", r, nil)
	s := newSite(t, iss.URL, providers.MicrosoftEntraID(latchkey.OAuth{ClientSecret: iss.Provider().ClientSecret}))
	s.isRefused(t, s.goTo(iss, "microsoft-entra-id"), "iss is not the configured issuer")
}
