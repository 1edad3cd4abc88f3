package providers_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

// all runs a test for every provider.
func all(t *testing.T, run func(t *testing.T, e catalogue.Entry, r recorded)) {
	t.Helper()
	seen := map[string]bool{}
	for _, e := range catalogue.Providers() {
		id := e.New(latchkey.OAuth{}).ID
		if seen[id] {
			t.Errorf("%s stands twice in the catalogue", id)
			continue
		}
		seen[id] = true
		t.Run(id, func(t *testing.T) { run(t, e, record(t, id)) })
	}
}

// visit is a sign-in at a scripted provider.
type visit struct {
	*site
	script   *script
	provider *latchkey.OAuth
	to       *url.URL // where the browser was sent
	page     *latchkeytest.Page
}

// signIn signs in at the provider of a record.
func signIn(t *testing.T, e catalogue.Entry, r recorded) *visit {
	t.Helper()
	r.Error.At = ""
	return tryToSignIn(t, e, r)
}

// tryToSignIn is signIn with the error of the record.
func tryToSignIn(t *testing.T, e catalogue.Entry, r recorded) *visit {
	t.Helper()
	p := r.provider(e)
	v := &visit{provider: p, script: &script{recorded: &r, clientID: p.ClientID, clientSecret: p.ClientSecret}}
	v.site = newSiteOver(t, v.script.serve(t), p)
	if v.to = v.Begin(p.ID).Location(); v.to == nil || v.to.Query().Get("error") != "" {
		t.Fatalf("sent to %v; log: %s", v.to, v.log)
	}
	v.script.nonce = v.to.Query().Get("nonce")
	back := r.query()
	for name := range back {
		back.Set(name, v.fill(back.Get(name)))
	}
	if r.Authorize.Whole == nil {
		back.Set("code", "the code")
	}
	if r.Error.At == "authorize" {
		back = url.Values{"error": {r.Error.Text}}
	}
	if state := v.state(); state != "" {
		back.Set("state", state)
	}
	r.sign(back)
	if path := "/auth/callback/" + p.ID; v.to.Query().Get("response_mode") == "form_post" {
		v.page = v.Post(path, back)
	} else {
		v.page = v.Get(path + "?" + back.Encode())
	}
	return v
}

// fill puts what a sign-in was about in the place of its name.
func (v *visit) fill(text string) string {
	if text == "{verifier}" {
		return text
	}
	return strings.NewReplacer(
		"{client_id}", v.provider.ClientID, "{client_secret}", v.provider.ClientSecret, "{code}", "the code",
		"{callback}", v.callback(), "{access_token}", v.accessToken(), "{site}", v.URL,
		"{return}", v.callback()+"?"+url.Values{"state": {v.state()}}.Encode(),
	).Replace(text)
}

// state is what the browser was sent away with; in another protocol than OAuth it
// is in the URL to come back to.
func (v *visit) state() string {
	for _, values := range v.to.Query() {
		if inner, err := url.Parse(values[0]); err == nil && strings.HasPrefix(values[0], v.callback()+"?") {
			return inner.Query().Get("state")
		}
	}
	return v.to.Query().Get("state")
}

func (v *visit) callback() string { return v.URL + "/auth/callback/" + v.provider.ID }

func (v *visit) accessToken() string { return v.script.tokens().AccessToken }

// tokens are what the token answer says.
func (s *script) tokens() (want struct{ AccessToken, RefreshToken, Scope string }) {
	want = s.Tokens
	var said map[string]any
	_ = json.Unmarshal(s.Token.Answer, &said)
	for name, field := range map[string]*string{"access_token": &want.AccessToken, "refresh_token": &want.RefreshToken, "scope": &want.Scope} {
		if text, ok := said[name].(string); ok && *field == "" {
			*field = text
		}
	}
	return want
}

// TestEveryProviderSignsIn runs a whole sign-in, over TLS, against servers that
// answer what is recorded, and holds what was asked and what came of it to the
// record.
func TestEveryProviderSignsIn(t *testing.T) {
	all(t, func(t *testing.T, e catalogue.Entry, r recorded) {
		v := signIn(t, e, r)
		v.checkAuthorization(t)
		v.checkCalls(t)
		v.wants(t, r.Identity)
		a := v.attempt(t)
		got, want := a.Account.Tokens, v.script.tokens()
		if got.AccessToken != want.AccessToken || got.RefreshToken != want.RefreshToken || got.Scope != want.Scope || got.TokenType != "bearer" && r.Authorize.Whole == nil {
			t.Errorf("tokens %s %s %s %s, want %v", got.AccessToken, got.RefreshToken, got.Scope, got.TokenType, want)
		}
		if ends.Match(r.Token.Answer) && got.ExpiresAt.IsZero() {
			t.Errorf("expires at %v", got.ExpiresAt)
		}
	})
}

// ends finds how long a token lives; 0 is for ever.
var ends = regexp.MustCompile(`"expires_in":\s*"?[1-9]`)

func (v *visit) checkAuthorization(t *testing.T) {
	t.Helper()
	r := v.script
	got, want := v.to.Query(), url.Values{"response_type": {"code"}, "client_id": {v.provider.ClientID}, "redirect_uri": {v.callback()}}
	protocol := []string{"state", "code_challenge", "code_challenge_method"}
	if v.provider.OIDC {
		protocol = append(protocol, "nonce")
	}
	for _, name := range protocol {
		if !slices.Contains(r.Authorize.Without, strings.TrimSuffix(name, "_method")) {
			want.Set(name, or(got.Get(name), "something"))
		}
	}
	for name, value := range r.Authorize.Params {
		want.Set(name, v.fill(value))
	}
	if r.Authorize.Whole != nil {
		want = url.Values{}
		for name, value := range r.Authorize.Whole {
			want.Set(name, v.fill(value))
		}
	}
	if bare(v.to) != r.Authorize.URL || v.to.Fragment != r.Authorize.Fragment || !reflect.DeepEqual(got, want) {
		t.Errorf("sent to\n%s %s, want\n%s %s", bare(v.to), got.Encode(), r.Authorize.URL, want.Encode())
	}
}

func (v *visit) checkCalls(t *testing.T) {
	t.Helper()
	calls := v.script.heard
	if len(calls) != 1+len(v.script.Requests) {
		for _, c := range calls {
			t.Logf("%s %s", c.method, c.url)
		}
		t.Fatalf("%d calls, want %d; log: %s", len(calls), 1+len(v.script.Requests), v.log)
	}
	v.checkToken(t, calls[0])
	for i, want := range v.script.Requests {
		if _, said := want.Header["Authorization"]; !said {
			want.Header = maps.Clone(want.Header)
			if want.Header == nil {
				want.Header = map[string]string{}
			}
			want.Header["Authorization"] = "Bearer {access_token}"
		}
		u, _ := url.Parse(want.URL)
		v.checkCall(t, want, calls[1+i], or(want.Method, http.MethodGet), u.Query())
	}
}

// checkToken holds the token request to its record.
func (v *visit) checkToken(t *testing.T, got heard) {
	t.Helper()
	want := v.script.Token
	header := maps.Clone(want.Header)
	if header == nil {
		header = map[string]string{}
	}
	form := map[string]string{"grant_type": "authorization_code", "code": "{code}", "redirect_uri": "{callback}"}
	if !slices.Contains(v.script.Authorize.Without, "code_challenge") {
		form["code_verifier"] = "{verifier}"
	}
	switch want.Auth {
	case "post":
		form["client_id"], form["client_secret"] = "{client_id}", "{client_secret}"
	case "none":
		form["client_id"] = "{client_id}"
	case "", "basic":
		header["Authorization"] = "Basic " + base64.StdEncoding.EncodeToString(
			[]byte(url.QueryEscape(v.provider.ClientID)+":"+url.QueryEscape(v.provider.ClientSecret)))
	}
	if _, said := header["Authorization"]; !said {
		header["Authorization"] = ""
	}
	maps.Copy(form, want.Form)
	if want.Whole != nil {
		form = want.Whole
	}
	want.Header, want.Form = header, form
	if want.JSON != nil || want.Query != nil {
		want.Form = nil
	}
	u, _ := url.Parse(want.URL)
	v.checkCall(t, want, got, or(want.Method, http.MethodPost), u.Query())
}

func (v *visit) checkCall(t *testing.T, want scripted, got heard, method string, query url.Values) {
	t.Helper()
	for name, value := range want.Query {
		query.Set(name, value)
	}
	for name := range query {
		query.Set(name, v.expected(query.Get(name), got.url.Query().Get(name)))
	}
	u, _ := url.Parse(want.URL)
	if got.method != method || bare(got.url) != bare(u) || got.url.Query().Encode() != query.Encode() {
		t.Errorf("call\n%s %s, want\n%s %s?%s", got.method, got.url, method, bare(u), query.Encode())
	}
	for name, value := range want.Header {
		if value = v.fill(value); got.header.Get(name) != value {
			t.Errorf("%s: header %s is %q, want %q", want.URL, name, got.header.Get(name), value)
		}
	}
	v.checkBody(t, want, got)
}

func (v *visit) checkBody(t *testing.T, want scripted, got heard) {
	t.Helper()
	sent := map[string]any{}
	wanted := map[string]any{}
	switch {
	case want.JSON != nil:
		if err := json.Unmarshal(got.body, &sent); err != nil || !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
			t.Errorf("%s was sent %s (%s)", want.URL, got.body, got.header.Get("Content-Type"))
		}
		wanted = maps.Clone(want.JSON)
	default:
		form, err := url.ParseQuery(string(got.body))
		if err != nil || len(form) > 0 && got.header.Get("Content-Type") != "application/x-www-form-urlencoded" {
			t.Errorf("%s was sent %s (%s)", want.URL, got.body, got.header.Get("Content-Type"))
		}
		for name := range form {
			sent[name] = form.Get(name)
		}
		for name, value := range want.Form {
			wanted[name] = value
		}
	}
	for name, value := range wanted {
		if text, ok := value.(string); ok {
			wanted[name] = v.expected(text, textOf(sent[name]))
		}
	}
	if fmt.Sprint(sent) != fmt.Sprint(wanted) {
		t.Errorf("%s was sent\n%v, want\n%v", want.URL, sent, wanted)
	}
}

// expected is what a recorded value stands for. A verifier is right if it fits
// the challenge (RFC 7636).
func (v *visit) expected(recorded, got string) string {
	sum := sha256.Sum256([]byte(got))
	if recorded == "{verifier}" && base64.RawURLEncoding.EncodeToString(sum[:]) == v.to.Query().Get("code_challenge") {
		return got
	}
	return v.fill(recorded)
}

// TestErrorsOfProviders: an error said as the provider says it ends the sign-in,
// and the log names it.
func TestErrorsOfProviders(t *testing.T) {
	all(t, func(t *testing.T, e catalogue.Entry, r recorded) {
		if r.Error.At == "" {
			r.Error.At, r.Error.Answer, r.Error.Want = "token", json.RawMessage(`{"error":"invalid_grant"}`), "invalid_grant"
		}
		v := tryToSignIn(t, e, r)
		v.isRefused(t, v.page, r.Error.Want)
	})
}

// TestProfilesThatFail: without a profile nobody is signed in.
func TestProfilesThatFail(t *testing.T) {
	all(t, func(t *testing.T, e catalogue.Entry, r recorded) {
		p := r.derived(t, e)
		if len(r.Requests) == 0 || p.OIDC && p.FetchProfile == nil && !p.ProfileFromUserInfo {
			return
		}
		r.Error.At, r.Error.Status, r.Error.Text, r.Error.Answer = r.Requests[0].URL, http.StatusBadGateway, "<html>", nil
		v := tryToSignIn(t, e, r)
		v.isRefused(t, v.page, "502")
	})
}

func TestCallerWins(t *testing.T) {
	all(t, func(t *testing.T, e catalogue.Entry, _ recorded) {
		given := latchkey.OAuth{ID: "mine", Name: "Mine", Scopes: []string{"one"}, ClientAuth: latchkey.ClientSecretJWT, Style: latchkey.Style{Color: "red"}}
		p := e.New(given)
		if p.ID != "mine" || p.Name != "Mine" || len(p.Scopes) != 1 || p.ClientAuth != latchkey.ClientSecretJWT || p.Style.Color != "red" {
			t.Errorf("got %+v", p)
		}
		if d := e.New(latchkey.OAuth{}); d.Name == "" || d.ClientID != "" || d.ClientSecret != "" || d.Style.Color == "" {
			t.Errorf("defaults %+v", d)
		}
	})
}

// TestCallersTransportIsKept: a transport of the caller's sees every call, also
// where the provider has a dialect.
func TestCallersTransportIsKept(t *testing.T) {
	all(t, func(t *testing.T, e catalogue.Entry, r recorded) {
		used := 0
		wrapped := e
		wrapped.New = func(p latchkey.OAuth) *latchkey.OAuth {
			p.Transport = func(next http.RoundTripper) http.RoundTripper {
				return roundTripper(func(r *http.Request) (*http.Response, error) { used++; return next.RoundTrip(r) })
			}
			return e.New(p)
		}
		if signIn(t, wrapped, r).attempt(t); used < 1+len(r.Requests) {
			t.Errorf("used %d times", used)
		}
	})
}
