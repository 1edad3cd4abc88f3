// Command dex is an OpenID provider for tests: dex as a library, with one person, who has a
// password, and sessions of dex's own. Everything is in memory. The clients are those of the
// file "clients.json" in a folder, in the form of dex's configuration. The program writes its
// issuer to the file "url" there.
//
// It is a module of its own, outside of the workspace: what it requires would
// otherwise choose versions for everybody.
//
//	dex FOLDER
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/server/connectors"
	"github.com/dexidp/dex/server/oauth2"
	"github.com/dexidp/dex/server/session"
	"github.com/dexidp/dex/server/signer"
	"github.com/dexidp/dex/server/tokens"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/memory"
	"github.com/dexidp/dex/web"
	"golang.org/x/crypto/bcrypt"
)

// tokenLife is how long ID tokens and access tokens are valid.
const tokenLife = time.Hour

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: dex FOLDER")
	}
	if err := serve(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, folder string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	issuer := "http://" + l.Addr().String() + "/dex"
	provider, err := newProvider(ctx, issuer, filepath.Join(folder, "clients.json"))
	if err != nil {
		return err
	}
	made := filepath.Join(folder, "url.new")
	if err := os.WriteFile(made, []byte(issuer), 0o600); err != nil {
		return err
	}
	if err := os.Rename(made, filepath.Join(folder, "url")); err != nil {
		return err
	}
	s := &http.Server{Handler: provider, ReadHeaderTimeout: time.Minute}
	return s.Serve(l)
}

// newProvider returns a provider with the clients of a file. Each refresh token is good
// once: a second use ends all that came from it.
func newProvider(ctx context.Context, issuer, clients string) (http.Handler, error) {
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	store := memory.New(logger)
	if err := fill(ctx, store, clients); err != nil {
		return nil, err
	}
	keys := signer.LocalConfig{KeysRotationPeriod: "6h"}
	signs, err := keys.Open(ctx, store, tokenLife, time.Now, logger)
	if err != nil {
		return nil, err
	}
	cookieKey := make([]byte, 32)
	if _, err := rand.Read(cookieKey); err != nil {
		return nil, err
	}
	return server.NewServer(ctx, server.Config{
		Issuer: issuer, Storage: store, Signer: signs, Logger: logger, Web: server.WebConfig{WebFS: web.FS()},
		AllowedGrantTypes:  []string{oauth2.GrantTypeAuthorizationCode, oauth2.GrantTypeRefreshToken},
		SkipApprovalScreen: true, IDTokensValidFor: tokenLife,
		RefreshTokenPolicy: tokens.NewRefreshStrategy(true, 0, 0, 0, time.Now),
		SessionConfig: &session.Config{
			CookieName: "dex_session", CookieEncryptionKey: cookieKey, AbsoluteLifetime: 24 * time.Hour, ValidIfNotUsedFor: time.Hour,
		},
	})
}

// fill stores the clients of a file and the person, whose password is "anything".
func fill(ctx context.Context, store storage.Storage, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var clients []storage.Client
	if err := json.Unmarshal(text, &clients); err != nil {
		return err
	}
	for _, c := range clients {
		if err := store.CreateClient(ctx, c); err != nil {
			return err
		}
	}
	hash, err := bcrypt.GenerateFromPassword([]byte("anything"), 10)
	if err != nil {
		return err
	}
	person := storage.Password{Email: "ada@example.com", Username: "ada", Name: "Ada", UserID: "ada", Hash: hash}
	if err := store.CreatePassword(ctx, person); err != nil {
		return err
	}
	return store.CreateConnector(ctx, storage.Connector{ID: connectors.LocalConnector, Type: connectors.LocalConnector, Name: "Password"})
}
