package main

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// The app itself is driven by internal/interop, in a browser.
func TestBehindTheApp(t *testing.T) {
	c := latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
	}
	if _, err := newSite(c, fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "npm run build") {
		t.Errorf("without a build: %v", err)
	}
	site, err := newSite(c, fstest.MapFS{"index.html": {Data: []byte("the page")}, "assets/app.js": {Data: []byte("the script")}})
	if err != nil {
		t.Fatal(err)
	}
	browser := latchkeytest.NewClient(t, site)
	for path, want := range map[string]string{"/": "the page", "/some/place": "the page", "/assets/app.js": "the script"} {
		if p := browser.Get(path); p.Status != http.StatusOK || string(p.Body) != want {
			t.Errorf("%s: %d %s", path, p.Status, p.Body)
		} else if asks := p.Header.Get("Cache-Control") == "no-cache"; asks != (want == "the page") {
			t.Errorf("%s: Cache-Control: %s", path, p.Header.Get("Cache-Control"))
		}
	}
	if p := browser.Fetch("GET", "/api/notes", nil, nil); p.Status != http.StatusUnauthorized {
		t.Errorf("the notes of nobody: %d %s", p.Status, p.Body)
	}
	browser.SignInCredentials(map[string]string{"name": "ada", "password": "lovelace"})
	if p := browser.Fetch("GET", "/api/notes", nil, nil); p.Status != http.StatusOK || !strings.Contains(string(p.Body), "user 1") {
		t.Errorf("the notes of ada: %d %s", p.Status, p.Body)
	}
	for _, c := range []struct {
		data any
		name string
	}{{"no object", "Ada"}, {map[string]any{"name": 5}, "Ada"}, {map[string]any{"name": " "}, "Ada"}, {map[string]any{"name": " Countess "}, "Countess"}} {
		if p := update(browser, c.data); !strings.Contains(string(p.Body), `"name":"`+c.name+`"`) {
			t.Errorf("an update with %v: %d %s", c.data, p.Status, p.Body)
		}
	}
}

func update(browser *latchkeytest.Client, data any) *latchkeytest.Page {
	return browser.Fetch("POST", browser.BasePath+"/session", map[string]any{"csrfToken": browser.CSRFToken(), "data": data}, nil)
}
