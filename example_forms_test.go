package latchkey_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	tmpl "html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

var signInPage = tmpl.Must(tmpl.New("").Parse(`{{range .SignIn}}<form method="post" action="/signin">
<input type="hidden" name="providerId" value="{{.Provider}}">
{{range .Fields}}<label>{{.Label}} <input name="{{.Name}}" type="{{.Type}}" value="{{.Value}}" autocomplete="{{.Autocomplete}}"></label>
{{end}}{{with .Error}}<p role="alert">{{.}}</p>
{{end}}<button>{{.Submit}}</button>
</form>{{end}}`))

// One handler shows the form, the first time and whenever it was sent in vain.
func ExampleAuth_SignInAction() {
	auth := exampleAuth()
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		forms, err := auth.Forms(w, r) // before the body: it may set a cookie
		if err != nil {
			auth.WriteError(w, r, err)
			return
		}
		w.WriteHeader(forms.Status)
		_ = signInPage.Execute(w, forms)
	})
	site := http.NewServeMux()
	site.Handle("GET /signin", page)
	site.Handle("POST /signin", auth.SignInAction(page))
	site.Handle("POST /signout", auth.SignOutAction(nil))

	w := post(site, "/signin", "text/html", url.Values{"providerId": {"credentials"}, "username": {"ada"}, "password": {"byron"}})
	fmt.Println(w.Code, w.Body)
	w = post(site, "/signin", "text/html", url.Values{"providerId": {"credentials"}, "username": {"ada"}, "password": {"lovelace"}, "redirectTo": {"/shop"}})
	fmt.Println(w.Code, w.Header().Get("Location"))
	// Output:
	// 403 <form method="post" action="/signin">
	// <input type="hidden" name="providerId" value="credentials">
	// <label>User name <input name="username" type="text" value="ada" autocomplete="username"></label>
	// <label>Password <input name="password" type="password" value="" autocomplete="current-password"></label>
	// <p role="alert">That is not right. Please check the details you provided.</p>
	// <button>Sign in</button>
	// </form>
	// 302 https://app.example/shop
}

// A script that sends the form gets JSON: the URL to go to, or what is wrong.
func ExampleAuth_SignInAction_json() {
	action := exampleAuth().SignInAction(nil)
	for _, form := range []url.Values{
		{"providerId": {"githb"}},
		{"providerId": {"credentials"}, "username": {"ada"}, "password": {"lovelace"}, "redirectTo": {"/shop"}},
	} {
		fmt.Println(post(action, "/signin", "application/json", form).Body)
	}
	// Output:
	// {"failed":true,"fieldErrors":{"providerId":["no provider has the providerId \"githb\"; there are credentials"]},"formErrors":[]}
	// {"url":"https://app.example/shop"}
}

// In a web framework without net/http: the failure and the page meet in the
// context.
func ExampleCore_SignInAction() {
	core := exampleAuth().Core()
	show := func(ctx context.Context, r *latchkey.Request) *latchkey.Response {
		forms, cookies, err := core.Forms(ctx, r)
		if err != nil {
			return &latchkey.Response{Status: http.StatusInternalServerError}
		}
		body, _ := json.Marshal([]any{forms.Error, forms.SignIn, forms.Session}) // a page, in truth
		return &latchkey.Response{Status: forms.Status, Cookies: cookies, Body: body}
	}
	answer := func(ctx context.Context, r *latchkey.Request) *latchkey.Response {
		res, failure := core.SignInAction(ctx, r)
		if failure == nil {
			return res
		}
		again := show(latchkey.ContextWithFormFailure(ctx, failure), r)
		again.Cookies = append(res.Cookies, again.Cookies...)
		return again
	}
	res := answer(context.Background(), &latchkey.Request{
		Method: http.MethodPost, URL: &url.URL{Path: "/signin"}, Host: "app.example",
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, Body: []byte("providerId=githb"),
	})
	fmt.Println(res.Status, strings.HasPrefix(string(res.Body), `["no provider has the providerId \"githb\"`))
	// Output: 400 true
}

// post sends a form as a page of the site does.
func post(h http.Handler, path, accept string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A page that does without Forms asks why the form that it shows again failed.
func ExampleFormFailureFrom() {
	auth := exampleAuth()
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := latchkey.FormFailureFrom(r.Context())
		if f == nil { // the form is shown for the first time
			fmt.Fprint(w, "Please sign in.")
			return
		}
		w.WriteHeader(f.Status)
		fmt.Fprint(w, f.Messages(), errors.Is(f.Err, latchkey.ErrCredentialsSignin))
	})
	w := post(auth.SignInAction(page), "/signin", "text/html", url.Values{"providerId": {"credentials"}, "username": {"ada"}, "password": {"byron"}})
	fmt.Println(w.Code, w.Body)
	// Output: 403 [That is not right. Please check the details you provided.] true
}
