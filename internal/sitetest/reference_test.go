package sitetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	details "github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/explain"
)

func showing(c *latchkey.Config) { c.Operations.ShowReference = true }

// lastFailure returns the reference and the detail of the last failure in the log.
func (s *testSite) lastFailure() (reference string, detail details.Detail) {
	s.t.Helper()
	for _, r := range s.log.records(s.t) {
		if code, ok := r["reference"].(string); ok {
			reference, detail = code, details.Detail(fmt.Sprint(r["detail"]))
		}
	}
	return reference, detail
}

func query(location string) url.Values {
	u, _ := url.Parse(location)
	return u.Query()
}

func TestReferenceOfFailures(t *testing.T) {
	codec := explain.NewCodec([]string{siteSecret})
	for _, c := range []struct {
		name string
		want details.Detail
		ask  func(s *testSite, b *browser) *answer
	}{
		{"a callback without cookies", details.StateNoCookies, func(_ *testSite, b *browser) *answer {
			return b.get("/auth/callback/acme?code=x&state=y")
		}},
		{"a page that is not there", details.RequestUnknown, func(_ *testSite, b *browser) *answer {
			return b.get("/auth/webauthn-options")
		}},
		{"a link that is unknown", details.LinkUsed, func(_ *testSite, b *browser) *answer {
			return b.get("/auth/callback/post?token=x&email=ada%40example.com")
		}},
	} {
		t.Run("O-057 "+c.name, func(t *testing.T) {
			s := newSite(t, showing)
			res := c.ask(s, s.newBrowser())
			code, detail := s.lastFailure()
			opened, err := codec.Open(code, s.clock.Now())
			if err != nil || detail != c.want || opened.Detail != c.want {
				t.Fatalf("logged %s %s, which opens as %+v, %v; want %s", code, detail, opened, err, c.want)
			}
			if shown := res.Header().Get("Latchkey-Reference"); shown != code {
				t.Errorf("the header has %q, the log %q", shown, code)
			}
			if to := res.Header().Get("Location"); to != "" && query(to).Get("ref") != code {
				t.Errorf("leads to %s, without the code %s", to, code)
			}
		})
	}
}

func TestReferenceIsShown(t *testing.T) {
	s := newSite(t, showing)
	b := s.newBrowser()
	to := b.get("/auth/callback/acme?code=x&state=y").Header().Get("Location")
	code, _ := s.lastFailure()
	t.Run("O-062 the built-in page shows the code and the time", func(t *testing.T) {
		page := b.get(strings.TrimPrefix(to, siteOrigin)).Body.String()
		if !strings.Contains(page, code) || !strings.Contains(page, "UTC") {
			t.Errorf("no %s on %s", code, page)
		}
	})
	t.Run("O-062 what does not open is not shown", func(t *testing.T) {
		for _, ref := range []string{"<b>x</b>", strings.Repeat("A", 4000), explain.NewCodec([]string{"another site's secret, which is long"}).Make(details.Other, s.clock.Now()), "0000-0000-0000"} {
			plain := b.get("/auth/error?error=Configuration").Body.String()
			if page := b.get("/auth/error?error=Configuration&ref=" + url.QueryEscape(ref)).Body.String(); page != plain {
				t.Errorf("%.20s changes the page: %s", ref, page)
			}
		}
	})
	t.Run("O-062 a script gets it in JSON", func(t *testing.T) {
		r := b.request(http.MethodGet, "/auth/callback/acme?code=x&state=y", "", "")
		r.Header.Set("X-Auth-Return-Redirect", "1")
		w := httptest.NewRecorder()
		s.auth.ServeHTTP(w, r)
		code, _ := s.lastFailure()
		if body := w.Body.String(); !strings.Contains(body, `"reference":"`+code+`"`) || !strings.Contains(body, "ref="+code) {
			t.Errorf("%s has no %s", body, code)
		}
	})
	t.Run("O-062 own pages get it", func(t *testing.T) {
		s := newSite(t, showing, func(c *latchkey.Config) { c.Pages.Error = "/oops" })
		to := s.newBrowser().get("/auth/callback/acme?code=x&state=y").Header().Get("Location")
		if code, _ := s.lastFailure(); query(to).Get("ref") != code || !strings.Contains(to, "/oops?error=") {
			t.Errorf("leads to %s, want the code %s", to, code)
		}
	})
	t.Run("O-062 Do returns it with the error", func(t *testing.T) {
		_, err := s.auth.Core().Do(t.Context(), requestOf(b.request(http.MethodGet, "/auth/callback/acme?code=x&state=y", "", "")))
		if code, _ := s.lastFailure(); err == nil || latchkey.ReferenceFrom(err) != code || latchkey.ReferenceFrom(http.ErrNoCookie) != "" {
			t.Errorf("%q of %v, want %s", latchkey.ReferenceFrom(err), err, code)
		}
	})
	t.Run("O-062 without ShowReference nothing changes", func(t *testing.T) {
		s := newSite(t)
		res := s.newBrowser().get("/auth/callback/acme?code=x&state=y")
		if to := res.Header().Get("Location"); strings.Contains(to, "ref=") || res.Header().Get("Latchkey-Reference") != "" {
			t.Errorf("leads to %s with %v", to, res.Header())
		}
		code, _ := s.lastFailure()
		if page := s.newBrowser().get("/auth/error?error=Configuration&ref=" + code).Body.String(); code == "" || strings.Contains(page, code) {
			t.Errorf("the page shows %s", code)
		}
	})
}

func TestMistypedShowsNoReference(t *testing.T) {
	s := newSite(t, showing)
	b := s.newBrowser()
	var to []string
	for _, name := range []string{"alice", "unknown"} {
		w := b.post("/auth/callback/crew", "username", name, "password", "wrong")
		to = append(to, w.Header().Get("Location"))
		if w.Header().Get("Latchkey-Reference") != "" {
			t.Errorf("O-058 %s: %v", name, w.Header())
		}
	}
	for _, ref := range []string{"", "&ref=" + explain.NewCodec([]string{siteSecret}).Make(details.SignInWrong, s.clock.Now())} {
		if page := b.get("/auth/error?error=Configuration" + ref).Body.String(); strings.Contains(page, "UTC") {
			t.Errorf("O-058 the page shows the code %q", ref)
		}
	}
	if to[0] != to[1] || strings.Contains(to[0], "ref=") || !strings.Contains(to[0], "CredentialsSignin") {
		t.Errorf("O-058 they lead to %q", to)
	}
}
