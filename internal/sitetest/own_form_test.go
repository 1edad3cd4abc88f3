package sitetest

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// The forms of an application are larger than the library's own.
func TestCheckOfLargeForms(t *testing.T) {
	s := newSite(t)
	b := s.newBrowser()
	token, long, many := b.token(), strings.Repeat("x", 100<<10), strings.Repeat("&n=1", 2000)
	for _, c := range []struct {
		name, contentType, body string
		ok                      bool
	}{
		{"a long text", formContentType, "text=" + long + "&csrfToken=" + token, true},
		{"many fields", formContentType, "csrfToken=" + token + many + "&text=" + long, true},
		{"a wrong token beside a long text", formContentType, "csrfToken=x&text=" + long, false},
		{"no token", formContentType, "text=" + long + many, false},
		{"a right token, and then a wrong one", formContentType, "text=" + long + "&csrfToken=" + token + "&csrfToken=x", false},
		{"JSON", "application/json", `{"text":"` + long + `","list":[1` + strings.Repeat(",1", 2000) + `],"csrfToken":"` + token + `"}`, true},
		{"JSON with a wrong token", "application/json", `{"text":"` + long + `","csrfToken":"x"}`, false},
		{"JSON with a token that is no text", "application/json", `{"csrfToken":["` + token + `"]}`, false},
		{"half a JSON object", "application/json", `{"csrfToken":"` + token + `"`, false},
	} {
		t.Run("R-797 "+c.name, func(t *testing.T) {
			neutral := &latchkey.Request{Method: http.MethodPost, URL: b.request(http.MethodPost, "/own", "", "").URL, Header: b.request(http.MethodPost, "/own", c.contentType, "").Header, Body: []byte(c.body)}
			neutral.Host = neutral.URL.Host
			if err := s.auth.Core().CheckCSRF(t.Context(), neutral); (err == nil) != c.ok || !c.ok && !errors.Is(err, latchkey.ErrMissingCSRF) {
				t.Errorf("Core: %v", err)
			}
			if c.contentType != formContentType {
				return
			}
			r := b.request(http.MethodPost, "/own", c.contentType, c.body)
			if err := s.auth.CheckCSRF(r); (err == nil) != c.ok || !c.ok && !errors.Is(err, latchkey.ErrMissingCSRF) {
				t.Errorf("Auth: %v", err)
			}
			if r.PostFormValue("text") != long {
				t.Error("the handler cannot read the form any more")
			}
			r = b.request(http.MethodPost, "/own", "text/plain", c.body)
			_ = s.auth.CheckCSRF(r)
			if left, err := io.ReadAll(r.Body); err != nil || string(left) != c.body {
				t.Errorf("a body of another type has been read: %v", err)
			}
		})
	}
}
