package sqlstore_test

import (
	"fmt"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

// Tables with names of their own, in a schema of their own.
func ExampleLayout() {
	_ = sqlstore.Layout{Names: map[string]string{
		"users":               "auth.people",
		"users.emailVerified": "confirmed_at",
		"sessions.user_agent": "", // there is no such column
	}}
}

// Programs that run migrations by other means take the statements.
func ExampleSchema() {
	first, _, _ := strings.Cut(sqlstore.Schema(sqlstore.SQLite), "\n")
	fmt.Println(first)
	// Output: CREATE TABLE IF NOT EXISTS users (
}
