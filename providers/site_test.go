package providers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// call is a request that a site made to a provider.
type call struct {
	Host, Path, Query string
	Form              url.Values
	Header            http.Header
}

// wire stands between a site and the providers of the world: all hosts lead to
// one local server.
type wire struct {
	server string
	mu     sync.Mutex
	calls  []call
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	local := r.Clone(r.Context())
	if local.URL.Scheme != "https" {
		return nil, fmt.Errorf("%s is not https", r.URL)
	}
	c := call{Host: r.URL.Host, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header}
	if r.GetBody != nil {
		body, _ := r.GetBody()
		copied, _ := http.NewRequest(http.MethodPost, "/", body)
		copied.Header.Set("Content-Type", r.Header.Get("Content-Type"))
		_ = copied.ParseForm()
		c.Form = copied.PostForm
	}
	w.mu.Lock()
	w.calls = append(w.calls, c)
	w.mu.Unlock()
	server, _ := url.Parse(w.server)
	local.URL.Scheme, local.URL.Host = server.Scheme, server.Host
	if i := strings.Index(local.URL.Path, "/.well-known/"); i > 0 {
		local.URL.Path = local.URL.Path[i:]
	}
	return http.DefaultTransport.RoundTrip(local)
}

// to returns the calls to a host and path.
func (w *wire) to(target string) []call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.calls), func(c call) bool { return c.Host+c.Path != target })
}

// site is an application with one provider and a browser.
type site struct {
	*latchkeytest.Client
	wire    *wire
	mu      sync.Mutex
	arrived []latchkey.SignInAttempt
	log     *strings.Builder
}

func newSite(t *testing.T, server string, p *latchkey.OAuth) *site {
	t.Helper()
	w := &wire{server: server}
	s := newSiteOver(t, w, p)
	s.wire = w
	return s
}

// newSiteOver is newSite with a way to the providers of its own.
func newSiteOver(t *testing.T, way http.RoundTripper, p *latchkey.OAuth) *site {
	t.Helper()
	s := &site{log: &strings.Builder{}}
	if p.ClientID == "" {
		p.ClientID = "client"
	}
	if p.ClientSecret == "" && p.NewClientSecret == nil {
		p.ClientSecret = "the client's secret"
	}
	auth, err := latchkey.New(latchkey.Config{
		Providers: []latchkey.Provider{p},
		Secrets:   []string{"a secret of a good length for all tests"},
		Site:      latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
		Limits:    latchkey.Limits{ProviderCallTimeout: time.Minute, ProviderTimeout: time.Minute}, // a busy machine takes its time
		Runtime: latchkey.Runtime{
			HTTPClient: &http.Client{Transport: way},
			Logger:     slog.New(slog.NewTextHandler(s.log, nil)),
		},
		Callbacks: latchkey.Callbacks{SignIn: func(_ context.Context, a latchkey.SignInAttempt) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.arrived = append(s.arrived, a)
			return nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Client = latchkeytest.NewClient(t, auth)
	return s
}

// comeBack completes a sign-in of a provider that is no Issuer.
func (s *site) comeBack(t *testing.T, id string) *latchkeytest.Page {
	t.Helper()
	to := s.Begin(id).Location()
	if to == nil || to.Query().Get("state") == "" {
		t.Fatalf("sent to %v; log: %s", to, s.log)
	}
	return s.Get("/auth/callback/" + id + "?" + url.Values{"code": {"the code"}, "state": {to.Query().Get("state")}}.Encode())
}

// attempt is the one sign-in that got through.
func (s *site) attempt(t *testing.T) latchkey.SignInAttempt {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.arrived) != 1 {
		t.Fatalf("%d sign-ins got through; log: %s", len(s.arrived), s.log)
	}
	return s.arrived[0]
}

func (s *site) wants(t *testing.T, want latchkey.Identity) {
	t.Helper()
	a := s.attempt(t)
	got := latchkey.Identity{Subject: a.Account.ProviderAccountID, Name: a.User.Name, Email: a.User.Email, Image: a.User.Image, Extra: a.User.Extra}
	want.EmailTrust, want.WithoutImage = latchkey.EmailTrustUnknown, false // nobody is shown these
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("signed in\n%+v, want\n%+v", got, want)
	}
}

func (s *site) isRefused(t *testing.T, p *latchkeytest.Page, reason string) {
	t.Helper()
	if p.Error() != "Configuration" || len(s.arrived) != 0 {
		t.Errorf("error %q, %d sign-ins", p.Error(), len(s.arrived))
	}
	if !strings.Contains(s.log.String(), reason) {
		t.Errorf("the log does not say %q: %s", reason, s.log)
	}
}

// api is a provider's server: an answer for each path.
type api map[string]string

func (a api) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, found := a[r.URL.Path]
		if !found {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

const tokenAnswer = `{"access_token":"the access token","token_type":"bearer","scope":"x"}`

// pretend is an Issuer in the place of a provider at site, which issues what
// was recorded.
func pretend(t *testing.T, site string, r recorded, change func(*latchkeytest.IssuerConfig)) *latchkeytest.Issuer {
	t.Helper()
	var changes []func(*latchkeytest.IssuerConfig)
	if change != nil {
		changes = append(changes, change)
	}
	iss := latchkeytest.NewIssuer(t, changes...)
	iss.Misbehave(latchkeytest.Misbehaviour{
		Discovery: func(d map[string]any) {
			for name, value := range d {
				if text, ok := value.(string); ok {
					d[name] = strings.Replace(text, iss.URL, site, 1)
				}
			}
			if strings.Contains(site, "microsoft") {
				d["issuer"] = site + "/{tenantid}/v2.0"
			}
			delete(d, "authorization_response_iss_parameter_supported")
			delete(d, "code_challenge_methods_supported")
		},
		Callback: func(q url.Values) {
			q.Del("iss")
			maps.Copy(q, r.query())
		},
		IDToken: func(c map[string]any) {
			fresh := maps.Clone(c)
			maps.Copy(c, r.Profile)
			for _, name := range []string{"aud", "azp", "iat", "exp", "nbf", "auth_time", "at_hash", "nonce"} {
				delete(c, name)
				if value, ok := fresh[name]; ok {
					c[name] = value
				}
			}
		},
	})
	return iss
}

// goTo signs in at the Issuer that is in the provider's place.
func (s *site) goTo(iss *latchkeytest.Issuer, id string) *latchkeytest.Page {
	p := s.Begin(id)
	if to := p.Location(); to != nil {
		local, _ := url.Parse(iss.URL)
		to.Scheme, to.Host = local.Scheme, local.Host
		p.Header.Set("Location", to.String())
	}
	return s.Complete(p)
}
