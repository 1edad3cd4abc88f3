package interop

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// authJSTables are those of Auth.js' PostgreSQL adapter, with the one for
// passkeys.
const authJSTables = `
CREATE TABLE users (id SERIAL PRIMARY KEY, name VARCHAR(255), email VARCHAR(255), "emailVerified" TIMESTAMPTZ, image TEXT);
CREATE TABLE accounts (
	id SERIAL PRIMARY KEY, "userId" INTEGER NOT NULL, type VARCHAR(255) NOT NULL, provider VARCHAR(255) NOT NULL,
	"providerAccountId" VARCHAR(255) NOT NULL, refresh_token TEXT, access_token TEXT, expires_at BIGINT, id_token TEXT,
	scope TEXT, session_state TEXT, token_type TEXT
);
CREATE TABLE sessions (id SERIAL PRIMARY KEY, "userId" INTEGER NOT NULL, expires TIMESTAMPTZ NOT NULL, "sessionToken" VARCHAR(255) NOT NULL);
CREATE TABLE verification_token (identifier TEXT NOT NULL, expires TIMESTAMPTZ NOT NULL, token TEXT NOT NULL, PRIMARY KEY (identifier, token));
CREATE TABLE authenticators (
	"credentialID" TEXT NOT NULL UNIQUE, "userId" INTEGER NOT NULL, "providerAccountId" TEXT NOT NULL, "credentialPublicKey" TEXT NOT NULL,
	counter BIGINT NOT NULL, "credentialDeviceType" TEXT NOT NULL, "credentialBackedUp" BOOLEAN NOT NULL, transports TEXT,
	PRIMARY KEY ("userId", "credentialID")
);`

// TestPasskeysSharedWithAuthJS has a site of Auth.js and one of ours on one
// database: what one registers signs in at the other, with each algorithm, and
// both see one counter.
func TestPasskeysSharedWithAuthJS(t *testing.T) {
	server := realservers.Postgres(t, false)
	pool, err := pgxpool.New(t.Context(), server.DSN("postgres"))
	ok(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), authJSTables)
	ok(t, err)
	theirs := startPeer(t, "authjs", "passkeys.mjs", string(asJSON(t, map[string]string{"secret": newSecret, "host": server.Dir, "database": "postgres"}))).url()
	ours := passkeySite(t, pool)

	for _, from := range []struct{ name, registers, signsIn string }{
		{"registered by Auth.js", theirs, ours}, {"registered by Latchkey", ours, theirs},
	} {
		for _, algorithm := range []string{"ES256", "EdDSA", "RS256"} {
			t.Run(from.name+", "+algorithm, func(t *testing.T) {
				a := latchkeytest.NewAuthenticator(from.registers)
				a.Algorithm, a.DeviceBound, a.Transports = algorithm, true, []string{"usb", "nfc"}
				email := strings.ToLower(algorithm) + "@" + map[string]string{theirs: "theirs", ours: "ours"}[from.registers] + ".example.com"
				first := latchkeytest.NewClientAt(t, from.registers)
				first.RegisterPasskey(a, email)
				who := first.Session().User
				for _, site := range []string{from.signsIn, from.registers, from.signsIn} {
					a.Origin = site
					browser := latchkeytest.NewClientAt(t, site)
					browser.SignInByPasskey(a, "")
					if got := browser.Session().User; got.Email != who.Email {
						t.Errorf("%s signed in %q, want %q", site, got.Email, who.Email)
					}
					if kept := counterOf(t, pool, a); kept != a.Passkeys()[0].Counter {
						t.Errorf("the row counts %d, want %d", kept, a.Passkeys()[0].Counter)
					}
				}
				typed := latchkeytest.NewClientAt(t, from.signsIn)
				typed.SignInByPasskey(a, email)
			})
		}
	}
}

// passkeySite is ours, on tables of Auth.js.
func passkeySite(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()
	store, err := pgxadapter.New(pool, pgxadapter.Options{Layout: sqlstore.AuthJS()})
	ok(t, err)
	auth := newAuth(t, latchkey.Config{
		Providers: []latchkey.Provider{webauthn.Passkey(latchkey.WebAuthn{})},
		Adapter:   store,
	})
	return latchkeytest.NewClient(t, auth).URL
}

func counterOf(t *testing.T, pool *pgxpool.Pool, a *latchkeytest.Authenticator) (counter uint32) {
	t.Helper()
	id := base64.StdEncoding.EncodeToString(a.Passkeys()[0].ID)
	ok(t, pool.QueryRow(t.Context(), `SELECT counter FROM authenticators WHERE "credentialID" = $1`, id).Scan(&counter))
	return counter
}
