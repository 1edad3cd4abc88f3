package sqlstore

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
	"github.com/latchkeyhq/latchkey/storage"
)

type stateError string

func (e stateError) Error() string    { return "ERROR: secret (SQLSTATE " + string(e) + ")" }
func (e stateError) SQLState() string { return string(e) }

// longKey is what PostgreSQL says of a key that its index does not take.
type longKey struct{}

func (longKey) Error() string {
	return `ERROR: index row size 3600 exceeds btree version 4 maximum 2704 for index "users_email_key" (SQLSTATE 54000)`
}
func (longKey) SQLState() string { return "54000" }

type codeError int

func (e codeError) Error() string { return "constraint failed: secret" }
func (e codeError) Code() int     { return int(e) }

func TestDriversErrors(t *testing.T) {
	for name, row := range map[string]struct {
		err  error
		kind fault
		code string
	}{
		"PostgreSQL, unique":       {stateError("23505"), unique, "SQLSTATE 23505"},
		"PostgreSQL, no user":      {stateError("28P01"), other, "SQLSTATE 28P01"},
		"PostgreSQL, foreign":      {stateError("23503"), orphan, "SQLSTATE 23503"},
		"PostgreSQL, no integer":   {stateError("22P02"), malformed, "SQLSTATE 22P02"},
		"PostgreSQL, shut down":    {stateError("57P01"), unfit, "SQLSTATE 57P01"},
		"SQLite, unique":           {codeError(2067), unique, "SQLite code 2067"},
		"SQLite, primary key":      {codeError(1555), unique, "SQLite code 1555"},
		"SQLite, busy snapshot":    {codeError(517), locked, "SQLite code 517"},
		"SQLite, text only":        {errors.New("UNIQUE constraint failed: users.secret"), unique, "a *errors.errorString"},
		"MySQL, unique":            {errors.New("Error 1062 (23000): Duplicate entry 'secret'"), unique, "MySQL error 1062"},
		"MySQL, old style":         {errors.New("Error 1062: Duplicate entry 'secret'"), unique, "MySQL error 1062"},
		"PostgreSQL, standby":      {stateError("25006"), unfit, "SQLSTATE 25006"},
		"Galera, node not ready":   {errors.New("Error 1047 (08S01): WSREP has not yet prepared node"), unfit, "MySQL error 1047"},
		"MySQL, deadlock":          {errors.New("Error 1213 (40001): Deadlock found"), conflict, "MySQL error 1213"},
		"no number":                {errors.New("Error secret"), other, "a *errors.errorString"},
		"refused connection":       {&net.OpError{Op: "dial", Err: errors.New("secret")}, other, "the database cannot be reached"},
		"refused by several hosts": {errors.Join(errors.New("secret"), &net.OpError{Op: "dial", Addr: &net.TCPAddr{IP: net.IPv6loopback, Port: 5432}, Err: errors.New("secret")}), other, "the database cannot be reached at [::1]:5432"},
		"several hosts, unclear":   {errors.Join(errors.New("secret"), errors.New("secret")), other, "the database cannot be reached"},
		"MySQL, of several hosts":  {errors.Join(errors.New("secret"), errors.New("Error 1045 (28000): Access denied for 'secret'")), other, "MySQL error 1045"},
		"no TLS, several hosts":    {errors.Join(&net.OpError{Op: "dial", Err: errors.New("secret")}, errors.New("server refused TLS connection")), other, withoutTLS},
		"another certificate":      {&tls.CertificateVerificationError{Err: errors.New("secret")}, other, uncertified},
		"name that is slow":        {&net.DNSError{Name: "secret", IsTimeout: true}, other, "the database did not answer in time"},
		"name that is not found":   {&net.DNSError{Name: "secret", IsNotFound: true}, other, "the database cannot be reached: the name of its host is unknown"},
		"connection of the pool":   {driver.ErrBadConn, other, "driver: bad connection"},
		"transaction that is over": {sql.ErrTxDone, other, sql.ErrTxDone.Error()},
		"closed database":          {errors.New("sql: database is closed"), other, "the database is closed"},
	} {
		t.Run(name, func(t *testing.T) {
			wrapped := fmt.Errorf("secret: %w", row.err)
			kind, code := diagnose(wrapped)
			if kind != row.kind || code != row.code {
				t.Errorf("diagnosed as %d, %q, want %d, %q", kind, code, row.kind, row.code)
			}
			got := fail(t.Context(), "test", wrapped)
			if strings.Contains(got.Error(), "secret") || !errors.Is(got, row.err) {
				t.Errorf("became %v", got)
			}
		})
	}
}

// TestRefusals: the errors of an adapter, and Refusal, say what to do about a code.
func TestRefusals(t *testing.T) {
	for _, row := range []struct {
		err              error
		failure, refusal string
	}{
		{stateError("28P01"), "SQLSTATE 28P01: it refuses the user or the password", "it refuses the user or the password (SQLSTATE 28P01)"},
		{stateError("3D000"), "SQLSTATE 3D000: " + noDatabase, noDatabase + " (SQLSTATE 3D000)"},
		{stateError("42501"), "SQLSTATE 42501: " + lacksRights, lacksRights + " (SQLSTATE 42501)"},
		{errors.New("Error 1049 (42000): Unknown database 'secret'"), "MySQL error 1049: " + noDatabase, noDatabase + " (MySQL error 1049)"},
		{errors.New("Error 1040: Too many connections"), "MySQL error 1040: " + tooMany, tooMany + " (MySQL error 1040)"},
		{codeError(270), "SQLite code 270: " + noFile, noFile + " (SQLite code 270)"},
		{stateError("XX000"), "SQLSTATE XX000", ownFault + " (SQLSTATE XX000)"},
		{longKey{}, "SQLSTATE 54000: the index users_email_key takes no key of more than 2704 bytes", "the index users_email_key takes no key of more than 2704 bytes (SQLSTATE 54000)"},
		{errors.New("Error 1406 (22001): Data too long for column 'name' at row 1"), "MySQL error 1406: the column name is too short for this", "the column name is too short for this (MySQL error 1406)"},
		{
			errors.New("Error 1292 (22007): Incorrect datetime value: 'secret' for column `db`.`t`.`expires` at row 1"),
			"MySQL error 1292: the column db.t.expires does not take a time of this form or range", "the column db.t.expires does not take a time of this form or range (MySQL error 1292)",
		},
		{errors.New("server refused TLS connection"), withoutTLS, withoutTLS},
		{errUnreadable, errUnreadable.Error(), errUnreadable.Error()},
		{driver.ErrBadConn, "driver: bad connection", ""},
	} {
		err := fail(t.Context(), "test", row.err)
		if got := err.Error(); got != "sql: test: "+row.failure {
			t.Errorf("failure %q, want %q", got, row.failure)
		}
		if got := Refusal(err); got != row.refusal || Refusal(row.err) != got {
			t.Errorf("refusal %q, want %q", got, row.refusal)
		}
	}
	for code, want := range map[string]string{ // no code stands alone
		"SQLSTATE 42P01": lacksTables, "SQLSTATE 25006": onlyReads, "SQLSTATE 53100": lacksRoom, "SQLSTATE 40001": othersFirst, "SQLSTATE ZZ999": ownReason,
		"MySQL error 1146": lacksTables, "MySQL error 1290": onlyReads, "MySQL error 9999": ownReason, "SQLite code 267": ownFault, "SQLite code 99": ownReason,
	} {
		if got := explain(code); got != want {
			t.Errorf("R-677 %s: %q, want %q", code, got, want)
		}
	}
	if got := Refusal(nil); got != "" {
		t.Errorf("no error is %q", got)
	}
}

// errors that pass by themselves are distinguished from those that the
// operator has to fix.
func TestWhatPasses(t *testing.T) {
	for _, row := range []struct {
		err    error
		passes bool
	}{
		{stateError("57P03"), true},
		{stateError("53300"), true},
		{stateError("25006"), true},
		{errors.New("Error 1040: Too many connections"), true},
		{errors.New("Error 1047 (08S01): WSREP has not yet prepared node"), true},
		{errors.New("invalid connection"), true},
		{codeError(5), true},
		{driver.ErrBadConn, true},
		{stateError("28P01"), false},
		{stateError("42P01"), false},
		{errors.New("Error 1045 (28000): Access denied for 'secret'"), false},
		{codeError(26), false},
		{errors.New("sql: database is closed"), false},
	} {
		if err := (redacted{fail(t.Context(), "test", row.err)}); errors.Is(err, storage.ErrUnavailable) != row.passes {
			t.Errorf("%v: want %t", row.err, row.passes)
		}
	}
}

// redacted is an error as the library passes it on: it is recognized and its text
// shows nothing.
type redacted struct{ cause error }

func (s redacted) Error() string        { return "withheld" }
func (s redacted) Is(target error) bool { return errors.Is(s.cause, target) }
func (s redacted) As(target any) bool   { return errors.As(s.cause, target) }

// TestFaultsOfTransactions: S-067, what a statement of a transaction met is
// recognized when it comes back from the function that the library ran in it.
func TestFaultsOfTransactions(t *testing.T) {
	for kind, driver := range map[fault]error{
		conflict: errors.New("Error 1213 (40001): Deadlock found"),
		unfit:    errors.New("Error 1047 (08S01): WSREP has not yet prepared node"),
		unique:   stateError("23505"),
		locked:   codeError(5),
	} {
		if err := (redacted{fail(t.Context(), "test", driver)}); !is(err, kind) {
			t.Errorf("%v is not recognized", driver)
		}
	}
}

func TestFailKeepsTheContractsWords(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if err := fail(ctx, "test", nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	if err := fail(ctx, "test", fmt.Errorf("x: %w", storage.ErrNotFound)); err != storage.ErrNotFound {
		t.Errorf("ErrNotFound became %v", err)
	}
	first := fail(ctx, "first", stateError("57P01"))
	if second := fail(ctx, "second", first); second != first {
		t.Errorf("a failure was wrapped twice: %v", second)
	}
	cancel()
	if err := fail(ctx, "test", storage.ErrNotFound); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "not found") {
		t.Errorf("after the end of the context: %v", err)
	}
}

func TestStatements(t *testing.T) {
	for name, row := range map[string]struct {
		d         Dialect
		names     map[string]string
		statement string
		want      string
	}{
		"PostgreSQL":               {Postgres, nil, `SELECT {users.id} FROM {users} WHERE {users.emailVerified} = ? OR ?`, `SELECT "id" FROM "users" WHERE "emailVerified" = $1 OR $2`},
		"MySQL":                    {MySQL, nil, `SELECT {users.id} FROM {users} WHERE {users.emailVerified} = ?`, "SELECT `id` FROM `users` WHERE `emailVerified` = ?"},
		"a schema in front":        {Postgres, map[string]string{"users": "auth.people"}, `{users}`, `"auth"."people"`},
		"a quote cannot break out": {SQLite, map[string]string{"users": `x"; DROP TABLE y; --`}, `{users}`, `"x""; DROP TABLE y; --"`},
		"rows of an alias":         {SQLite, nil, `{v.verification_token.*}`, `v."identifier", v."token", v."expires", COALESCE(v."purpose", '')`},
		"a column that is absent":  {Postgres, map[string]string{"verification_token.purpose": ""}, `{verification_token.*}`, `"identifier", "token", "expires"`},
		"an instant that is absent": {
			Postgres,
			map[string]string{"authenticators": "k", "authenticators.created": ""},
			`{authenticators.*}`,
			`"credentialID", "userId"::text, "providerAccountId", "credentialPublicKey", "counter", "credentialDeviceType", "credentialBackedUp", ` +
				`COALESCE("transports", ''), COALESCE("name", ''), COALESCE("aaguid", ''), "used", COALESCE("user_handle", '')`,
		},
		"all that Auth.js lacks": {
			Postgres, AuthJS().Names, `{accounts.*}; {sessions.*}`,
			`COALESCE("id"::text, ''), "userId"::text, "type", "provider", "providerAccountId", COALESCE("refresh_token", ''), COALESCE("access_token", ''), ` +
				`COALESCE("expires_at", 0), COALESCE("id_token", ''), COALESCE("scope", ''), COALESCE("session_state", ''), COALESCE("token_type", ''); ` +
				`COALESCE("id"::text, ''), "userId"::text, "sessionToken", "expires"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (grammar{form: form{dialect: row.d}, names: row.names}).sql(row.statement); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// TestSchemasAgree reads the columns out of each schema and out of the tables.
func TestSchemasAgree(t *testing.T) {
	for _, d := range []Dialect{Postgres, MySQL, SQLite} {
		schema := Schema(d)
		for _, of := range model.Tables {
			table, columns := of.Name, of.Columns
			_, after, found := strings.Cut(schema, "CREATE TABLE IF NOT EXISTS "+table+" (")
			body, _, _ := strings.Cut(after, "\n)")
			if !found {
				t.Errorf("%s has no table %s", d, table)
			}
			for _, c := range columns {
				later := strings.Contains(after, "ALTER TABLE "+table+" ADD COLUMN "+c.Name+" ") ||
					strings.Contains(after, "ALTER TABLE "+table+" ADD COLUMN IF NOT EXISTS "+c.Name+" ")
				if c.Presence != model.ForeignOnly && !later && !strings.Contains(body, "\t"+c.Name+" ") && !strings.Contains(body, "\t"+d.quote(c.Name)+" ") {
					t.Errorf("%s has no column %s.%s", d, table, c.Name)
				}
			}
		}
	}
}
