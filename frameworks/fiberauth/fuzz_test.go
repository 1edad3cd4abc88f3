package fiberauth

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// a target that both take leads to the same path and query, and is for the
// same host, as on net/http; except where fasthttp, and with it Fiber's routes, takes
// the beginning of a path for a host: then to the same path as those.
func FuzzTarget(f *testing.F) {
	for _, target := range []string{
		"/", "/auth/session?x=1&x=2", "/a%2Fb", "/%61uth", "//evil.example/auth", "http://evil.example/auth?y=http://z//", "/a?b?c", "/ä", "/a//b/../c",
		"/auth/signin?callbackUrl=http://x/y", "https://a@b/c", "/%zz", "/a;b=c", "/?", "http://h", "/a b", "//://", "//evil.example/auth?x=://",
	} {
		f.Add(target)
	}
	f.Fuzz(func(t *testing.T, target string) {
		if strings.ContainsAny(target, "#\r\n") { // nobody sends fragments, and lines end there
			return
		}
		if !strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "http") { // nor other schemes
			return
		}
		raw := "GET " + target + " HTTP/1.1\r\nHost: app.example\r\n\r\n"
		want, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil || want.URL.Path == "" { // which fasthttp gives a slash
			return
		}
		var got fasthttp.RequestCtx
		if err := got.Request.Header.Read(bufio.NewReader(strings.NewReader(raw))); err != nil {
			return
		}
		r := headOf(&got)
		if strings.HasPrefix(target, "//") && strings.Contains(target, "://") {
			if path := string(got.URI().PathOriginal()); r.URL.EscapedPath() != path && r.URL.Path != path || r.Host != want.Host {
				t.Errorf("%q: %q at %q, want %q at %q", target, r.URL.EscapedPath(), r.Host, path, want.Host)
			}
			return
		}
		if r.URL.EscapedPath() != want.URL.EscapedPath() || r.URL.RawQuery != want.URL.RawQuery || r.Host != want.Host {
			t.Errorf("%q: %q ? %q at %q, want %q ? %q at %q", target, r.URL.EscapedPath(), r.URL.RawQuery, r.Host,
				want.URL.EscapedPath(), want.URL.RawQuery, want.Host)
		}
	})
}
