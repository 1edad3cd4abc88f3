package interop

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// newAuth is c with what every test wants.
func newAuth(t *testing.T, c latchkey.Config) *latchkey.Auth {
	t.Helper()
	c.Site.TrustHost, c.Runtime.Logger = true, slog.New(slog.NewTextHandler(t.Output(), nil))
	c.Limits.ProviderCallTimeout, c.Limits.ProviderTimeout = time.Minute, time.Minute // the other side may be slow on a busy machine
	if c.Secrets == nil {
		c.Secrets = []string{newSecret}
	}
	auth, err := latchkey.New(c)
	ok(t, err)
	return auth
}

// ourTwin is the site of authjs/site.mjs built with Latchkey.
func ourTwin(t *testing.T, c latchkey.Config) *latchkey.Auth {
	t.Helper()
	c.Adapter = memoryadapter.New(memoryadapter.Options{})
	c.Session.Strategy = latchkey.JWTSessions
	c.Providers = append([]latchkey.Provider{credentials(), email()}, c.Providers...)
	c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
		if u.Trigger == latchkey.TriggerUpdate {
			u.Claims["name"] = longName(u.Update)
		}
		return u.Claims, nil
	}
	return newAuth(t, c)
}

// longName makes a number a name of that length: nobody may send a long one.
func longName(update any) any {
	text, _ := update.(string)
	if n, err := strconv.Atoi(text); err == nil {
		return strings.Repeat("x", n)
	}
	return update
}

// theirSite is the configuration of authjs/site.mjs.
type theirSite struct {
	Secrets  []string     `json:"secrets"`
	Secure   bool         `json:"secure"`
	BasePath string       `json:"basePath,omitempty"` // empty: /auth
	Issuer   *theirIssuer `json:"issuer,omitempty"`
}

type theirIssuer struct {
	URL    string `json:"url"`
	ID     string `json:"id"`
	Secret string `json:"secret"`
	Fields object `json:"fields,omitempty"` // more of the provider object
}

// atIssuer is one provider as both sites know it.
func atIssuer(iss *latchkeytest.Issuer) (*latchkey.OAuth, *theirIssuer) {
	p := iss.Provider()
	p.Name = "Issuer"
	p.Checks = []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState, latchkey.CheckNonce}
	return p, &theirIssuer{URL: iss.URL, ID: p.ClientID, Secret: p.ClientSecret}
}

// start returns the site's URL.
func (s theirSite) start(t *testing.T) string {
	t.Helper()
	return startPeer(t, "authjs", "site.mjs", string(asJSON(t, s))).url()
}

func credentials() latchkey.Provider {
	return &latchkey.Credentials{
		Fields: []latchkey.Field{{Name: "username"}, {Name: "password", Type: "password"}},
		Authorize: func(_ context.Context, fields map[string]string, _ *latchkey.Request) (latchkey.User, error) {
			if fields["password"] != "lovelace" {
				return latchkey.User{}, latchkey.ErrCredentialsSignin
			}
			name := fields["username"]
			return latchkey.User{ID: "id of " + name, Name: name, Email: name + "@example.com"}, nil
		},
	}
}

func email() latchkey.Provider {
	return &latchkey.Email{Send: func(context.Context, latchkey.Message) error { return nil }}
}

// serve answers requests until the test ends, and returns the URL.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}
