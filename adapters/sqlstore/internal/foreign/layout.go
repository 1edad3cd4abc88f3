package foreign

import (
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// Engine is a kind of database, as sqlstore.Dialect names it.
type Engine string

// The engines.
const (
	Postgres Engine = "postgres"
	MySQL    Engine = "mysql"
	SQLite   Engine = "sqlite"
)

// Times is the form in which instants are kept, as sqlstore.Times names it.
type Times string

// The forms that adapters of Auth.js use.
const (
	Usual      Times = ""
	UTC        Times = "UTC"
	ISO        Times = "ISO"
	MillisText Times = "milliseconds as text"
)

// Layout says how tables are laid out. sqlstore.Layout describes its fields. The
// session tokens of all these layouts are plain.
type Layout struct {
	Names       model.Names
	DatabaseIDs bool
	UUIDs       bool
	Times       Times
	Touched     []string
	Unindexed   bool
}

// leaveOut notes in l.Names that the tables lack the columns, such as "sessions.id". It
// makes Names if that is nil.
func (l *Layout) leaveOut(columns ...string) {
	if l.Names == nil {
		l.Names = model.Names{}
	}
	for _, column := range columns {
		l.Names[column] = ""
	}
}

// snakeName returns a name in lower case with underscores: userId becomes
// user_id, and credentialID becomes credential_id.
func snakeName(name string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(name, "ID", "Id") {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plainName returns a name in lower case and without underscores.
func plainName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
