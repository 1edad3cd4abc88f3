package sitetest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/client"
)

const (
	stableClient = "/auth/client/latchkey.js"
	forEver      = "public, max-age=31536000, immutable"
)

func TestClientFiles(t *testing.T) {
	s := newSite(t)
	in := s.newBrowser()
	in.signIn()
	fixed := "/auth/client/" + client.Name(client.Module)
	body := s.newBrowser().get(fixed).Body.String()
	for _, c := range []struct {
		path, mediaType, cached string
	}{
		{fixed, "text/javascript; charset=utf-8", forEver},
		{stableClient, "text/javascript; charset=utf-8", "no-cache"},
		{"/auth/client/latchkey-0123456789abcdef.js", "text/javascript; charset=utf-8", "no-cache"},
		{"/auth/client/passkeys.js", "text/javascript; charset=utf-8", "no-cache"},
		{"/auth/client/latchkey.d.ts", "application/typescript; charset=utf-8", "no-cache"},
	} {
		for who, b := range map[string]*browser{"a member": in, "a stranger": s.newBrowser()} {
			t.Run("R-422 "+who+" gets "+c.path, func(t *testing.T) {
				a := b.get(c.path)
				h := a.Header()
				if a.Code != http.StatusOK || h.Get("Content-Type") != c.mediaType || h.Get("Cache-Control") != c.cached || h.Get("X-Content-Type-Options") != "nosniff" {
					t.Errorf("%d with %v", a.Code, h)
				}
				if h["Set-Cookie"] != nil || variesByCookie(h) || h.Get("Vary") != "Accept-Encoding" {
					t.Errorf("it is not the same for everybody: %v", h)
				}
				if strings.Contains(c.path, "/latchkey") && strings.HasSuffix(c.path, ".js") && a.Body.String() != body {
					t.Error("it is another module")
				}
			})
		}
	}
	for _, path := range []string{"/auth/client", "/auth/client/", "/auth/client/client.go", "/auth/client/x/latchkey.js", "/auth/client/latchkey.mjs"} {
		if a := in.get(path); a.Code != http.StatusBadRequest && a.Code != http.StatusNotFound {
			t.Errorf("R-422 %s: %d", path, a.Code)
		}
	}
}

func TestClientIsAskedAbout(t *testing.T) {
	s := newSite(t)
	plain, tag := s.newBrowser().get(stableClient).Body.String(), ""
	for accepts, zipped := range map[string]bool{"": false, "gzip": true, "deflate, GZIP;q=0.5, br": true, "gzip;q=0": false, "br": false, "x-gzip": false, "gzip; q=no": false} {
		b := s.newBrowser()
		b.header.Set("Accept-Encoding", accepts)
		a := b.get(stableClient)
		text := a.Body.String()
		if zipped {
			z, err := gzip.NewReader(bytes.NewReader(a.Body.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
		}
		if is := a.Header().Get("Content-Encoding") == "gzip"; is != zipped || text != plain {
			t.Errorf("R-422 to who accepts %q: compressed %t", accepts, is)
		}
		tag = a.Header().Get("Etag")
		b.header.Set("If-None-Match", tag)
		if again := b.get(stableClient); again.Code != http.StatusNotModified || again.Body.Len() != 0 || again.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("R-422 asked about %s: %d with %d bytes", tag, again.Code, again.Body.Len())
		}
	}
	b := s.newBrowser()
	b.header.Set("If-None-Match", `"of another version"`)
	if a := b.get(stableClient); a.Code != http.StatusOK {
		t.Errorf("R-422 asked about another version: %d", a.Code)
	}
}
