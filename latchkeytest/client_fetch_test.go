package latchkeytest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// mirror answers with what a request brought.
func mirror(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: "kept", Value: "1"})
	body, _ := io.ReadAll(r.Body)
	_, withLax := r.Cookie("lax")
	_, withNone := r.Cookie("none")
	seen := map[string]string{"method": r.Method, "body": string(body), "lax": fmt.Sprint(withLax == nil), "none": fmt.Sprint(withNone == nil)}
	for _, name := range []string{"Accept", "Content-Type", "Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode", "X-Own"} {
		seen[name] = r.Header.Get(name)
	}
	_ = json.NewEncoder(w).Encode(seen)
}

func TestFetchIsAScriptsRequest(t *testing.T) {
	browser := latchkeytest.NewClient(t, http.HandlerFunc(mirror))
	browser.SetCookie(&http.Cookie{Name: "lax", Value: "1", SameSite: http.SameSiteLaxMode})
	browser.SetCookie(&http.Cookie{Name: "none", Value: "1", SameSite: http.SameSiteNoneMode, Secure: true})
	evil := http.Header{"Origin": {"https://evil.example"}}
	for name, c := range map[string]struct {
		page *latchkeytest.Page
		want map[string]string
	}{
		"GET": {browser.Fetch("GET", "/x", nil, nil), map[string]string{
			"method": "GET", "Accept": "*/*", "Content-Type": "", "Origin": "", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "body": "", "lax": "true",
		}},
		"POST": {browser.Fetch("POST", "/x", map[string]string{"a": "b"}, nil), map[string]string{
			"method": "POST", "Content-Type": "application/json", "Origin": browser.URL, "body": `{"a":"b"}`, "lax": "true", "none": "true",
		}},
		"bytes as they are": {browser.Fetch("PUT", "/x", []byte("{"), nil), map[string]string{"method": "PUT", "body": "{"}},
		"headers of the script's own": {
			browser.Fetch("GET", "/x", nil, http.Header{"accept": {"application/json"}, "X-Own": {"1"}}),
			map[string]string{"Accept": "application/json", "X-Own": "1"},
		},
		"another site, reading": {browser.Fetch("GET", "/x", nil, evil), map[string]string{
			"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", "lax": "false", "none": "true",
		}},
		"another site, writing": {browser.Fetch("POST", "/x", nil, evil), map[string]string{"Sec-Fetch-Site": "cross-site", "lax": "false", "none": "true"}},
		"a sibling host": {
			browser.Fetch("POST", "/x", nil, http.Header{"Origin": {"https://www.example"}, "Sec-Fetch-Site": {"same-site"}}),
			map[string]string{"Sec-Fetch-Site": "same-site", "lax": "true"},
		},
	} {
		var seen map[string]string
		if err := json.Unmarshal(c.page.Body, &seen); err != nil {
			t.Fatal(err)
		}
		for what, want := range c.want {
			if seen[what] != want {
				t.Errorf("%s: %s is %q, want %q", name, what, seen[what], want)
			}
		}
	}
	if browser.Cookie("kept") == nil {
		t.Error("the answer's cookie is lost")
	}
}

func TestFollowEndsInCircles(t *testing.T) {
	site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{"/a": "/b", "/b": "/a"}[r.URL.Path]
		http.Redirect(w, r, to, http.StatusFound)
	})
	watched := &watchedTest{TB: t}
	done := make(chan struct{})
	hops := 0
	go func() { // Fatalf ends its goroutine
		defer close(done)
		browser := latchkeytest.NewClient(watched, site)
		for p := browser.Get("/a"); p.Location() != nil; p = browser.Follow(p) {
			hops++
		}
	}()
	<-done
	if hops != 21 || !strings.Contains(watched.said, "redirected 20 times in a row") || !strings.Contains(watched.said, "/a → ") {
		t.Errorf("after %d: %q", hops, watched.said)
	}
}
