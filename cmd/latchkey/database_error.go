package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
)

// What databases refuse, and what to do about it.
const (
	refusedUser  = "it refuses the user or the password"
	noAccess     = "the user may not enter this database, or there is none of this name"
	lacksRights  = "the user lacks the rights for this: let the owner of the database do it"
	noSchema     = "there is no schema to work in: create the one that search_path names, and let the user create tables in it"
	noDatabase   = "there is no database of this name: create it first"
	nobodyThere  = "nobody answers there: is it running, and are host and port right?"
	tooSlow      = "it does not answer in time"
	noFile       = "the file is not there or cannot be opened; `latchkey migrate` makes it, but not its folder"
	notSQLite    = "the file is no SQLite database"
	mayNotWrite  = "the file may not be written to"
	locked       = "somebody else is using it: try again"
	brokenAnswer = "the connection failed: check host, port and TLS settings"
)

var (
	postgresReasons = map[string]string{"28P01": refusedUser, "28000": refusedUser, "3D000": noDatabase, "3F000": noSchema, "42501": lacksRights, "55P03": locked}
	mysqlReasons    = map[uint16]string{1045: refusedUser, 1044: noAccess, 1698: refusedUser, 1049: noDatabase, 1142: lacksRights, 1227: lacksRights, 1205: locked}
	sqliteReasons   = map[int]string{14: noFile, 26: notSQLite, 8: mayNotWrite, 5: locked}
)

// explain says why a database cannot be reached, without the sentences of the
// drivers: they quote connection settings.
func (d database) explain(err error) error {
	text := reason(err)
	if text == "" {
		text = brokenAnswer
	}
	return fmt.Errorf("%s: %s", d.where, text)
}

// failed says why the adapter could not do its work. Its own errors quote
// nothing, so that they may stand where there is no better text.
func (d database) failed(err error) error {
	text := reason(err)
	if text == "" {
		text = err.Error()
	}
	return fmt.Errorf("%s: %s", d.where, text)
}

// reason is empty for what has no better one.
func reason(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return known(postgresReasons[e.Code], "SQLSTATE "+e.Code)
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return known(mysqlReasons[e.Number], fmt.Sprintf("MySQL error %d", e.Number))
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return known(sqliteReasons[e.Code()&0xff], fmt.Sprintf("SQLite code %d", e.Code()))
	}
	network, isNetwork := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, context.DeadlineExceeded), isNetwork && network.Timeout():
		return tooSlow
	case isNetwork:
		return nobodyThere
	}
	return ""
}

// known is a reason with its code, or the code alone.
func known(text, code string) string {
	if text == "" {
		return "it answers with " + code
	}
	return text + " (" + code + ")"
}
