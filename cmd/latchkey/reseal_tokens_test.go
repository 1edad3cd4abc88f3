package main

import (
	"database/sql"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

var someGrant = vault.Grant{Issuer: "https://issuer.example", Client: "client"}

// newPostgresSite is a factorSite on PostgreSQL.
func newPostgresSite(t *testing.T) *factorSite {
	address := startPostgres(t)
	s := &factorSite{T: t, env: environment{"DATABASE_URL=" + address, "AUTH_URL=https://app.example/auth"}}
	if out, code := s.run("migrate"); code != exitOK {
		t.Fatal(out)
	}
	u, err := url.Parse(address)
	s.must(err)
	db, err := sql.Open("pgx", "host="+u.Query().Get("host")+" user=latchkey password=hunter2 dbname=postgres sslmode=disable")
	s.must(err)
	t.Cleanup(func() { _ = db.Close() })
	s.store, err = sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{})
	s.must(err)
	return s
}

// accounts is where the accounts of s are.
func (s *factorSite) accounts() grantStore {
	if s.grants != nil {
		return s.grants
	}
	return s.store
}

func (s *factorSite) account(id string) storage.Account {
	s.Helper()
	a, err := s.accounts().GetAccount(s.Context(), "issuer", id)
	s.must(err)
	return a
}

// seals returns the seals of a key; empty: those that leave tokens in clear.
func (s *factorSite) seals(key string) *vault.Seals {
	s.Helper()
	var keys []string
	if key != "" {
		keys = append(keys, key)
	}
	seals, err := vault.NewSeals(keys, key == "")
	s.must(err)
	return seals
}

// seal returns a token of an account, sealed under a key; empty: in clear.
func (s *factorSite) seal(id, key, field, token string) string {
	s.Helper()
	return s.seals(key).Seal(vault.Place{Provider: "issuer", AccountID: id, Field: field}, someGrant, token)
}

// sealed returns the tokens of an account as connect stores them.
func (s *factorSite) sealed(id, key string) storage.Tokens {
	s.Helper()
	seal := func(field string) string { return s.seal(id, key, field, field+" of "+id) }
	return storage.Tokens{AccessToken: seal("access_token"), RefreshToken: seal("refresh_token"), Scope: "one", ExpiresAt: time.Unix(1_900_000_000, 0)}
}

// connect stores an account whose tokens are sealed under a key; empty: in clear.
func (s *factorSite) connect(id, key string) {
	s.Helper()
	u, err := s.accounts().CreateUser(s.Context(), storage.User{Email: id + "@example.com"})
	s.must(err)
	s.must(s.accounts().LinkAccount(s.Context(), storage.Account{
		UserID: u.ID, Provider: "issuer", ProviderAccountID: id, Type: storage.TypeOIDC, Tokens: s.sealed(id, key),
	}))
}

// opens fails the test unless the tokens of an account open with a key and nothing else has
// changed. An empty key wants them in clear.
func (s *factorSite) opens(id, key string) {
	s.Helper()
	a := s.account(id)
	seals := s.seals(key)
	for field, value := range map[string]string{"access_token": a.Tokens.AccessToken, "refresh_token": a.Tokens.RefreshToken} {
		token, grant, err := seals.Open(vault.Place{Provider: "issuer", AccountID: id, Field: field}, value)
		if err != nil || token != field+" of "+id || key != "" && grant != someGrant || (vault.KeyIDOf(value) == "") != (key == "") {
			s.Errorf("%s of %s: %q, %v", field, id, token, err)
		}
	}
	if a.Tokens.Scope != "one" || a.Tokens.ExpiresAt.Unix() != 1_900_000_000 {
		s.Errorf("scope %q, expiry %v", a.Tokens.Scope, a.Tokens.ExpiresAt)
	}
}

// TestResealTokens: provider tokens are sealed anew under the newest key, and the doctor
// counts what is not (T-040).
func TestResealTokens(t *testing.T) {
	for name, begin := range map[string]func(*testing.T) *factorSite{"SQLite": newFactorSite, "PostgreSQL": newPostgresSite} {
		t.Run("T-040 "+name, func(t *testing.T) {
			s := begin(t)
			s.env = append(s.env, "AUTH_SECRET="+olderSecret)
			if out, _ := s.run("doctor"); strings.Contains(out, "tokens:") {
				t.Errorf("a site without tokens gets a line: %s", out)
			}
			s.connect("ada", olderSecret)
			s.says(exitOK, "OK    tokens: 1 account with provider tokens, all under the newest key", "doctor")
			s.env = append(s.env[:2:2], "AUTH_SECRET_1="+newerSecret, "AUTH_SECRET="+olderSecret)
			s.connect("bob", newerSecret)
			s.connect("eve", "")
			s.says(exitOK, "WARN  tokens: 1 of 3 accounts with provider tokens are sealed under an older key", "doctor")
			s.says(exitOK, "WARN  tokens: 1 of 3 accounts with provider tokens are not sealed", "doctor")
			s.says(exitOK, "sealed the tokens of 1 of 3 accounts anew under the newest key.", "reseal")
			s.says(exitOK, "sealed the tokens of 0 of 3 accounts", "reseal")
			s.opens("ada", newerSecret)
			s.opens("bob", newerSecret)
			s.opens("eve", "")

			s.env = append(s.env[:2:2], "AUTH_SECRET="+olderSecret, "TOKEN_KEY="+newerSecret)
			s.says(exitProblem, "FAIL  tokens: 2 of 3 accounts with provider tokens are sealed under the key ", "doctor")
			s.says(exitProblem, "the tokens of 2 accounts open with no key", "reseal")
			s.opens("ada", newerSecret)
			s.says(exitUsage, "the environment has no OTHER_KEY", "reseal", "--token-key", "OTHER_KEY")
			s.says(exitOK, "sealed the tokens of 2 of 3 accounts no more.", "reseal", "--plain", "--token-key", "TOKEN_KEY")
			for _, id := range []string{"ada", "bob", "eve"} {
				s.opens(id, "")
			}
		})
	}
	t.Run("R-696 an account that the site changes each time is reported", func(t *testing.T) {
		s := newFactorSite(t)
		s.env = append(s.env, "AUTH_SECRET_1="+newerSecret, "AUTH_SECRET="+olderSecret)
		s.connect("ada", olderSecret)
		db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(s.env.get("DATABASE_URL"), "sqlite:"))
		s.must(err)
		defer func() { _ = db.Close() }()
		_, err = db.ExecContext(t.Context(), `CREATE TRIGGER busy BEFORE UPDATE ON accounts BEGIN SELECT RAISE(IGNORE); END`)
		s.must(err)
		s.says(exitProblem, "sealed the tokens of 0 of 1 account anew", "reseal")
		s.says(exitProblem, "the site changed the tokens of 1 account meanwhile: run latchkey reseal again", "reseal")
	})
	t.Run("T-040 many accounts", func(t *testing.T) {
		s := newFactorSite(t)
		s.env = append(s.env, "AUTH_SECRET_1="+newerSecret, "AUTH_SECRET="+olderSecret)
		const n = 203 // more than are read at once
		for i := range n {
			s.connect("user"+strconv.Itoa(i), olderSecret)
		}
		s.says(exitOK, "sealed the tokens of "+strconv.Itoa(n)+" of "+strconv.Itoa(n)+" accounts", "reseal")
		s.opens("user0", newerSecret)
		s.opens("user"+strconv.Itoa(n-1), newerSecret)
	})
}
