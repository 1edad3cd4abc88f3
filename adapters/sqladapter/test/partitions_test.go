package test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestPartitions: S-009, sessions in sixteen partitions by token, and links in
// partitions by expiry. The keys of a partitioned table have to have the column it
// is partitioned by.
func TestPartitions(t *testing.T) {
	e := engines[1]
	db := e.migrated(t, e.start(t))
	partition(t, db)
	empty := e.emptied(db, sqladapter.Options{})
	storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return empty(t) }, promises(partitionExceptions)...)
	latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return empty(t) })
	storagetest.TestStores(t, func(t *testing.T) any { return empty(t) })
}

// partition makes sixteen partitions of the sessions, and two of the links.
func partition(t testing.TB, db *sql.DB) {
	t.Helper()
	exec(t, db, "ALTER TABLE sessions RENAME TO sessions_before", "ALTER TABLE verification_token RENAME TO verification_token_before",
		`CREATE TABLE sessions (LIKE sessions_before INCLUDING DEFAULTS, PRIMARY KEY (id, "sessionToken"), UNIQUE ("sessionToken"),
			FOREIGN KEY ("userId") REFERENCES users (id) ON DELETE CASCADE) PARTITION BY HASH ("sessionToken")`,
		`CREATE INDEX ON sessions ("userId")`, `CREATE INDEX ON sessions (expires)`,
		`CREATE TABLE verification_token (LIKE verification_token_before, PRIMARY KEY (identifier, token, expires)) PARTITION BY RANGE (expires)`,
		"CREATE TABLE verification_token_old PARTITION OF verification_token FOR VALUES FROM (MINVALUE) TO ('2026-01-01')",
		"CREATE TABLE verification_token_new PARTITION OF verification_token FOR VALUES FROM ('2026-01-01') TO (MAXVALUE)",
		"DROP TABLE sessions_before, verification_token_before")
	for i := range 16 {
		exec(t, db, fmt.Sprintf("CREATE TABLE sessions_%d PARTITION OF sessions FOR VALUES WITH (MODULUS 16, REMAINDER %d)", i, i))
	}
}
