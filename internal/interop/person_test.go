package interop

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// person is somebody at the pages of a provider, with cookies of their own
// there.
type person struct {
	t       *testing.T
	http    *http.Client
	site    string            // origin of the site they came from
	types   map[string]string // what they type, by the name of the input
	refuses bool              // to share anything with the site
}

func newPerson(t *testing.T, site string, types map[string]string) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	ok(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	stop := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &person{t: t, http: &http.Client{Jar: jar, Transport: transport, CheckRedirect: stop}, site: site, types: types}
}

// signIn fills in every form until the provider sends them back to the site,
// and returns that answer for the browser of the site to go on with.
func (p *person) signIn(start *url.URL) *latchkeytest.Page {
	p.t.Helper()
	if start == nil {
		p.t.Fatal("the site does not lead to the provider")
	}
	page := p.send(http.MethodGet, start, nil)
	for range 15 { // more than any provider has pages
		if to := page.Location(); to != nil {
			if p.isSite(to) {
				return page
			}
			page = p.send(http.MethodGet, to, nil)
			continue
		}
		f := p.formOn(page)
		switch {
		case p.isSite(f.action):
			return f.page(page.URL)
		case p.refuses && f.abort != nil:
			page = p.send(http.MethodGet, f.abort, nil)
		default:
			page = p.send(http.MethodPost, f.action, f.fields)
		}
	}
	p.t.Fatal("the provider has no end")
	return nil
}

func (p *person) isSite(u *url.URL) bool { return u.Scheme+"://"+u.Host == p.site }

func (p *person) send(method string, to *url.URL, form url.Values) *latchkeytest.Page {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, to.String(), strings.NewReader(form.Encode()))
	ok(p.t, err)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := p.http.Do(req)
	ok(p.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ok(p.t, err)
	return &latchkeytest.Page{Status: resp.StatusCode, Header: resp.Header, Body: body, URL: to}
}

// form is the first form of a page, filled in.
type form struct {
	action *url.URL
	fields url.Values
	abort  *url.URL // of the link that refuses; nil: there is none
}

func (p *person) formOn(page *latchkeytest.Page) (f form) {
	p.t.Helper()
	root, err := html.Parse(bytes.NewReader(page.Body))
	ok(p.t, err)
	f.fields = url.Values{}
	for n := range root.Descendants() {
		switch {
		case n.Data == "form" && f.action == nil:
			f.action, err = page.URL.Parse(attribute(n, "action"))
			ok(p.t, err)
			p.fill(n, f.fields)
		case n.Data == "a" && strings.HasSuffix(attribute(n, "href"), "/abort"):
			f.abort, err = page.URL.Parse(attribute(n, "href"))
			ok(p.t, err)
		}
	}
	if f.action == nil {
		p.t.Fatalf("%s answered %d without a form:\n%s", page.URL.Path, page.Status, page.Body)
	}
	return f
}

func (p *person) fill(form *html.Node, fields url.Values) {
	for n := range form.Descendants() {
		if name := attribute(n, "name"); n.Data == "input" && name != "" {
			value, types := p.types[name]
			if !types {
				value = attribute(n, "value")
			}
			fields.Set(name, value)
		}
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// page is the form as the pages of latchkeytest have it, on a page at a URL: a
// browser that has no parser for HTML can post it, too.
func (f form) page(at *url.URL) *latchkeytest.Page {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<form method="post" action="%s">`, template.HTMLEscapeString(f.action.String()))
	for name := range f.fields {
		fmt.Fprintf(&b, `<input type="hidden" name="%s" value="%s">`, template.HTMLEscapeString(name), template.HTMLEscapeString(f.fields.Get(name)))
	}
	b.WriteString(`</form>`)
	return &latchkeytest.Page{Status: http.StatusOK, Header: http.Header{}, Body: b.Bytes(), URL: at}
}
