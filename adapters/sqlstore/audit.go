package sqlstore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Audit implements [storage.AuditAdapter]. Its calls return an
// [errors.ErrUnsupported] if the layout has no table for the audit log.
func (s *Store) Audit() storage.AuditStore { return auditLog{s.db} }

// auditLog stores the records of the audit log.
type auditLog struct{ db *database }

const (
	mostAppended = 16   // rows that one statement adds
	mostErased   = 1000 // rows that one statement erases
)

// auditRow is what a row of the audit log is read into.
type auditRow struct {
	r              storage.AuditRecord
	at             instant
	data, personal string
}

// dest returns a destination in r for each column of audit_events, in the order of
// package model. The caller passes the list to database.into.
func (r *auditRow) dest() []any {
	v := &r.r
	return []any{&v.ID, &v.Type, &v.Outcome, &r.at, &v.Tenant, &v.UserID, &v.SessionID, &v.Client, &r.data, &r.personal}
}

// read returns the record of the row. Its Personal is nil if the column is null.
func (r *auditRow) read() storage.AuditRecord {
	v := r.r
	v.Time, v.Data = r.at.t, []byte(r.data)
	if r.personal != "" {
		v.Personal = []byte(r.personal)
	}
	return v
}

// Append implements [storage.AuditStore]. It adds up to mostAppended records by one statement,
// and more in one transaction, so that it stores all of them or none.
func (s auditLog) Append(ctx context.Context, records []storage.AuditRecord) error {
	err := errors.Join(ctx.Err(), s.db.needs("audit_events"))
	switch {
	case err != nil || len(records) == 0:
	case len(records) <= mostAppended:
		err = s.append(ctx, s.db, records)
	default:
		err = s.db.tx(ctx, func(tx *database) error {
			for rest := records; len(rest) > 0; {
				n := min(len(rest), mostAppended)
				if err := s.append(ctx, tx, rest[:n]); err != nil {
					return err
				}
				rest = rest[n:]
			}
			return nil
		})
	}
	return fail(ctx, "append to the audit log", err)
}

// append adds records in one statement. It skips records with an id that is stored already.
// records has at least one and at most mostAppended.
func (s auditLog) append(ctx context.Context, db *database, records []storage.AuditRecord) error {
	in := db.q.audit.insert
	var args []any
	for _, r := range records {
		row := []any{
			r.ID, r.Type, r.Outcome, db.q.forms["audit_events"].arg(r.Time), null(r.Tenant), null(r.UserID), null(r.SessionID), null(r.Client),
			string(r.Data), null(string(r.Personal)),
		}
		if err := db.fits(ctx, in, row); err != nil {
			return err
		}
		args = append(args, db.layout.args(in, row)...)
	}
	_, err := db.conn.Exec(ctx, db.q.audit.append[len(records)], args...)
	return err
}

// List implements [storage.AuditStore]. A filter with a text that no database can hold
// matches nothing.
func (s auditLog) List(ctx context.Context, q storage.AuditQuery) (list []storage.AuditRecord, err error) {
	err = errors.Join(ctx.Err(), s.db.needs("audit_events"))
	if err != nil || !findable(q.Tenant, q.UserID, q.Type, q.Outcome, q.Client, q.AfterID) {
		return nil, fail(ctx, "list the audit log", err)
	}
	where, args := joined(s.conditions(&q))
	statement := s.db.layout.sql(`SELECT {audit_events.*} FROM {audit_events}` + where + ` ORDER BY {audit_events.time} DESC, {audit_events.id} DESC LIMIT ?`)
	err = s.db.conn.Each(ctx, statement, append(args, q.Limit), func(scan func(...any) error) error {
		var row auditRow
		err := scan(s.db.into("audit_events", row.dest())...)
		list = append(list, row.read())
		return err
	})
	return list, fail(ctx, "list the audit log", err)
}

// conditions returns a condition for each filter of q that is not empty, and one for
// AfterTime with AfterID.
func (s auditLog) conditions(q *storage.AuditQuery) (all []condition) {
	at := s.db.q.forms["audit_events"].arg
	add := func(wanted bool, sql string, args ...any) {
		if wanted {
			all = append(all, condition{sql, args})
		}
	}
	family := strings.HasSuffix(q.Type, ".")
	add(q.Tenant != "", `{audit_events.tenant} = ?`, q.Tenant)
	add(q.UserID != "", `{audit_events.user_id} = ?`, q.UserID)
	add(q.Type != "" && !family, `{audit_events.type} = ?`, q.Type)
	add(family, `{audit_events.type} >= ? AND {audit_events.type} < ?`, q.Type, storage.AfterPrefix(q.Type))
	add(q.Outcome != "", `{audit_events.outcome} = ?`, q.Outcome)
	add(q.Client != "", `{audit_events.client} = ?`, q.Client)
	add(!q.From.IsZero(), `{audit_events.time} >= ?`, at(q.From))
	add(!q.Before.IsZero(), `{audit_events.time} < ?`, at(q.Before))
	after := at(q.AfterTime)
	add(!q.AfterTime.IsZero(), `{audit_events.time} <= ? AND ({audit_events.time} < ? OR {audit_events.id} < ?)`, after, after, q.AfterID)
	return all
}

// Prune implements [storage.AuditStore]. One call either deletes records or, if none are
// old enough, erases personal data. On SQLite it changes at most mostSQLite rows,
// although most may be larger.
func (s auditLog) Prune(ctx context.Context, before, personalBefore time.Time, most int) (n int, err error) {
	err = errors.Join(ctx.Err(), s.db.needs("audit_events"))
	at := s.db.q.forms["audit_events"].arg
	if s.db.layout.dialect == SQLite { // there is one writer at a time
		most = min(most, mostSQLite)
	}
	if err == nil && !before.IsZero() {
		n, err = s.change(ctx, s.db.q.audit.prune, at(before), most)
	}
	if err == nil && n == 0 && !personalBefore.IsZero() {
		n, err = s.change(ctx, s.db.q.audit.eraseOld, append(s.db.layout.touches("audit_events"), at(personalBefore), most)...)
	}
	return n, fail(ctx, "prune the audit log", err)
}

// change runs a statement and returns how many rows it changed or removed. It returns
// errors of the driver as they are.
func (s auditLog) change(ctx context.Context, statement string, args ...any) (int, error) {
	n, err := s.db.conn.Exec(ctx, statement, args...)
	return int(n), err
}

// Erase implements [storage.AuditStore]. It erases in batches of mostErased rows. If it
// fails outside of a transaction, the finished batches stay erased, and Erase returns
// their number beside the error. The caller may call it again.
func (s auditLog) Erase(ctx context.Context, userID string) (total int, err error) {
	err = errors.Join(ctx.Err(), s.db.needs("audit_events"))
	if userID == "" || !findable(userID) {
		return 0, fail(ctx, "erase from the audit log", err)
	}
	for n := 1; err == nil && n > 0; total += n {
		n, err = s.change(ctx, s.db.q.audit.erase, append(s.db.layout.touches("audit_events"), userID, mostErased)...)
	}
	return total, fail(ctx, "erase from the audit log", err)
}

// auditQueries are the statements for the audit log.
type auditQueries struct {
	insert                 insert
	append                 [mostAppended + 1]string // by how many rows
	prune, eraseOld, erase string
}

// auditQueries returns the statements for the audit log. It is called once for a store.
func (l grammar) auditQueries() (q auditQueries) {
	q.insert = l.insert("audit_events")
	for n := 1; n < len(q.append); n++ {
		q.append[n] = l.appendRecords(n)
	}
	gone := l.update("audit_events") + `{audit_events.user_id} = NULL, {audit_events.client} = NULL, {audit_events.personal} = NULL`
	const old, order = `{audit_events.time} < ?`, ` ORDER BY {audit_events.time}, {audit_events.id}`
	const others = ` SKIP LOCKED` // what another instance does is not done twice
	q.prune = l.someOf(`DELETE FROM {audit_events}`, old, order, others)
	q.eraseOld = l.someOf(gone, `{audit_events.personal} IS NOT NULL AND `+old, order, others)
	q.erase = l.someOf(gone, `{audit_events.user_id} = ?`, order, "") // waits: a transaction that is given up would keep the data
	return q
}

// appendRecords returns the statement that adds n rows to the audit log, and skips rows
// with an id that exists. n is at least 1.
func (l grammar) appendRecords(n int) string {
	var names []string
	for _, c := range []string{"id", "type", "outcome", "time", "tenant", "user_id", "session_id", "client", "data", "personal"} {
		names = append(names, `{audit_events.`+c+`}`)
	}
	for _, name := range l.touched["audit_events"] {
		names = append(names, l.dialect.quote(name))
	}
	row := `(?` + strings.Repeat(", ?", len(names)-1) + `)`
	statement := `INSERT INTO {audit_events} (` + strings.Join(names, ", ") + `) VALUES ` + row + strings.Repeat(", "+row, n-1)
	if l.dialect == MySQL {
		return l.sql(statement + ` ON DUPLICATE KEY UPDATE {audit_events.id} = {audit_events.id}`)
	}
	return l.sql(statement + ` ON CONFLICT DO NOTHING`)
}

// someOf returns the statement that changes or deletes some rows of the audit log. change
// is its beginning up to WHERE, where says which rows, and order is an ORDER BY. The last
// argument of the statement is how many rows at most. On PostgreSQL it locks the rows in that
// order, and locked says what to do about rows that are locked: SKIP LOCKED, or "" to wait.
func (l grammar) someOf(change, where, order, locked string) string {
	switch l.dialect {
	case MySQL:
		return l.sql(change + ` WHERE ` + where + order + ` LIMIT ?`)
	case Postgres:
		return l.sql(change + ` WHERE {audit_events.id} = ANY(ARRAY(SELECT {audit_events.id} FROM {audit_events} WHERE ` + where + order + ` LIMIT ? FOR UPDATE` + locked + `))`)
	}
	return l.sql(change + ` WHERE {audit_events.id} IN (SELECT {audit_events.id} FROM {audit_events} WHERE ` + where + order + ` LIMIT ?)`)
}
