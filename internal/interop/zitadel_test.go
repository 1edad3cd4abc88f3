package interop

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/latchkeyhq/latchkey"
)

// relations is the storage of the example provider, but for how each client
// proves itself and what its ID tokens hold.
type relations struct {
	*storage.Storage

	methods map[string]oidc.AuthMethod
	site    *site            // of the clients
	lean    string           // the client whose ID tokens are without a profile
	key     *jose.JSONWebKey // of the client that signs
}

// relation is a client with what relations knows about it.
type relation struct {
	op.Client

	method oidc.AuthMethod
	full   bool
	back   string // where the browser comes back to after a sign-out
}

func (r relation) AuthMethod() oidc.AuthMethod          { return r.method }
func (r relation) IDTokenUserinfoClaimsAssertion() bool { return r.full }
func (r relation) PostLogoutRedirectURIs() []string     { return []string{r.back} }

func (r relations) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	known, err := r.Storage.GetClientByClientID(ctx, id)
	if err != nil {
		return nil, err
	}
	return relation{known, r.methods[id], id != r.lean, r.site.signedOut(id)}, nil
}

func (r relations) GetKeyByIDAndClientID(context.Context, string, string) (*jose.JSONWebKey, error) {
	return r.key, nil
}

// TestZitadel signs in at the example provider of zitadel/oidc. Its issuer ends
// in a slash, and its ID tokens come without a profile unless asked for.
func TestZitadel(t *testing.T) {
	key, s := rsaKey(t), newSite(t)
	const name = "Test User"
	clients := []client{
		{id: "basic", name: "client_secret_basic", named: name},
		{id: "post", name: "client_secret_post", set: func(p *latchkey.OAuth) { p.ClientAuth = latchkey.ClientSecretPost }, named: name},
		{id: "signed", name: "private_key_jwt", set: func(p *latchkey.OAuth) {
			p.ClientAuth, p.SigningKey = latchkey.PrivateKeyJWT, latchkey.SigningKey{Key: key, KeyID: "mine"}
		}, named: name},
		{id: "none", name: "none", set: func(p *latchkey.OAuth) { p.ClientAuth = latchkey.ClientAuthNone }, named: name},
		{id: "posted", name: "form_post", set: func(p *latchkey.OAuth) { p.ResponseMode = "form_post" }, named: name},
		{id: "lean", name: "userinfo", set: func(p *latchkey.OAuth) { p.ProfileFromUserInfo = true }, named: name},
		{id: "wrong", name: "a wrong secret", set: func(p *latchkey.OAuth) { p.ClientSecret += "!" }, refused: "Configuration"},
		{id: "wrongkey", name: "a wrong key", set: func(p *latchkey.OAuth) {
			p.ClientAuth, p.SigningKey = latchkey.PrivateKeyJWT, latchkey.SigningKey{Key: rsaKey(t), KeyID: "mine"}
		}, refused: "Configuration"},
	}
	s.open(t, serveZitadel(t, s, clients, &jose.JSONWebKey{Key: key.Public(), KeyID: "mine", Use: "sig"}), clients)
	types := map[string]string{"username": "test-user@127.0.0.1", "password": "verysecure"}
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			s.signIn(t, c, types, nil)
			if c.refused == "" {
				s.remembered(t, c, "id1", "test-user@zitadel.ch")
			}
		})
	}
}

// serveZitadel starts the provider and returns its issuer.
func serveZitadel(t *testing.T, s *site, clients []client, key *jose.JSONWebKey) (issuer string) {
	t.Helper()
	known := map[string]*storage.Client{}
	store := relations{site: s, lean: "lean", key: key, methods: map[string]oidc.AuthMethod{}}
	for _, c := range clients {
		known[c.id] = storage.WebClient(c.id, secretOf(c.id), s.callback(c))
		store.methods[c.id] = oidc.AuthMethodBasic
	}
	store.methods["post"], store.methods["none"] = oidc.AuthMethodPost, oidc.AuthMethodNone
	store.methods["signed"], store.methods["wrongkey"] = oidc.AuthMethodPrivateKeyJWT, oidc.AuthMethodPrivateKeyJWT

	server := httptest.NewUnstartedServer(nil)
	t.Cleanup(server.Close)
	issuer = "http://" + server.Listener.Addr().String() + "/"
	store.Storage = storage.NewStorageWithClients(storage.NewUserStore(issuer), known)
	// The server makes the logger the process's default one.
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	server.Config.Handler = exampleop.SetupServer(issuer, store, slog.New(slog.NewTextHandler(t.Output(), nil)), false)
	server.Start()
	return issuer
}
