package sqlstore

import (
	"context"
	"errors"
	"strings"
)

// field is a column as the database describes it.
type field struct {
	name, kind string // kind: its type, in lower case
	family     string // PostgreSQL: the category of the type; MySQL: the collation
	required   bool   // it is never null
	filled     bool   // the database has a value where none is given
	cut        int    // MySQL, where it is not strict: how many characters it keeps of a longer text; 0: it cuts nothing
	chars      int    // how many characters it takes; 0: any number, or the database does not mind
	bytes      int    // likewise
	reused     bool   // SQLite: the number of a deleted row may be given to a new one
}

// fieldsOf asks for the columns of one table. There is no such table if it has none.
var fieldsOf = map[Dialect]string{
	Postgres: `SELECT a.attname::text, format_type(COALESCE(NULLIF(t.typbasetype, 0), t.oid), NULL), t.typcategory::text,
		CASE WHEN a.attnotnull THEN 1 ELSE 0 END,
		CASE WHEN a.atthasdef OR a.attidentity <> '' OR EXISTS (SELECT FROM pg_trigger g
			WHERE g.tgrelid = a.attrelid AND NOT g.tgisinternal AND g.tgtype & 7 = 7) THEN 1 ELSE 0 END, 0,
		CASE WHEN t.typname IN ('varchar', 'bpchar') AND a.atttypmod > 4 THEN a.atttypmod - 4 ELSE 0 END, 0, 0
		FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
		WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped`,
	MySQL: `SELECT c.column_name, c.data_type, COALESCE(c.collation_name, ''), c.is_nullable = 'NO',
		c.column_default IS NOT NULL OR c.extra LIKE '%auto_increment%' OR c.extra LIKE '%GENERATED%'
		OR EXISTS (SELECT 1 FROM information_schema.triggers g WHERE g.event_object_schema = c.table_schema
			AND g.event_object_table = c.table_name AND g.action_timing = 'BEFORE' AND g.event_manipulation = 'INSERT'),
		IF(INSTR(@@SESSION.sql_mode, 'STRICT_') > 0, 0, LEAST(COALESCE(c.character_maximum_length, 0), 1000000)),
		LEAST(COALESCE(c.character_maximum_length, 0), 1000000000), LEAST(COALESCE(c.character_octet_length, 0), 1000000000), 0
		FROM information_schema.columns c WHERE c.table_schema = COALESCE(NULLIF(?, ''), DATABASE()) AND c.table_name = ?`,
	SQLite: `SELECT name, lower(type), '', "notnull", dflt_value IS NOT NULL OR pk > 0 AND lower(type) = 'integer' OR hidden > 1, 0, 0, 0,
		pk > 0 AND lower(type) = 'integer' AND ?1 IN ('', 'main') AND NOT EXISTS (SELECT 1 FROM sqlite_master m
			WHERE m.type = 'table' AND m.name = ?2 COLLATE NOCASE AND m.sql LIKE '%AUTOINCREMENT%')
		FROM pragma_table_xinfo(?2, NULLIF(?1, ''))`,
}

// keysOf asks for the unique keys of one table: the name of a key and one of its
// columns or expressions. A partial index counts only if it leaves out nothing but
// null in a column of the key. A view has no indexes and is taken to be unique.
var keysOf = map[Dialect]string{
	Postgres: `SELECT i.indexrelid::text, pg_get_indexdef(i.indexrelid, k.n, true)
		FROM pg_index i CROSS JOIN LATERAL generate_series(1, i.indnkeyatts) AS k(n)
		WHERE i.indrelid = to_regclass($1) AND i.indisunique AND i.indisvalid
		AND (i.indpred IS NULL OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND (a.attnum = ANY (i.indkey)
				OR strpos(pg_get_expr(i.indexprs, i.indrelid), '(' || quote_ident(a.attname) || ')') > 0)
			AND pg_get_expr(i.indpred, i.indrelid) = '(' || quote_ident(a.attname) || ' IS NOT NULL)'))
		UNION ALL SELECT 'view', '*' FROM pg_class WHERE oid = to_regclass($1) AND relkind IN ('v', 'f')`,
	MySQL: `SELECT index_name, COALESCE(column_name, '') FROM information_schema.statistics
		WHERE non_unique = 0 AND table_schema = COALESCE(NULLIF(?, ''), DATABASE()) AND table_name = ?`,
	SQLite: `SELECT l.name, COALESCE(i.name, m.sql, '')
		FROM pragma_index_list(?2, NULLIF(?1, '')) l
		JOIN pragma_index_info(l.name, NULLIF(?1, '')) i
		LEFT JOIN sqlite_master m ON m.type = 'index' AND m.name = l.name
		WHERE l."unique" = 1 AND (l.partial = 0 OR EXISTS (SELECT 1 FROM pragma_table_info(?2, NULLIF(?1, '')) k
			WHERE (k.name IN (SELECT name FROM pragma_index_info(l.name, NULLIF(?1, ''))) OR instr(replace(m.sql, '"', ''), '(' || k.name || ')'))
			AND replace(m.sql, '"', '') LIKE '%) WHERE ' || replace(k.name, '_', '\_') || ' IS NOT NULL' ESCAPE '\'))`,
}

// tableArgs returns the arguments of the statements in fieldsOf and keysOf for a table.
// name is what the database calls the table, perhaps with a schema in front.
func (d Dialect) tableArgs(name string) []any {
	if d == Postgres {
		return []any{d.quote(name)}
	}
	schema, table, qualified := strings.Cut(name, ".")
	if !qualified {
		schema, table = "", name
	}
	return []any{schema, table}
}

// readFields returns the columns of a table or view, in no order. table is what the
// database calls it. The list is empty if there is no such table.
func readFields(ctx context.Context, c Conn, d Dialect, table string) (list []field, err error) {
	err = c.Each(ctx, fieldsOf[d], d.tableArgs(table), func(scan func(...any) error) error {
		var f field
		var required, filled, reused int
		err := scan(&f.name, &f.kind, &f.family, &required, &filled, &f.cut, &f.chars, &f.bytes, &reused)
		f.kind, f.required, f.filled, f.reused = strings.ToLower(f.kind), required != 0, filled != 0, reused != 0
		list = append(list, f)
		return err
	})
	return list, err
}

// readKeys returns the columns or expressions of each unique key of a table, by the name
// of the key. table is what the database calls it. Of a view on PostgreSQL it returns one
// key "view" with the column "*".
func readKeys(ctx context.Context, c Conn, d Dialect, table string) (map[string][]string, error) {
	keys := map[string][]string{}
	err := c.Each(ctx, keysOf[d], d.tableArgs(table), func(scan func(...any) error) error {
		var key, column string
		err := scan(&key, &column)
		keys[key] = append(keys[key], column)
		return err
	})
	return keys, err
}

// columnTypes returns the type, in lower case, of each "table.column" in the current
// schema of the connection. On PostgreSQL it adds each "next_auth.table.column" of the
// schema in which Supabase keeps the tables of Auth.js.
func columnTypes(ctx context.Context, c Conn, d Dialect) (map[string]string, error) {
	statement := map[Dialect]string{
		Postgres: `SELECT CASE WHEN table_schema = current_schema() THEN '' ELSE table_schema || '.' END || table_name, column_name::text, data_type::text
			FROM information_schema.columns WHERE table_schema = current_schema() OR table_schema = 'next_auth'`,
		MySQL:  `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = DATABASE()`,
		SQLite: `SELECT t.name, c.name, c.type FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`,
	}[d]
	columns := map[string]string{}
	err := c.Each(ctx, statement, nil, func(scan func(...any) error) error {
		var table, column, kind string
		err := scan(&table, &column, &kind)
		columns[table+"."+column] = strings.ToLower(kind)
		return err
	})
	return columns, err
}

var errUnreadable = errors.New("the tables are there, but the user may not read them: let their owner grant SELECT, INSERT, UPDATE and DELETE on them")

// checkReadable returns errUnreadable if the table users or that of versions exists on
// PostgreSQL and the database user may not read it. PostgreSQL hides the columns of such
// a table, so that it would seem to be missing. checkReadable returns nil on the other
// databases: MySQL tells nothing of such tables, and SQLite has no users.
func checkReadable(ctx context.Context, c Conn, d Dialect) error {
	if d != Postgres {
		return nil
	}
	const statement = `SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND c.relname IN ('users', 'latchkey_migrations')
		AND NOT has_table_privilege(c.oid, 'SELECT') AND NOT has_any_column_privilege(c.oid, 'SELECT')`
	hidden := false
	err := c.Each(ctx, statement, nil, func(scan func(...any) error) error {
		hidden = true
		return scan(new(string))
	})
	if err == nil && hidden {
		return errUnreadable
	}
	return err
}
