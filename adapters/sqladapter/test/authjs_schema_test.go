package test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// authJS is the SQL that Auth.js asks the users of its PostgreSQL adapter to
// run.
const authJS = `
CREATE TABLE verification_token (
  identifier TEXT NOT NULL,
  expires TIMESTAMPTZ NOT NULL,
  token TEXT NOT NULL,
  PRIMARY KEY (identifier, token)
);
CREATE TABLE accounts (
  id SERIAL,
  "userId" INTEGER NOT NULL,
  type VARCHAR(255) NOT NULL,
  provider VARCHAR(255) NOT NULL,
  "providerAccountId" VARCHAR(255) NOT NULL,
  refresh_token TEXT,
  access_token TEXT,
  expires_at BIGINT,
  id_token TEXT,
  scope TEXT,
  session_state TEXT,
  token_type TEXT,
  PRIMARY KEY (id)
);
CREATE TABLE sessions (
  id SERIAL,
  "userId" INTEGER NOT NULL,
  expires TIMESTAMPTZ NOT NULL,
  "sessionToken" VARCHAR(255) NOT NULL,
  PRIMARY KEY (id)
);
CREATE TABLE users (
  id SERIAL,
  name VARCHAR(255),
  email VARCHAR(255),
  "emailVerified" TIMESTAMPTZ,
  image TEXT,
  PRIMARY KEY (id)
);`

// authJSPasskeys is what sites with passkeys add.
const authJSPasskeys = `
CREATE TABLE authenticators (
  "credentialID" TEXT NOT NULL,
  "userId" INTEGER NOT NULL,
  "providerAccountId" TEXT NOT NULL,
  "credentialPublicKey" TEXT NOT NULL,
  counter BIGINT NOT NULL,
  "credentialDeviceType" TEXT NOT NULL,
  "credentialBackedUp" BOOLEAN NOT NULL,
  transports TEXT,
  PRIMARY KEY ("userId", "credentialID")
);`

// withUUIDs is the same schema as many sites have changed it.
func withUUIDs(schema string) string {
	return strings.NewReplacer(
		"id SERIAL", "id UUID NOT NULL DEFAULT gen_random_uuid()",
		`"userId" INTEGER`, `"userId" UUID`,
	).Replace(schema)
}

// authJSSchemas are those found in the wild.
var authJSSchemas = map[string]string{
	"integer ids":        authJS,
	"UUID ids, passkeys": withUUIDs(authJS + authJSPasskeys),
	"unique indexes":     authJS + `CREATE UNIQUE INDEX ON users (email); CREATE UNIQUE INDEX ON sessions ("sessionToken"); CREATE UNIQUE INDEX ON accounts (provider, "providerAccountId")`,
}

func authJSDatabase(t testing.TB, empty source, schema string) *sql.DB {
	t.Helper()
	db := empty(t)
	for statement := range strings.SplitSeq(schema, ";") {
		if strings.TrimSpace(statement) != "" {
			exec(t, db, statement)
		}
	}
	return db
}

// cannotKeep are the promises for which the schema of Auth.js has no column, or
// a short one.
var cannotKeep = []string{
	"Adapter/the id of a passkey's account fits",
	"AccountAdapter/members without a field of their own survive",
	"AccountAdapter/the e-mail address that came with an account survives",
	"SessionAdapter/how a session was opened survives",
	"SessionAdapter/a renewal keeps how the session was opened",
	"SessionRenewalAdapter/what was proven is kept",
	"SessionAdapter/records are copies", // there is nothing in them that could be shared
	"VerificationTokenAdapter/what a token is for survives",
	"AuthenticatorAdapter/name, model and dates of a passkey survive",
	"RevocationStore", "LeaseStore",
	choosesIDs,
}

// choosesIDs: ids are numbers or UUIDs, and the database's choice.
const choosesIDs = "SessionListAdapter/a session keeps the id that it was given"

func TestAdapterOnAuthJSSchema(t *testing.T) {
	empty := postgresSchemas(servers.Postgres(t))
	for name, schema := range authJSSchemas {
		t.Run(name, func(t *testing.T) {
			db := authJSDatabase(t, empty, schema)
			found := detect(t, db, sqladapter.Postgres)
			if found.Schema != sqlstore.SchemaAuthJS {
				t.Fatalf("detected %q", found.Schema)
			}
			open := engines[1].emptied(db, sqladapter.Options{Layout: found.Layout})
			storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return withoutAbsent(open(t), found) }, cannotKeep...)
			latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return withoutAbsent(open(t), found) })
		})
	}
}

// withoutAbsent hides what the schema has no table for, so that the suite does
// not use it in passing.
func withoutAbsent(a *sqladapter.Adapter, found sqlstore.Found) storage.Adapter {
	if name, renamed := found.Layout.Names["authenticators"]; renamed && name == "" {
		return struct{ bare }{a}
	}
	return struct{ withPasskeys }{a}
}

// bare is every ability that Auth.js' four tables are enough for.
type bare interface {
	storage.Adapter
	storage.SessionAdapter
	storage.SessionListAdapter
	storage.SessionRenewalAdapter
	storage.VerificationTokenAdapter
	storage.AccountAdapter
	storage.AccountWalker
	storage.UserDeletionAdapter
	storage.TxAdapter
	storage.SweepAdapter
}
