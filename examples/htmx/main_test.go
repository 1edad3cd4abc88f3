package main

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestTodos(t *testing.T) {
	issuer := latchkeytest.NewIssuer(t)
	issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com"})
	site, err := newSite(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
		Providers: []latchkey.Provider{issuer.Provider()},
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	browser := latchkeytest.NewClient(t, site)
	if p := browser.Get("/"); p.Location() == nil || p.Location().Path != "/auth/signin" {
		t.Errorf("nobody gets %d", p.Status)
	}
	status, header, _ := byHTMX(t, browser)
	if to := header.Get("HX-Redirect"); status != http.StatusUnauthorized || !strings.Contains(to, "/auth/signin") {
		t.Errorf("htmx gets %d, HX-Redirect %q", status, to)
	}
	browser.SignIn(issuer)
	if p := browser.Get("/"); !strings.Contains(string(p.Body), "Hello, Ada") {
		t.Errorf("ada gets %d %s", p.Status, p.Body)
	}
	if status, _, body := byHTMX(t, browser); status != http.StatusOK || body != `<ul id="list"><li>milk</li></ul>` {
		t.Errorf("htmx gets %d %s", status, body)
	}
	if p := browser.Follow(browser.Post("/todos", url.Values{"item": {"bread"}})); !strings.Contains(string(p.Body), "<li>milk</li><li>bread</li>") {
		t.Errorf("without htmx: %s", p.Body)
	}
}

// byHTMX adds an item as htmx does.
func byHTMX(t *testing.T, browser *latchkeytest.Client) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, browser.URL+"/todos", strings.NewReader("item=milk"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Hx-Request": {"true"}, "Hx-Current-Url": {browser.URL + "/"},
		"Sec-Fetch-Site": {"same-origin"}, "Sec-Fetch-Mode": {"cors"}, "Accept": {"*/*"},
	}
	for _, c := range browser.Cookies() {
		r.AddCookie(c)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(body)
}
