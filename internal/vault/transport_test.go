package vault_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestTransport shows which requests carry a token (T-059, T-060).
func TestTransport(t *testing.T) {
	var seen []string // the tokens of the API's requests
	refuse := 0
	var bodies []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		if len(seen) <= refuse {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer api.Close()
	other := ""
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { other = r.Header.Get("Authorization") }))
	defer elsewhere.Close()
	leading := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
	}))
	defer leading.Close()

	for name, c := range map[string]struct {
		refuse int
		body   io.Reader
		want   string // tokens seen, in order
		status int
	}{
		"T-059 a good token":          {0, nil, "Bearer 1", 200},
		"T-059 401 once":              {1, nil, "Bearer 1, Bearer 2", 200},
		"T-059 401 once, with a body": {1, strings.NewReader("body"), "Bearer 1, Bearer 2", 200},
		"T-059 401 always":            {9, nil, "Bearer 1, Bearer 2", 401},
		"T-059 a body that is gone":   {1, io.MultiReader(strings.NewReader("body")), "Bearer 1", 401},
	} {
		t.Run(name, func(t *testing.T) {
			seen, bodies, refuse = nil, nil, c.refuse
			client := &http.Client{Transport: newTransport()}
			res, err := client.Post(api.URL, "text/plain", c.body)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if got := strings.Join(seen, ", "); got != c.want || res.StatusCode != c.status {
				t.Errorf("tokens %q, status %d; want %q, %d", got, res.StatusCode, c.want, c.status)
			}
			for _, body := range bodies {
				if c.body != nil && body != "body" {
					t.Errorf("body %q", body)
				}
			}
		})
	}
	t.Run("T-060 a redirect to another host", func(t *testing.T) {
		res, err := (&http.Client{Transport: newTransport()}).Get(leading.URL)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if other != "" {
			t.Errorf("the other host got %q", other)
		}
	})
	t.Run("T-060 plain http", func(t *testing.T) {
		if _, err := (&http.Client{Transport: newTransport()}).Get("http://api.example/"); err == nil || !strings.Contains(err.Error(), "https only") {
			t.Errorf("%v", err)
		}
	})
}

// newTransport returns a transport whose tokens are "1", and "2" after a refusal.
func newTransport() *vault.Transport {
	return &vault.Transport{Base: http.DefaultTransport, Now: time.Now, Token: func(_ context.Context, rejected string) (storage.Tokens, error) {
		if rejected == "" {
			return storage.Tokens{AccessToken: "1"}, nil
		}
		return storage.Tokens{AccessToken: "2"}, nil
	}}
}
