package sqlstore

import (
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/storage"
)

// search returns the parts of a search along indexes: users whose e-mail address begins
// with q.Prefix, and then the other users whose folded name begins with q.Folded. An
// empty text has no part. The layout has users.name_key.
func (p people) search(q *storage.PeopleQuery) (parts []part) {
	email := `u.{users.email}`
	if p.db.layout.dialect == Postgres {
		email += ` COLLATE "C"`
	}
	var other []condition
	if q.Prefix != "" {
		in := between(email, q.Prefix)
		parts = append(parts, part{mark: 'e', where: []condition{in}, key: email})
		other = append(other, condition{sql: `(u.{users.email} IS NULL OR NOT (` + in.sql + `))`, args: in.args})
	}
	if q.Folded != "" {
		parts = append(parts, part{mark: 'n', where: append(other, between(`u.{users.name_key}`, q.Folded)), key: `u.{users.name_key}`})
	}
	return parts
}

// between returns the condition that a column begins with a prefix, as a range, so that
// an index helps.
func between(column, prefix string) condition {
	c := condition{column + ` >= ?`, []any{prefix}}
	if end := storage.AfterPrefix(prefix); end != "" {
		c.sql += ` AND ` + column + ` < ?`
		c.args = append(c.args, end)
	}
	return c
}

// plainSearch returns the only part of a search in tables without users.name_key: users
// whose e-mail address or name begins with q.Prefix, in whatever case, or, if q.Prefix is
// empty, whose name begins with q.Folded. If both are empty there is no part. No
// index helps, so the search looks at every row.
func (p people) plainSearch(q *storage.PeopleQuery) []part {
	begins := func(column, with string) condition {
		return condition{`SUBSTR(LOWER(` + column + `), 1, ?) = ?`, []any{utf8.RuneCountInString(with), with}}
	}
	switch {
	case q.Prefix == "" && q.Folded == "":
		return nil
	case q.Prefix == "":
		return []part{{mark: 's', where: []condition{begins(`u.{users.name}`, q.Folded)}}}
	}
	email, name := begins(`u.{users.email}`, q.Prefix), begins(`u.{users.name}`, q.Prefix)
	either := condition{`(` + email.sql + ` OR ` + name.sql + `)`, append(email.args, name.args...)}
	return []part{{mark: 's', where: []condition{either}}}
}

// filters returns the conditions for the fields of q that no index helps with: all
// filters except Prefix and Folded. It returns errOrder for From and Before if the layout
// lacks users.created, errAbsent for Suspended if it lacks suspensions, and errText for a
// text that no database can hold.
func (p people) filters(q *storage.PeopleQuery) (all []condition, err error) {
	l := p.db.layout
	if q.Verified != nil {
		all = append(all, condition{sql: map[bool]string{true: `u.{users.emailVerified} IS NOT NULL`, false: `u.{users.emailVerified} IS NULL`}[*q.Verified]})
	}
	for _, bound := range []struct {
		at any
		op string
	}{{l.arg(q.From), " >= ?"}, {l.arg(q.Before), " < ?"}} {
		if bound.at == nil {
			continue
		}
		if !l.has("users.created") {
			return nil, errOrder
		}
		all = append(all, condition{`u.{users.created}` + bound.op, []any{bound.at}})
	}
	if q.Suspended != nil {
		if err := p.db.needs("suspensions"); err != nil {
			return nil, err
		}
		holds := `EXISTS (SELECT 1 FROM {suspensions} x WHERE x.{suspensions.user_id} = u.{users.id} AND (x.{suspensions.until} IS NULL OR x.{suspensions.until} > ?))`
		if !*q.Suspended {
			holds = `NOT ` + holds
		}
		all = append(all, condition{holds, []any{l.formOf("suspensions").arg(q.Now)}})
	}
	for column, wanted := range map[string]string{"accounts.provider": q.Provider, "accounts.type": string(q.Kind)} {
		if wanted == "" {
			continue
		}
		if !findable(wanted) {
			return nil, errText
		}
		all = append(all, condition{`EXISTS (SELECT 1 FROM {accounts} a WHERE a.{accounts.userId} = u.{users.id} AND a.{` + column + `} = ?)`, []any{wanted}})
	}
	return all, nil
}
