package latchkey

import (
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/latchkeyhq/latchkey/internal/page"
)

// pageOptions is the theme as the pages know it.
func pageOptions(t Theme) page.Options {
	o := page.Options{
		Theme: page.Theme{ColorScheme: t.ColorScheme, BrandColor: t.BrandColor, ButtonText: t.ButtonText, Logo: t.Logo},
		Lang:  t.Lang,
	}
	if t.Text == nil {
		return o
	}
	o.Strings = page.Strings{}
	for key, english := range page.English() {
		if text := t.Text(key, english); text != "" {
			o.Strings[key] = text
		}
	}
	return o
}

// pageResponse is a finished page with all its headers.
func pageResponse(p page.Page) *Response {
	res := &Response{Status: p.Status, Header: make(http.Header, 8), Body: p.Body}
	p.SetHeaders(res.Header)
	return res
}

func (v *visit) show(p page.Page, err error) (*Response, error) {
	if err != nil {
		return nil, err
	}
	return pageResponse(p), nil
}

// ownPage sends the visitor to a page of the application's own.
func (v *visit) ownPage(address string, params ...string) *Response {
	return &Response{Redirect: v.absolute(withQuery(address, params...))}
}

func (v *visit) signInPage() (*Response, error) {
	failed := v.query.Get("error")
	if own := v.Pages.SignIn; own != "" {
		params := []string{"callbackUrl", v.callbackURL}
		if failed != "" {
			params = append(params, "error", failed)
		}
		return v.ownPage(own, params...), nil
	}
	return v.show(v.pages.SignIn(page.SignIn{
		CSRFToken: v.csrf, CallbackURL: v.callbackURL, Error: failed, Email: shownAddress(v.query.Get("email")),
		Host: v.origin.host(), Providers: v.buttons(), FormOrigins: v.formOrigins(),
	}))
}

// buttons are the providers as the sign-in page shows them.
func (v *visit) buttons() []page.Provider {
	all := make([]page.Provider, 0, len(v.order))
	for _, p := range v.order {
		info := p.info()
		route := "signin/"
		if info.kind == TypeCredentials {
			route = "callback/"
		}
		b := page.Provider{
			ID: info.id, Name: info.name, Type: string(info.kind), Action: v.url(route + info.id),
			Icon: info.style.Icon, Brand: info.style.Color,
		}
		for _, f := range info.fields {
			b.Fields = append(b.Fields, page.Field{Name: f.Name, Label: f.Label, Type: f.Type, Placeholder: f.Placeholder, Autocomplete: f.Autocomplete})
		}
		all = append(all, b)
	}
	return all
}

// formOrigins are where the forms of the page may lead: browsers apply the
// policy to the redirect as well. Of a provider that is yet to be discovered
// only the scheme is known.
func (v *visit) formOrigins() []string {
	var origins []string
	for _, p := range v.order {
		o, ok := p.(*oauthProvider)
		if !ok {
			continue
		}
		origins = append(origins, firstOf(o.client.AuthorizationEndpoint(), "https:"), o.Issuer)
	}
	return origins
}

func (v *visit) signOutPage() (*Response, error) {
	if own := v.Pages.SignOut; own != "" {
		return v.ownPage(own), nil
	}
	return v.show(v.pages.SignOut(page.SignOut{CSRFToken: v.csrf, CallbackURL: v.callbackURL, Action: v.url("signout")}))
}

func (v *visit) verifyRequestPage() (*Response, error) {
	if own := v.Pages.VerifyRequest; own != "" {
		var params []string
		for _, name := range slices.Sorted(maps.Keys(v.query)) {
			if name != "callbackUrl" { // nobody has checked where it leads
				params = append(params, name, v.query.Get(name))
			}
		}
		return v.ownPage(own, params...), nil
	}
	return v.show(v.pages.VerifyRequest(page.VerifyRequest{Host: v.origin.host(), Origin: v.origin.text}))
}

// errorRoute answers GET /error.
func (v *visit) errorRoute() *Response {
	code := v.query.Get("error")
	if own := v.Pages.Error; own != "" {
		if code == "" {
			return v.ownPage(own)
		}
		return v.ownPage(own, "error", code)
	}
	return v.errorPage(code)
}

// errorPage is the built-in error page for a code.
func (v *visit) errorPage(code string) *Response {
	view := page.Error{Code: code, Host: v.origin.host(), Origin: v.origin.text}
	if view.Origin == "" { // the request is not believed: name nothing of it
		view.Origin = "/"
	}
	view.SignInURL = v.origin.text + v.path("signin")
	done, err := v.pages.Error(view)
	if err != nil {
		v.log.error(v, err)
		return configJSON()
	}
	return pageResponse(done)
}

// signInAddress is the page that asks somebody to sign in and come back to to.
func (v *visit) signInAddress(to string) string {
	if own := v.Pages.SignIn; own != "" {
		return withQuery(v.absolute(own), "callbackUrl", to)
	}
	return v.url("signin") + "?callbackUrl=" + url.QueryEscape(to)
}
