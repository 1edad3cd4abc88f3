//go:build linux

package realservers

import (
	"encoding/json"
	"os"
	"syscall"
	"testing"
)

// DexClient is a client that dex knows. Its form is that of dex's configuration.
type DexClient struct {
	ID                     string   `json:"id"`
	Secret                 string   `json:"secret"`
	RedirectURIs           []string `json:"redirectURIs"`
	PostLogoutRedirectURIs []string `json:"postLogoutRedirectURIs"`
	BackchannelLogoutURI   string   `json:"backchannelLogoutURI"` // empty: it is not told of a logout
}

// Dex starts dex, an OpenID provider, and returns its issuer. It knows one person, who
// signs in as ada@example.com with the password "anything". A refresh token is good once.
func Dex(t testing.TB, clients ...DexClient) (issuer string) {
	t.Helper()
	h := newHome(t, "nobody")
	h.as = nil // it runs as root, too
	known, err := json.Marshal(clients)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.dir+"/clients.json", known, 0o600); err != nil {
		t.Fatal(err)
	}
	s := h.serve(t, syscall.SIGTERM, tool(t, "dex"), h.dir)
	s.await(t, func() error {
		text, err := os.ReadFile(h.dir + "/url")
		issuer = string(text)
		return err
	})
	return issuer
}
