package sqlstore

import (
	"context"
	"fmt"
	"strings"
)

// Violation is a rule of the schema that rows of a database break.
type Violation struct {
	Table string
	Rule  string // such as "email is unique"
	Rows  int    // how many values, or rows, break it
}

// ViolationError has every rule that an existing database breaks. Its text has
// no values of rows.
type ViolationError struct{ Violations []Violation }

// Error names every rule that is broken, and how often. It has no values of rows.
func (e *ViolationError) Error() string {
	list := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		list[i] = fmt.Sprintf("%s: %s (%d)", v.Table, v.Rule, v.Rows)
	}
	return "sql: rows break rules of the schema, nothing was changed: " + strings.Join(list, "; ")
}

// rule is a demand of a key and the statement that counts the rows that break it.
type rule struct{ table, demand, count string }

// rules are the demands of the keys of an adopted schema.
var rules = []rule{
	{
		"users", "e-mail addresses are unique, however they are cased",
		`SELECT count(*) FROM (SELECT 1 FROM users WHERE email <> '' GROUP BY lower(translate(email, 'I', 'i')) HAVING count(*) > 1) twice`,
	},
	{
		"accounts", "provider and providerAccountId are unique",
		`SELECT count(*) FROM (SELECT 1 FROM accounts GROUP BY provider, "providerAccountId" HAVING count(*) > 1) twice`,
	},
	{
		"sessions", "sessionToken is unique",
		`SELECT count(*) FROM (SELECT 1 FROM sessions GROUP BY "sessionToken" HAVING count(*) > 1) twice`,
	},
	{
		"accounts", "every userId is a user's",
		`SELECT count(*) FROM accounts a WHERE NOT EXISTS (SELECT FROM users u WHERE u.id = a."userId")`,
	},
	{
		"sessions", "every userId is a user's",
		`SELECT count(*) FROM sessions s WHERE NOT EXISTS (SELECT FROM users u WHERE u.id = s."userId")`,
	},
}

var (
	tokenRule = rule{
		"verification_token", "identifier and token are unique",
		`SELECT count(*) FROM (SELECT 1 FROM verification_token GROUP BY identifier, token HAVING count(*) > 1) twice`,
	}
	passkeyRules = []rule{
		{
			"authenticators", "credentialID is unique",
			`SELECT count(*) FROM (SELECT 1 FROM authenticators GROUP BY "credentialID" HAVING count(*) > 1) twice`,
		},
		{
			"authenticators", "every userId is a user's",
			`SELECT count(*) FROM authenticators a WHERE NOT EXISTS (SELECT FROM users u WHERE u.id = a."userId")`,
		},
	}
)

// adopt turns the tables of Auth.js' adapter for PostgreSQL into ours of adoptedVersion. It
// locks users, accounts and sessions against writes. If rows break the new keys, it returns a
// *ViolationError and has changed nothing. tx is a transaction: the caller rolls it back after
// an error.
func adopt(ctx context.Context, tx Conn) error {
	columns, err := columnTypes(ctx, tx, Postgres)
	if err != nil {
		return err
	}
	// No other transaction may break a rule between the check and the new key.
	if _, err := tx.Exec(ctx, `LOCK TABLE users, accounts, sessions IN SHARE ROW EXCLUSIVE MODE`); err != nil {
		return err
	}
	broken, err := violations(ctx, tx, columns)
	switch {
	case err != nil:
		return err
	case broken != nil:
		return broken
	}
	statements, err := statementsIn(adoptFile)
	if err != nil {
		return err
	}
	return run(ctx, tx, Postgres, statements)
}

// adoptFile has the statements that turn the schema of Auth.js into ours of
// adoptedVersion. Later steps are run as in our own tables.
const (
	adoptFile      = "schema/postgres/adopt.sql"
	adoptedVersion = 3
)

// violations counts the rows that break the rules of an adopted schema. columns are those
// of columnTypes: the rules of a table that does not exist are skipped, except those of
// users, accounts and sessions. violations returns nil and no error if no rows break a
// rule.
func violations(ctx context.Context, c Conn, columns map[string]string) (*ViolationError, error) {
	check := rules
	if columns["verification_token.token"] != "" {
		check = append(check[:len(check):len(check)], tokenRule)
	}
	if columns["authenticators.credentialID"] != "" {
		check = append(check[:len(check):len(check)], passkeyRules...)
	}
	var broken ViolationError
	for _, r := range check {
		var n int
		if err := c.One(ctx, r.count, nil, &n); err != nil {
			return nil, err
		}
		if n > 0 {
			broken.Violations = append(broken.Violations, Violation{r.table, r.demand, n})
		}
	}
	if len(broken.Violations) == 0 {
		return nil, nil
	}
	return &broken, nil
}
