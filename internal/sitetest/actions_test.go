package sitetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// act posts a form to a form action, as a page of the site has it.
func (b *browser) act(h http.Handler, path, form string, header ...string) *answer {
	b.site.t.Helper()
	contentType := formContentType
	if strings.HasPrefix(form, "{") {
		contentType = "application/json"
	}
	r := b.request(http.MethodPost, path, contentType, form)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	r.Header.Set("Origin", siteOrigin)
	r.Header.Set("Accept", "text/html")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return b.serve(h, r)
}

// asScript are the headers of a script that reads JSON.
var asScript = []string{"Accept", "application/json", "Sec-Fetch-Mode", "cors"}

// formResult is what a script gets of a form action.
type formResult struct {
	URL         string
	Failed      bool
	FieldErrors map[string][]string
	FormErrors  []string
	Error, Code string
}

func (a *answer) result(t *testing.T) (r formResult) {
	t.Helper()
	if err := json.Unmarshal(a.Body.Bytes(), &r); err != nil {
		t.Fatalf("%d %s: %v", a.Code, a.Body, err)
	}
	return r
}

func TestSignInAction(t *testing.T) {
	for _, c := range []struct{ name, form, leads string }{
		{"a password", "providerId=crew&username=alice&password=wonderland&redirectTo=/shop", "/shop"},
		{"a password, options with dots", "providerId=crew&options.username=alice&options.password=wonderland&options.redirectTo=/shop", "/shop"},
		{"a password, options as JSON in a field", `providerId=crew&options={"username":"alice","password":"wonderland","redirectTo":"/shop"}`, "/shop"},
		{"a password, JSON", `{"providerId":"crew","redirectTo":"/no","options":{"redirectTo":"/shop","username":"alice","password":"wonderland"}}`, "/shop"},
		{"a password, members of JSON", `{"providerId":"crew","redirectTo":"/shop","username":"alice","password":"wonderland"}`, "/shop"},
		{"a link", "providerId=post&email=ada@example.com", "/auth/verify-request?"},
		{"another site is no place to end up", "providerId=crew&username=alice&password=wonderland&redirectTo=https://evil.example/", ""},
		{"the last of two counts", "providerId=acme&providerId=crew&username=alice&password=wonderland&redirectTo=/shop", "/shop"},
		{"no provider", "redirectTo=/shop", "/auth/signin?callbackUrl=%2Fshop"},
		{"no field at all", "", "/auth/signin?callbackUrl=%2F"},
		{"JSON with nulls", `{"providerId":null,"redirectTo":null,"options":null,"authorizationParams":null}`, "/auth/signin?callbackUrl=%2F"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			action := s.auth.SignInAction(nil)
			a := s.newBrowser().act(action, "/signin", c.form)
			if to := strings.TrimPrefix(a.location(), siteOrigin); a.Code != http.StatusFound || to != c.leads && (c.leads == "" || !strings.HasPrefix(to, c.leads)) {
				t.Errorf("%d to %q, want %q: %s", a.Code, to, c.leads, s.log.text())
			}
			if strings.Contains(c.form, "wonderland") != a.signsIn() {
				t.Errorf("signs in: %t", a.signsIn())
			}
			a = s.newBrowser().act(action, "/signin", c.form, asScript...)
			if r := a.result(t); a.Code != http.StatusOK || r.Failed || !strings.HasPrefix(r.URL, siteOrigin+c.leads) || strings.Contains(a.Body.String(), "failed") {
				t.Errorf("a script gets %d %s", a.Code, a.Body)
			}
			a = s.newBrowser().act(action, "/signin", c.form, "HX-Request", "true", "Sec-Fetch-Mode", "cors", "Accept", "*/*")
			if to := a.Header().Get("HX-Redirect"); a.Code != http.StatusOK || !strings.HasPrefix(to, siteOrigin+c.leads) || a.location() != "" {
				t.Errorf("htmx gets %d, HX-Redirect %q", a.Code, to)
			}
		})
	}
}

// Parameters reach the provider by every way to write them, and never replace
// those of the protocol.
func TestSignInActionParams(t *testing.T) {
	for _, form := range []string{
		"providerId=acme&authorizationParams-prompt=login&authorizationParams-client_id=evil&authorizationParams-redirect_uri=https://evil.example/&authorizationParams-state=x",
		"providerId=acme&authorizationParams.prompt=login&authorizationParams.client_id=evil",
		"providerId=acme&authorizationParams=" + url.QueryEscape("prompt=login&client_id=evil"),
		`{"providerId":"acme","authorizationParams":{"prompt":"login","client_id":"evil","state":"x"}}`,
		`{"providerId":"acme","authorizationParams":"?prompt=login&client_id=evil"}`,
	} {
		t.Run("R-016 "+form, func(t *testing.T) {
			s := newSite(t)
			a := s.newBrowser().act(s.auth.SignInAction(nil), "/signin", form)
			to, err := url.Parse(a.location())
			if err != nil || to.Host != "acme.example" {
				t.Fatalf("%d to %q", a.Code, a.location())
			}
			q := to.Query()
			if q.Get("prompt") != "login" || q.Get("client_id") != "latchkey" || q.Get("state") == "x" || strings.Contains(q.Get("redirect_uri"), "evil") {
				t.Errorf("to %q", to)
			}
		})
	}
}

func TestSignInActionNamesTheField(t *testing.T) {
	for _, c := range []struct{ name, form, field, says string }{
		{"an unknown provider", "providerId=githb", "providerId", "crew, post, acme"},
		{"a provider that is no text", `{"providerId":7}`, "providerId", "such as github"},
		{"a scheme that is no page", "providerId=crew&redirectTo=javascript:alert(1)", "redirectTo", "/shop"},
		{"a word", "providerId=crew&redirectTo=shop", "redirectTo", "/shop"},
		{"redirectTo as a list", `{"redirectTo":["/a"]}`, "redirectTo", "/shop"},
		{"redirectTo among the options", "options.redirectTo=shop", "redirectTo", "options.redirectTo"},
		{"options that are a list", `{"options":["a"]}`, "options", "object"},
		{"options in options", `{"options":{"a":{"b":1}}}`, "options", "object"},
		{"options that are no JSON", "options=x", "options", "object"},
		{"a list among the fields", `{"username":["alice"]}`, "options", "object"},
		{"parameters that are a list", `{"authorizationParams":["prompt"]}`, "authorizationParams", "prompt=login"},
		{"a parameter that is no text", `{"authorizationParams":{"max_age":1}}`, "authorizationParams", "texts"},
		{"parameters that are no query", "authorizationParams=%25zz", "authorizationParams", "prompt=login"},
		{"no e-mail address", "providerId=post&email=nobody", "options", "complete email address"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			a := s.newBrowser().act(s.auth.SignInAction(nil), "/signin", c.form, asScript...)
			r := a.result(t)
			said := strings.Join(r.FieldErrors[c.field], "")
			if a.Code != http.StatusBadRequest || !r.Failed || len(r.FieldErrors) != 1 || !strings.Contains(said, c.says) || r.FormErrors == nil {
				t.Errorf("%d %s", a.Code, a.Body)
			}
			a = s.newBrowser().act(s.auth.SignInAction(nil), "/signin", c.form)
			if a.Code != http.StatusFound || !strings.HasPrefix(a.location(), siteOrigin+"/auth/signin?") || a.error() == "" {
				t.Errorf("without a page: %d to %q", a.Code, a.location())
			}
			if s.tried() != 0 || len(s.sent()) != 0 || s.outbound.calls() != 0 {
				t.Error("something was tried")
			}
		})
	}
}

func TestSignInActionRefusals(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) { c.Limits.CredentialsPerAccount = latchkey.Rate{Events: 2, Per: time.Hour} })
	action := s.auth.SignInAction(nil)
	wrong := "providerId=crew&username=alice&password=x"
	for i, want := range []int{http.StatusForbidden, http.StatusForbidden, http.StatusTooManyRequests} {
		a := s.newBrowser().act(action, "/signin", wrong, asScript...)
		r := a.result(t)
		if a.Code != want || r.Error != "CredentialsSignin" || r.Code != "credentials" || len(r.FormErrors) != 1 || (a.Header().Get("Retry-After") != "") != (i == 2) {
			t.Errorf("try %d: %d %s", i, a.Code, a.Body)
		}
	}
	a := s.newBrowser().act(action, "/signin", wrong, append(asScript, "Accept-Language", "de")...)
	if r := a.result(t); !strings.Contains(r.FormErrors[0], "Versuche") {
		t.Errorf("in German: %s", a.Body)
	}
	a = s.newBrowser().act(action, "/signin", wrong)
	if a.Code != http.StatusFound || a.error() != "CredentialsSignin" || a.cookie("notice") == nil {
		t.Errorf("without a page: %d to %q", a.Code, a.location())
	}
	for _, c := range []struct {
		form, contentType string
		status            int
	}{
		{"x", "text/plain", http.StatusUnsupportedMediaType},
		{"--x--", "multipart/form-data; boundary=x", http.StatusUnsupportedMediaType},
		{"[1]", "application/json", http.StatusBadRequest},
		{"a=" + strings.Repeat("x", 5000), formContentType, http.StatusBadRequest},
		{"a=" + strings.Repeat("x", 70000), formContentType, http.StatusRequestEntityTooLarge},
	} {
		if a := s.newBrowser().act(action, "/signin", c.form, "Content-Type", c.contentType); a.Code != c.status {
			t.Errorf("%.20s as %s: %d", c.form, c.contentType, a.Code)
		}
	}
	if a := s.newBrowser().serve(action, s.newBrowser().request(http.MethodGet, "/signin", "", "")); a.Code != http.StatusMethodNotAllowed || a.Header().Get("Allow") != "POST" {
		t.Errorf("GET: %d", a.Code)
	}
}

// pageOf shows a form again as an application does.
func pageOf(auth *latchkey.Auth) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		forms, err := auth.Forms(w, r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		f := latchkey.FormFailureFrom(r.Context())
		if f != nil {
			w.WriteHeader(f.Status)
			_ = r.ParseForm()
			fmt.Fprintf(w, "again: %v %v; read: %s\n", f.Messages(), f.Values, r.PostForm.Get("username"))
		}
		fmt.Fprintf(w, "wrong: %s; to: %s\n", forms.Error, forms.RedirectTo)
		for _, form := range forms.SignIn {
			fmt.Fprintf(w, "%s: %s:", form.Provider, form.Error)
			for _, in := range form.Fields {
				fmt.Fprintf(w, " %s=%q invalid=%t focus=%t", in.Name, in.Value, in.Invalid, in.Focus)
			}
			fmt.Fprintln(w)
		}
	})
}

func TestFormIsShownAgain(t *testing.T) {
	s := newSite(t)
	page := pageOf(s.auth)
	action := s.auth.SignInAction(page)
	t.Run("R-327 what was typed, but no password", func(t *testing.T) {
		a := s.newBrowser().act(action, "/login", "providerId=crew&username=alice&password=looking-glass&redirectTo=/shop")
		for _, want := range []string{"username=\"alice\" invalid=true", "password=\"\" invalid=true focus=true", "crew: That is not right.", "to: " + siteOrigin + "/shop", "read: alice", "again: [That is not right."} {
			if !strings.Contains(a.Body.String(), want) {
				t.Errorf("lacks %s: %s", want, a.Body)
			}
		}
		if a.Code != http.StatusForbidden || strings.Contains(a.Body.String(), "looking-glass") {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	})
	t.Run("R-327 an e-mail address", func(t *testing.T) {
		a := s.newBrowser().act(action, "/login", "providerId=post&email=nobody")
		if !strings.Contains(a.Body.String(), `post: Please enter a complete email address, such as you@example.com.: email="nobody" invalid=true focus=true`) {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	})
	t.Run("what is wrong with the form itself stands above", func(t *testing.T) {
		a := s.newBrowser().act(action, "/login", "providerId=githb&authorizationParams-prompt=login")
		if !strings.Contains(a.Body.String(), `wrong: no provider has the providerId "githb"`) || !strings.Contains(a.Body.String(), "map[authorizationParams-prompt:[login] providerId:[githb]]") {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	})
	t.Run("a form that middleware has read", func(t *testing.T) {
		first := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			action.ServeHTTP(w, r)
		})
		if a := s.newBrowser().act(first, "/login", "providerId=crew&username=alice&password=wonderland"); !a.signsIn() {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	})
	t.Run("R-305 another site's is not shown", func(t *testing.T) {
		for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, append([]string{"Sec-Fetch-Site", "cross-site"}, asScript...)} {
			a := s.newBrowser().act(action, "/login", "providerId=crew&username=alice&password=wonderland", header...)
			if a.Code != http.StatusForbidden || a.signsIn() || strings.Contains(a.Body.String(), "alice") {
				t.Errorf("%v: %d %s", header, a.Code, a.Body)
			}
		}
	})
	t.Run("R-734 another site's malformed form is not shown", func(t *testing.T) {
		forms := map[string]http.Handler{
			"providerId=telephone-me&authorizationParams-prompt=telephone-me&redirectTo=/telephone-me": action,
			"providerId=crew&redirectTo=telephone-me":                                                  action,
			"redirectTo=telephone-me":                                                                  s.auth.SignOutAction(page),
		}
		for form, h := range forms {
			for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, append([]string{"Sec-Fetch-Site", "cross-site"}, asScript...)} {
				a := s.newBrowser().act(h, "/login", form, header...)
				if a.Code != http.StatusForbidden || strings.Contains(a.Body.String(), "telephone") || strings.Contains(fmt.Sprint(a.Header()), "telephone") {
					t.Errorf("%s, %v: %d %v %s", form, header, a.Code, a.Header(), a.Body)
				}
			}
		}
	})
	t.Run("R-305 a wrong token is refused where no browser speaks", func(t *testing.T) {
		r := s.newBrowser().request(http.MethodPost, "/login", formContentType, "providerId=crew&username=alice&password=wonderland&csrfToken=x")
		if a := s.newBrowser().serve(action, r); a.Code != http.StatusForbidden || a.signsIn() {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	})
}

// An own page that the browser is led to knows as much as the built-in one.
func TestOwnPageAfterRedirect(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) { c.Pages.SignIn = "/login" })
	b := s.newBrowser()
	a := b.act(s.auth.SignInAction(nil), "/signin", "providerId=crew&username=alice&password=looking-glass&redirectTo=/shop")
	to, err := url.Parse(a.location())
	if err != nil || to.Path != "/login" {
		t.Fatalf("%d to %q", a.Code, a.location())
	}
	a = b.serve(pageOf(s.auth), b.request(http.MethodGet, to.RequestURI(), "", ""))
	if !strings.Contains(a.Body.String(), `crew: That is not right. Please check the details you provided.: username="alice" invalid=true`) || !strings.Contains(a.Body.String(), "to: "+siteOrigin+"/shop") {
		t.Errorf("R-327: %s", a.Body)
	}
	a = b.serve(pageOf(s.auth), b.request(http.MethodGet, to.RequestURI(), "", ""))
	if strings.Contains(a.Body.String(), "alice") {
		t.Errorf("shown twice: %s", a.Body)
	}
}

func TestSignOutAction(t *testing.T) {
	s := newSite(t)
	action := s.auth.SignOutAction(nil)
	b := s.newBrowser()
	b.signIn()
	if a := b.act(action, "/signout", "", "Sec-Fetch-Site", "cross-site"); a.Code != http.StatusForbidden || !b.isLive() {
		t.Errorf("R-305: another site: %d", a.Code)
	}
	if a := b.act(action, "/signout", "redirectTo=bye", asScript...); a.Code != http.StatusBadRequest || len(a.result(t).FieldErrors["redirectTo"]) != 1 || !b.isLive() {
		t.Errorf("a word: %d %s", a.Code, a.Body)
	}
	if a := b.act(action, "/signout", "redirectTo=/bye", asScript...); a.result(t).URL != siteOrigin+"/bye" || b.isLive() {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	b.signIn()
	if a := b.act(action, "/signout", "redirectTo=/bye"); a.location() != siteOrigin+"/bye" || b.isLive() {
		t.Errorf("%d to %q", a.Code, a.location())
	}
	b.signIn()
	if a := b.act(action, "/signout", "csrfToken="+b.token(), "Sec-Fetch-Site", "same-site", "Referer", siteOrigin+"/here"); a.location() != siteOrigin+"/here" || b.isLive() {
		t.Errorf("a sibling host with the token: %d to %q", a.Code, a.location())
	}
}

// What use:enhance of SvelteKit sends, and reads: an ActionResult.
func TestActionsOfSvelteKit(t *testing.T) {
	s := newSite(t)
	enhanced := []string{"Accept", "application/json", "X-Sveltekit-Action", "true", "Sec-Fetch-Mode", "cors"}
	page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the page is shown to a script") })
	in, out := s.auth.SignInAction(page), s.auth.SignOutAction(page)
	good := "providerId=crew&username=alice&password=wonderland&redirectTo=/shop"
	for _, c := range []struct {
		name   string
		action http.Handler
		form   string
		from   string
		status int
		leads  string
	}{
		{"a password", in, good, "same-origin", http.StatusOK, "/shop"},
		{"a wrong password", in, strings.Replace(good, "wonderland", "x", 1), "same-origin", http.StatusOK, "/auth/signin?error=CredentialsSignin&code=credentials"},
		{"an unknown provider", in, "providerId=nobody", "same-origin", http.StatusOK, "/auth/signin?callbackUrl=https%3A%2F%2Fapp.example%2F&error=Signin"},
		{"a sign-out", out, "redirectTo=/bye", "same-origin", http.StatusOK, "/bye"},
		{"R-305 another site", in, good, "cross-site", http.StatusForbidden, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.newBrowser().act(c.action, "/signin", c.form, append(enhanced, "Sec-Fetch-Site", c.from)...)
			var result struct {
				Type, Location string
				Status         int
				Error          struct{ Message string }
			}
			if err := json.Unmarshal(a.Body.Bytes(), &result); err != nil {
				t.Fatalf("%d %s", a.Code, a.Body)
			}
			if a.Code != c.status || strings.TrimPrefix(result.Location, siteOrigin) != c.leads {
				t.Errorf("%d %s", a.Code, a.Body)
			}
			if c.leads == "" && (result.Type != "error" || result.Error.Message == "") || c.leads != "" && (result.Type != "redirect" || result.Status != http.StatusSeeOther) {
				t.Errorf("an ActionResult like %s", a.Body)
			}
			if a.signsIn() != (c.leads == "/shop") {
				t.Errorf("signs in: %t", a.signsIn())
			}
		})
	}
}

func TestCoreActions(t *testing.T) {
	s := newSite(t)
	b := s.newBrowser()
	ask := func(form string) *latchkey.Request {
		r := requestOf(b.request(http.MethodPost, "/signin", formContentType, ""))
		r.Body = []byte(form)
		return r
	}
	res, failure := s.auth.Core().SignInAction(t.Context(), ask("providerId=crew&username=alice&password=x"))
	if failure == nil || !errors.Is(failure.Err, latchkey.ErrCredentialsSignin) || !strings.Contains(res.Redirect, "error=CredentialsSignin") {
		t.Fatalf("%q, failed: %t", res.Redirect, failure != nil)
	}
	ctx := latchkey.ContextWithFormFailure(t.Context(), failure)
	forms, cookies, err := s.auth.Core().Forms(ctx, ask(""))
	if err != nil || len(cookies) == 0 || forms.SignIn[0].Error == "" || forms.SignIn[0].Fields[0].Value != "alice" || forms.CSRFToken == "" {
		t.Errorf("%v %v", forms.SignIn, err)
	}
	res, failure = s.auth.Core().SignInAction(t.Context(), ask("providerId=crew&username=alice&password=wonderland"))
	if failure != nil || res.Redirect != siteOrigin+"/" {
		t.Errorf("%q, failed: %t", res.Redirect, failure != nil)
	}
	res, failure = s.auth.Core().SignOutAction(t.Context(), ask("redirectTo=/bye"))
	if failure != nil || res.Redirect != siteOrigin+"/bye" {
		t.Errorf("%q, failed: %t", res.Redirect, failure != nil)
	}
}

func TestFormsOfAPage(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) { c.AccountPage.Enabled, c.Session.Strategy = true, latchkey.DatabaseSessions })
	b := s.newBrowser()
	var f *latchkey.Forms
	show := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if f, err = s.auth.Forms(w, r); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, "shown")
	})
	r := b.request(http.MethodGet, "/shop?x=1", "", "")
	r.Header.Set("Accept-Language", "ar")
	a := b.serve(show, r)
	if a.cookie("csrf-token") == nil || f.CSRFToken != b.token() || f.Session != nil || f.Language != "ar" || f.Direction != "rtl" {
		t.Errorf("%v %v %v", f.CSRFToken, f.Session, f.Language)
	}
	if f.RedirectTo != siteOrigin+"/shop?x=1" || f.AccountURL != siteOrigin+"/auth/account" || f.SignOutURL != siteOrigin+"/auth/signout" || !strings.HasPrefix(f.SignInURL, siteOrigin+"/auth/signin?callbackUrl=") {
		t.Errorf("%s %s %s %s", f.RedirectTo, f.AccountURL, f.SignOutURL, f.SignInURL)
	}
	crew, post, acme := f.SignIn[0], f.SignIn[1], f.SignIn[2]
	if crew.Action != siteOrigin+"/auth/callback/crew" || len(crew.Fields) != 2 || crew.Fields[1].Autocomplete != "current-password" || crew.Fields[0].Autocomplete != "username" {
		t.Errorf("%+v", crew)
	}
	if post.Action != siteOrigin+"/auth/signin/post" || post.Type != latchkey.TypeEmail || post.Fields[0].Label == "" || !post.Fields[0].Verbatim {
		t.Errorf("%+v", post)
	}
	if acme.Name != "Acme" || acme.Submit == "Acme" || !strings.HasPrefix(acme.Icon, "<svg") || f.Text("signin.or") == "or" {
		t.Errorf("%+v", acme)
	}
	b.serve(show, b.request(http.MethodGet, "/login?callbackUrl=https://evil.example/&email=ada@example.com&error=EmailSignin", "", ""))
	if f.RedirectTo != siteOrigin || f.SignIn[1].Fields[0].Value != "ada@example.com" || f.SignIn[1].Error == "" {
		t.Errorf("R-204: %s %+v", f.RedirectTo, f.SignIn[1])
	}
	if strings.Contains(fmt.Sprintf("%+v %v", f, *f), f.CSRFToken) {
		t.Error("R-393: printed, it shows the token")
	}
}

// FuzzFormAction posts anything to the actions: nothing of it is a fault, a panic
// or a sign-in, and what is refused says why.
func FuzzFormAction(f *testing.F) {
	for _, body := range []string{
		"providerId=crew&options.username=a&authorizationParams-prompt=login", "options={&redirectTo=//x", "authorizationParams=%zz&options.=1&=2",
		`{"providerId":"post","options":{"email":"a@example.com","":1},"authorizationParams":{"":"x"}}`, `{"options":"{\"a\":[]}","redirectTo":"/x"}`, `{"":{}}`,
	} {
		f.Add(body, strings.HasPrefix(body, "{"))
	}
	s := newSite(f, func(c *latchkey.Config) { c.Limits.Disabled, c.Runtime.Logger = true, slog.New(slog.DiscardHandler) })
	f.Fuzz(func(t *testing.T, body string, isJSON bool) {
		s.t = t
		contentType := formContentType
		if isJSON {
			contentType = "application/json"
		}
		for _, action := range []http.Handler{s.auth.SignInAction(pageOf(s.auth)), s.auth.SignOutAction(nil)} {
			a := s.newBrowser().act(action, "/login", body, append([]string{"Content-Type", contentType}, asScript...)...)
			if a.signsIn() && !strings.Contains(body, "wonderland") {
				t.Errorf("%q signs in", body)
			}
			var r formResult
			if a.Code == http.StatusBadRequest && json.Unmarshal(a.Body.Bytes(), &r) == nil && r.Failed && len(r.FieldErrors) == 0 {
				t.Errorf("%q is refused without a word: %s", body, a.Body)
			}
			if a := s.newBrowser().act(action, "/login", body, "Content-Type", contentType); a.Code >= 500 && a.Code != http.StatusInternalServerError {
				t.Errorf("%q: %d", body, a.Code)
			}
		}
	})
}

// Forms.Status is the status of the response, whatever the page shows.
func TestFormsStatus(t *testing.T) {
	s := newSite(t)
	b := s.newBrowser()
	show := func(failure *latchkey.FormFailure) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := r.Context()
			if failure != nil {
				ctx = latchkey.ContextWithFormFailure(ctx, failure)
			}
			onHTTP, err := s.auth.Forms(w, r.WithContext(ctx))
			neutral, _, neutralErr := s.auth.Core().Forms(ctx, requestOf(r))
			if err != nil || neutralErr != nil || onHTTP.Status != neutral.Status {
				t.Fatalf("%v, %v: status %d, of Core %d", err, neutralErr, onHTTP.Status, neutral.Status)
			}
			w.WriteHeader(onHTTP.Status)
		})
	}
	for policy, c := range map[string]struct {
		failure *latchkey.FormFailure
		target  string
		want    int
	}{
		"a page that is shown for the first time":      {nil, "/login", 200},
		"an error in the query is no failure":          {nil, "/login?error=CredentialsSignin", 200},
		"a form that cannot be understood":             {&latchkey.FormFailure{Status: 400}, "/login", 400},
		"a form that was refused":                      {&latchkey.FormFailure{Status: 403, Err: latchkey.ErrCredentialsSignin}, "/login", 403},
		"too many tries":                               {&latchkey.FormFailure{Status: 429, Err: latchkey.ErrCredentialsSignin}, "/login", 429},
		"a store that does not answer for now":         {&latchkey.FormFailure{Status: 503, Err: latchkey.ErrAdapter}, "/login", 503},
		"a failure wins over an error in the query":    {&latchkey.FormFailure{Status: 403, Err: latchkey.ErrAccessDenied}, "/login?error=Configuration", 403},
		"a failure of an integration without a status": {&latchkey.FormFailure{Err: latchkey.ErrAccessDenied}, "/login", 200},
	} {
		t.Run(policy, func(t *testing.T) {
			if a := b.serve(show(c.failure), b.request(http.MethodGet, c.target, "", "")); a.Code != c.want {
				t.Errorf("status %d, want %d", a.Code, c.want)
			}
		})
	}
	t.Run("a wrong password", func(t *testing.T) {
		a := b.act(s.auth.SignInAction(show(nil)), "/signin", "providerId=crew&username=alice&password=x")
		if a.Code != http.StatusForbidden {
			t.Errorf("status %d", a.Code)
		}
	})
}
