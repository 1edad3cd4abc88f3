package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

// TestDoctorOnAnOlderSchema: R-776, the doctor says at which version a database is and
// which one it needs, and that it has not asked the running site.
func TestDoctorOnAnOlderSchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "auth.db")
	s := newPeopleSite(t, "sqlite:"+file)
	s.says(exitOK, "latchkey doctor --site URL, with --instances URL", "doctor")
	db, err := sql.Open("sqlite", "file:"+file)
	s.must(err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(t.Context(), "DELETE FROM latchkey_migrations WHERE version > 6")
	s.must(err)
	s.says(exitProblem, fmt.Sprintf("it is at version 6, and needs version %d. Run `latchkey migrate`", sqlstore.Version(sqladapter.SQLite)), "doctor")
	s.says(exitProblem, "it is at version 6; `latchkey migrate` brings it to version", "migrate", "--check")
}
