package interop

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

type answerRow struct {
	name, method, path, body string
	header                   string // "Name: value"; empty: none
}

// answerRows are single requests, made by a browser with a fresh CSRF token.
// SITE stands for the site's origin, TOKEN for the CSRF token.
var answerRows = []answerRow{
	{"the providers", "GET", "/auth/providers", "", ""},
	{"a CSRF token that is known", "GET", "/auth/csrf", "", ""},
	{"no session", "GET", "/auth/session", "", ""},
	{"the sign-in page", "GET", "/auth/signin", "", ""},
	{"the sign-in page with where to go", "GET", "/auth/signin?callbackUrl=%2Finbox", "", ""},
	{"the sign-in page with an error", "GET", "/auth/signin?error=CredentialsSignin&code=credentials", "", ""},
	{"the sign-out page", "GET", "/auth/signout", "", ""},
	{"the page after a magic link", "GET", "/auth/verify-request?provider=email&type=email", "", ""},
	{"an error", "GET", "/auth/error?error=AccessDenied", "", ""},
	{"an error of the configuration", "GET", "/auth/error?error=Configuration", "", ""},
	{"an error of a link", "GET", "/auth/error?error=Verification", "", ""},
	{"an error nobody knows", "GET", "/auth/error?error=Unknown", "", ""},
	{"an error without a name", "GET", "/auth/error", "", ""},
	{"an unknown action", "GET", "/auth/unknown", "", ""},
	{"an unknown action of a provider", "GET", "/auth/session/credentials", "", ""},
	{"too long a path", "GET", "/auth/callback/credentials/more", "", ""},
	{"no action", "GET", "/auth/", "", ""},
	{"a sign-in by GET", "GET", "/auth/signin/credentials", "", ""},
	{"another method", "PUT", "/auth/session", "", ""},
	{"deleting", "DELETE", "/auth/session", "", ""},
	{"a sign-in without a token", "POST", "/auth/signin/email", "email=ada%40example.com", ""},
	{"a sign-in with a wrong token", "POST", "/auth/signin/email", "csrfToken=0&email=ada%40example.com", ""},
	{"a sign-in at nobody", "POST", "/auth/signin", "csrfToken=TOKEN", ""},
	{"a sign-in at an unknown provider", "POST", "/auth/signin/unknown", "csrfToken=TOKEN", ""},
	{"a sign-in at credentials", "POST", "/auth/signin/credentials", "csrfToken=TOKEN", ""},
	{"a magic link", "POST", "/auth/signin/email", "csrfToken=TOKEN&email=Ada%40Example.com&callbackUrl=%2Finbox", ""},
	{"a magic link, asked for by a script", "POST", "/auth/signin/email", "csrfToken=TOKEN&email=ada%40example.com", "X-Auth-Return-Redirect: 1"},
	{"a magic link to no mailbox", "POST", "/auth/signin/email", "csrfToken=TOKEN&email=ada", ""},
	{"a magic link to nobody", "POST", "/auth/signin/email", "csrfToken=TOKEN", ""},
	{"a magic link to two", "POST", "/auth/signin/email", "csrfToken=TOKEN&email=a%40example.com%40b.example", ""},
	{"an opened link without a token", "GET", "/auth/callback/email?email=ada%40example.com", "", ""},
	{"an opened link without an e-mail", "GET", "/auth/callback/email?token=x", "", ""},
	{"an opened link with a wrong token", "GET", "/auth/callback/email?token=x&email=ada%40example.com&callbackUrl=SITE%2Finbox", "", ""},
	{"the right password", "POST", "/auth/callback/credentials", "csrfToken=TOKEN&username=ada&password=lovelace&callbackUrl=%2Finbox", ""},
	{"the right password as JSON", "POST", "/auth/callback/credentials", `{"csrfToken":"TOKEN","username":"ada","password":"lovelace"}`, ""},
	{"the right password for a script", "POST", "/auth/callback/credentials", "csrfToken=TOKEN&username=ada&password=lovelace", "X-Auth-Return-Redirect: 1"},
	{"a wrong password", "POST", "/auth/callback/credentials", "csrfToken=TOKEN&username=ada&password=x", ""},
	{"a wrong password for a script", "POST", "/auth/callback/credentials", "csrfToken=TOKEN&username=ada&password=x&callbackUrl=%2Finbox", "X-Auth-Return-Redirect: 1"},
	{"a password without a token", "POST", "/auth/callback/credentials", "username=ada&password=lovelace", ""},
	{"a password without a token for a script", "POST", "/auth/callback/credentials", "username=ada&password=lovelace", "X-Auth-Return-Redirect: 1"},
	{"a password by GET", "GET", "/auth/callback/credentials?username=ada&password=lovelace", "", ""},
	{"to another site", "POST", "/auth/callback/credentials", "csrfToken=TOKEN&username=ada&password=lovelace&callbackUrl=https%3A%2F%2Fother.example%2F", ""},
	{"to a host without a scheme", "POST", "/auth/callback/credentials", "csrfToken=TOKEN&username=ada&password=lovelace&callbackUrl=%2F%2Fother.example", ""},
	{"to a host that begins alike", "POST", "/auth/callback/credentials", "csrfToken=TOKEN&username=ada&password=lovelace&callbackUrl=SITE.other.example", ""},
	{"to a script", "POST", "/auth/callback/credentials", "csrfToken=TOKEN&username=ada&password=lovelace&callbackUrl=javascript%3Aalert%281%29", ""},
	{"to an absolute URL of the site", "POST", "/auth/callback/credentials", "csrfToken=TOKEN&username=ada&password=lovelace&callbackUrl=SITE%2Finbox%3Fa%3Db%23c", ""},
	{"to a script, by the query", "GET", "/auth/signin?callbackUrl=javascript%3Aalert%281%29", "", ""},
	{"to another site, by the query", "GET", "/auth/signin?callbackUrl=https%3A%2F%2Fother.example%2F", "", ""},
	{"a callback of nobody", "GET", "/auth/callback", "", ""},
	{"a callback of an unknown provider", "GET", "/auth/callback/unknown", "", ""},
	{"a sign-in at a provider", "POST", "/auth/signin/issuer", "csrfToken=TOKEN&callbackUrl=%2Finbox", ""},
	{"a sign-in at a provider for a script", "POST", "/auth/signin/issuer", "csrfToken=TOKEN", "X-Auth-Return-Redirect: 1"},
	{"a sign-in with parameters", "POST", "/auth/signin/issuer?prompt=login&login_hint=ada%40example.com&scope=openid", "csrfToken=TOKEN", ""},
	{"a sign-in without a token at a provider", "POST", "/auth/signin/issuer", "", ""},
	{"a callback out of nowhere", "GET", "/auth/callback/issuer?code=x&state=y", "", ""},
	{"a callback with nothing", "GET", "/auth/callback/issuer", "", ""},
	{"a refusal out of nowhere", "GET", "/auth/callback/issuer?error=access_denied&state=y", "", ""},
	{"a posted callback out of nowhere", "POST", "/auth/callback/issuer", "code=x&state=y", ""},
	{"signing out without a token", "POST", "/auth/signout", "", ""},
	{"signing out", "POST", "/auth/signout", "csrfToken=TOKEN&callbackUrl=%2Fbye", ""},
	{"signing out for a script", "POST", "/auth/signout", "csrfToken=TOKEN", "X-Auth-Return-Redirect: 1"},
	{"an update without a token", "POST", "/auth/session", `{"data":{"a":1}}`, ""},
	{"an update of no session", "POST", "/auth/session", `{"csrfToken":"TOKEN","data":{"a":1}}`, ""},
}

// TestSameAnswers makes the same requests at both, and compares what counts on
// the wire: status, URL, cookies, caching, and bodies that are JSON.
func TestSameAnswers(t *testing.T) {
	p, issuer := atIssuer(latchkeytest.NewIssuer(t))
	theirs := theirSite{Secrets: []string{newSecret}, Issuer: issuer}.start(t)
	ours := serve(t, ourTwin(t, latchkey.Config{Providers: []latchkey.Provider{p}}))
	for _, row := range answerRows {
		t.Run(row.name, func(t *testing.T) {
			got, gotCookies := row.ask(t, ours)
			want, wantCookies := row.ask(t, theirs)
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			sameCookies(t, gotCookies, wantCookies)
		})
	}
}

// answer is what a client goes by.
type answer struct {
	status                          int
	kind, cache, expires, old, json string
	location                        string // where it leads, by a header or for a script
	callbackURL                     string // what the callback cookie remembers
}

// ask makes the request as a browser that has been there just before.
func (row answerRow) ask(t *testing.T, origin string) (answer, []*http.Cookie) {
	t.Helper()
	token, cookies := freshBrowser(t, origin)
	resp, content := roundTrip(t, row.request(t, origin, token, cookies))
	here := strings.NewReplacer(origin, "SITE", url.QueryEscape(origin), "SITE", token, "TOKEN")
	return readAnswer(resp, here.Replace(string(content)), here), resp.Cookies()
}

func (row answerRow) request(t *testing.T, origin, token string, cookies []*http.Cookie) *http.Request {
	t.Helper()
	kind, site := "application/x-www-form-urlencoded", url.QueryEscape(origin)
	if strings.HasPrefix(row.body, "{") {
		kind, site = "application/json", origin
	}
	fill := strings.NewReplacer("SITE", site, "TOKEN", token)
	req, err := http.NewRequestWithContext(t.Context(), row.method, origin+fill.Replace(row.path), strings.NewReader(fill.Replace(row.body)))
	ok(t, err)
	req.Header.Set("Content-Type", kind)
	for _, c := range cookies {
		req.AddCookie(c)
	}
	if name, value, has := strings.Cut(row.header, ": "); has {
		req.Header.Set(name, value)
	}
	return req
}

// readAnswer takes from an answer what both sites have to agree on; here takes
// out what cannot be the same.
func readAnswer(resp *http.Response, content string, here *strings.Replacer) (a answer) {
	a.status = resp.StatusCode
	a.kind, _, _ = strings.Cut(resp.Header.Get("Content-Type"), ";")
	if a.status == http.StatusFound { // Auth.js leaves the header in its answers to scripts, too
		a.location = sorted(here.Replace(resp.Header.Get("Location")))
	}
	if a.kind == "application/json" {
		a.json, a.cache, a.expires, a.old = content, resp.Header.Get("Cache-Control"), resp.Header.Get("Expires"), resp.Header.Get("Pragma")
	}
	if to, is := strings.CutPrefix(a.json, `{"url":"`); is {
		a.json, a.location = "", sorted(strings.TrimSuffix(to, `"}`))
	}
	for _, c := range resp.Cookies() {
		if c.Name == "authjs.callback-url" {
			a.callbackURL = here.Replace(c.Value)
		}
	}
	return a
}

// random finds what is new in every URL of a provider.
var random = regexp.MustCompile(`\b(state|nonce|code_challenge)=[A-Za-z0-9_.-]{43,}`)

// sorted is a URL; one at a provider is without what is random, and has its
// parameters in order.
func sorted(raw string) string {
	u, err := url.Parse(random.ReplaceAllString(raw, "$1="))
	if err != nil || !u.Query().Has("client_id") {
		return raw
	}
	u.RawQuery = u.Query().Encode()
	return u.String()
}

func freshBrowser(t *testing.T, origin string) (token string, cookies []*http.Cookie) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, origin+"/auth/csrf", nil)
	ok(t, err)
	resp, content := roundTrip(t, req)
	var answer struct{ CSRFToken string }
	ok(t, json.Unmarshal(content, &answer))
	return answer.CSRFToken, resp.Cookies()
}

func roundTrip(t *testing.T, req *http.Request) (*http.Response, []byte) {
	t.Helper()
	resp, err := http.DefaultTransport.RoundTrip(req)
	ok(t, err)
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	ok(t, err)
	return resp, content
}
