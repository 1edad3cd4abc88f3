package weburl_test

import (
	"testing"

	"github.com/latchkeyhq/latchkey/internal/weburl"
)

func TestOriginMatches(t *testing.T) {
	for _, c := range []struct {
		name, pattern, scheme, host string
		want                        bool
	}{
		{"the same", "https://app.example", "https", "app.example", true},
		{"the scheme's own port", "https://app.example:443", "https", "app.example", true},
		{"however it is cased", "HTTPS://App.Example", "https", "APP.example", true},
		{"another scheme", "https://app.example", "http", "app.example", false},
		{"another port", "https://app.example", "https", "app.example:8443", false},
		{"a port that is named", "https://app.example:8443", "https", "app.example:8443", true},
		{"a name below", "https://*.preview.example", "https", "pr-4.preview.example", true},
		{"two names below", "https://*.preview.example", "https", "a.b.preview.example", true},
		{"the name itself is not below it", "https://*.preview.example", "https", "preview.example", false},
		{"a name that ends alike", "https://*.preview.example", "https", "evilpreview.example", false},
		{"a name that begins alike", "https://*.preview.example", "https", "a.preview.example.evil.example", false},
		{"a name below on another port", "https://*.preview.example", "https", "a.preview.example:1", false},
		{"a port below a wildcard", "https://*.preview.example:1", "https", "a.preview.example:1", true},
		{"another scheme below a wildcard", "https://*.preview.example", "http", "a.preview.example", false},
		{"an IP address", "http://[::1]:3000", "http", "[::1]:3000", true},
		{"no pattern", "", "https", "app.example", false},
		{"no URL", "://", "https", "app.example", false},
		{"a wildcard in the middle", "https://a.*.example", "https", "a.b.example", false},
		{"two wildcards", "https://*.*.example", "https", "a.b.example", false},
		{"a wildcard alone", "https://*", "https", "app.example", false},
		{"a wildcard of nothing", "https://*.", "https", "app.example", false},
		{"a path", "https://app.example/a", "https", "app.example", false},
		{"no pattern and no origin", "", "", "", false},
	} {
		t.Run("R-132 "+c.name, func(t *testing.T) {
			if got := weburl.NewOrigin(c.scheme, c.host).Matches(c.pattern); got != c.want {
				t.Errorf("%s://%s matches %s: %t", c.scheme, c.host, c.pattern, got)
			}
		})
	}
}

func TestOriginHostName(t *testing.T) {
	for host, want := range map[string]string{"App.Example:443": "app.example", "app.example:1": "app.example", "[::1]:1": "::1"} {
		if got := weburl.NewOrigin("https", host).HostName(); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

func FuzzOriginMatches(f *testing.F) {
	f.Add("https://*.preview.example", "a.preview.example")
	f.Add("https://*.", "x")
	f.Add("*.*.example", "a.example")
	f.Fuzz(func(t *testing.T, pattern, host string) {
		o := weburl.NewOrigin("https", host)
		if !o.Matches("https://"+host) && weburl.ValidHost(host) {
			t.Errorf("%q does not match itself", host)
		}
		o.Matches(pattern)
	})
}

func TestIsPublic(t *testing.T) {
	for name, want := range map[string]bool{
		"shop.com": true, "app.shop.co.uk": true, "myexample.com": true, "xn--bcher-kva.ch": true,
		"": false, "localhost": false, "app.localhost": false, "intranet": false, "127.0.0.1": false, "10.0.0.1": false, "[2001:db8::1]": false,
		"app.example": false, "example.com": false, "www.example.com": false, "app.test": false,
	} {
		if got := weburl.IsPublic(name); got != want {
			t.Errorf("R-686 IsPublic(%q) = %t", name, got)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:3000": true, "App.LocalHost": true, "127.0.0.1:80": true, "[::1]:80": true, "::1": true,
		"localhost.example": false, "notlocalhost": false, "10.0.0.1": false, "": false,
	} {
		if weburl.IsLoopback(host) != want {
			t.Errorf("IsLoopback(%q) = %t", host, !want)
		}
	}
}
