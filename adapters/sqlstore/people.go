package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey/storage"
)

// People implements [storage.DirectoryAdapter]. The order Newest needs the column
// users.created. Without the column users.name_key a search looks at every user in
// turn, and only case is ignored.
func (s *Store) People() storage.PeopleStore { return people{s.db} }

// people lists users along an index, page by page: each page begins after the last row of
// the page before. Its methods List, Search and Count return an [errors.ErrUnsupported]
// for an order or a filter that the layout lacks the column or table for.
type people struct{ db *database }

// part is a part of a list: rows in one order. A list goes through its parts one
// after the other.
type part struct {
	mark  byte // begins the positions in it
	where []condition
	key   string // the expression that rows are ordered by, before their id; empty: by id alone
	desc  bool
	moves string // how the key is compared with a text; empty: as it is
}

// condition is a part of a statement with its arguments.
type condition struct {
	sql  string
	args []any
}

var (
	errPosition = errors.New("the position is not one of this list")
	errOrder    = fmt.Errorf("the layout has no users.created to list the newest by: %w", errors.ErrUnsupported)
)

// List implements [storage.PeopleStore]. An unknown order is an [errors.ErrUnsupported].
func (p people) List(ctx context.Context, q storage.PeopleQuery) ([]storage.User, string, error) {
	parts, err := p.parts(&q, false)
	if err != nil {
		return nil, "", fail(ctx, "list users", err)
	}
	users, next, err := p.walk(ctx, &q, parts)
	return users, next, fail(ctx, "list users", err)
}

// Search implements [storage.PeopleStore]. It finds no user if q.Prefix and q.Folded are
// empty. Without the column users.name_key it looks for q.Prefix alone, in addresses and
// in names, or for q.Folded in names if q.Prefix is empty.
func (p people) Search(ctx context.Context, q storage.PeopleQuery) ([]storage.User, string, error) {
	parts, err := p.parts(&q, true)
	if err != nil || len(parts) == 0 {
		return nil, "", fail(ctx, "search users", err)
	}
	users, next, err := p.walk(ctx, &q, parts)
	return users, next, fail(ctx, "search users", err)
}

// Count implements [storage.PeopleStore]. It stops at the number most. It ignores q.Order,
// q.After, q.Limit and q.Window.
func (p people) Count(ctx context.Context, q storage.PeopleQuery, most int) (n int, err error) {
	search := q.Prefix != "" || q.Folded != ""
	if !search { // in any order; this one needs no column
		q.Order = storage.ByID
	}
	parts, err := p.parts(&q, search)
	for _, part := range parts {
		if err != nil || n >= most {
			break
		}
		var some int
		some, err = p.count(ctx, &q, part, most-n)
		n += some
	}
	return n, fail(ctx, "count users", err)
}

// count returns how many users of one part fit the filters of q, or most if there are
// more.
func (p people) count(ctx context.Context, q *storage.PeopleQuery, of part, most int) (n int, err error) {
	filters, err := p.filters(q)
	if err != nil {
		return 0, err
	}
	where, args := joined(append(of.where, filters...))
	statement := p.db.layout.sql(`SELECT COUNT(*) FROM (SELECT 1 AS one FROM {users} u` + where + ` LIMIT ?) AS counted`)
	err = p.db.conn.One(ctx, statement, append(args, most), &n)
	return n, err
}

// parts returns the parts of the list that q asks for, or with search those of a search.
// A search for nothing has no parts. For a list, parts returns errOrder if the order is
// unknown or the layout lacks its column.
func (p people) parts(q *storage.PeopleQuery, search bool) ([]part, error) {
	l := p.db.layout
	switch {
	case search && !l.has("users.name_key"):
		return p.plainSearch(q), nil
	case search:
		return p.search(q), nil
	case q.Order == storage.ByID:
		return []part{{mark: 'i'}}, nil
	case q.Order != storage.Newest || !l.has("users.created"):
		return nil, errOrder
	}
	known := part{mark: 'c', where: []condition{{sql: `u.{users.created} IS NOT NULL`}}, key: `u.{users.created}`, desc: true}
	if l.native() { // which may keep more digits than are read
		known.moves = "timestamptz"
	}
	return []part{known, {mark: 'u', where: []condition{{sql: `u.{users.created} IS NULL`}}}}, nil
}

// walk returns a page of up to q.Limit users, from the position q.After on, and the
// position of the next page, which is "" at the end of the list. A page may end early
// where a part ends. walk returns errPosition if q.After is no position of these parts.
// parts must not be empty.
func (p people) walk(ctx context.Context, q *storage.PeopleQuery, parts []part) (users []storage.User, next string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	after := place{mark: parts[0].mark}
	if q.After != "" {
		if after, err = parsePlace(q.After); err != nil {
			return nil, "", err
		}
	}
	begun := false
	for i, of := range parts {
		if begun = begun || of.mark == after.mark; !begun {
			continue
		}
		if of.mark != after.mark {
			after = place{mark: of.mark}
		}
		some, next, err := p.page(ctx, q, of, after, q.Limit-len(users))
		if err != nil {
			return nil, "", err
		}
		users = append(users, some...)
		switch {
		case next != "":
			return users, next, nil
		case i+1 == len(parts):
			return users, "", nil
		case len(users) == q.Limit || p.looksAt(q, of): // the next page has the rest
			return users, place{mark: parts[i+1].mark}.String(), nil
		}
	}
	return nil, "", errPosition
}

// looksAt reports whether a page of the part may read rows that it then leaves out: q has
// filters, or the part is a search without an index. q.Window then bounds how many rows
// the page reads.
func (p people) looksAt(q *storage.PeopleQuery, of part) bool { return q.Filtered() || of.mark == 's' }

// page returns at most limit users of one part after a place, and the position to go on
// from, which is empty at the end of the part. If looksAt is true it reads at most
// q.Window rows, so it may return fewer users, or none, and a position.
func (p people) page(ctx context.Context, q *storage.PeopleQuery, of part, after place, limit int) ([]storage.User, string, error) {
	where := of.where
	if after.id != "" {
		where = append(where[:len(where):len(where)], p.beyond(of, after, false))
	}
	spent := place{} // the last row to look at
	if p.looksAt(q, of) {
		filters, err := p.filters(q)
		if err != nil {
			return nil, "", err
		}
		looked := where
		if of.mark == 's' { // the search itself is a filter
			looked = where[len(of.where):]
		}
		if spent, err = p.windowEnd(ctx, of, looked, q.Window); err != nil {
			return nil, "", err
		}
		where = append(where[:len(where):len(where)], filters...)
		if spent.id != "" {
			where = append(where, p.beyond(of, spent, true))
		}
	}
	users, last, err := p.read(ctx, of, where, limit)
	switch {
	case err != nil:
		return nil, "", err
	case len(users) == limit:
		return users, last.String(), nil
	case spent.id != "":
		return users, spent.String(), nil
	}
	return users, "", nil
}

// windowEnd returns the place of the last of the next window rows of a part that fit
// where, or the zero place if fewer rows are left.
func (p people) windowEnd(ctx context.Context, of part, where []condition, window int) (place, error) {
	text, args := joined(where)
	statement := `SELECT ` + p.placeOf(of) + ` FROM {users} u` + text + p.order(of) + ` LIMIT 1 OFFSET ?`
	at := place{mark: of.mark}
	err := p.db.conn.One(ctx, p.db.layout.sql(statement), append(args, window-1), &at.key, &at.id)
	if errors.Is(err, storage.ErrNotFound) {
		return place{}, nil
	}
	return at, err
}

// read returns at most limit users of a part that fit where, in the order of the part,
// and the place of the last one. Without users the place has no id.
func (p people) read(ctx context.Context, of part, where []condition, limit int) (users []storage.User, last place, err error) {
	text, args := joined(where)
	l := p.db.layout
	statement := l.sql(`SELECT ` + p.placeOf(of) + `, ` + l.person("u") + ` FROM {users} u` + l.joinSuspension("u") + text + p.order(of) + ` LIMIT ?`)
	last.mark = of.mark
	err = p.db.conn.Each(ctx, statement, append(args, limit), func(scan func(...any) error) error {
		var row userRow
		if err := scan(append([]any{&last.key, &last.id}, p.db.intoPerson(&row)...)...); err != nil {
			return err
		}
		u, err := row.read()
		users = append(users, u)
		return err
	})
	return users, last, err
}

// placeOf returns the SQL that selects the key and the id of a row, both as text.
func (p people) placeOf(of part) string {
	key := `''`
	switch {
	case of.key == "":
	case p.db.layout.dialect == MySQL:
		key = `CAST(` + of.key + ` AS CHAR)`
	default:
		key = `CAST(` + of.key + ` AS TEXT)`
	}
	id := `u.{users.id}`
	if p.db.layout.dialect == MySQL {
		id = `CAST(` + id + ` AS CHAR)`
	} else {
		id = `CAST(` + id + ` AS TEXT)`
	}
	return key + `, ` + id
}

// order returns the ORDER BY of a part: its key, if it has one, and then the id.
func (p people) order(of part) string {
	down := ""
	if of.desc {
		down = " DESC"
	}
	if of.key == "" {
		return ` ORDER BY u.{users.id}` + down
	}
	return ` ORDER BY ` + of.key + down + `, u.{users.id}` + down
}

// beyond returns the condition for rows after the place at in the order of the part. With
// inside it returns the opposite condition: for rows before the place, and the row at it.
func (p people) beyond(of part, at place, inside bool) condition {
	operator := ">"
	if of.desc != inside {
		operator = "<"
	}
	if inside {
		operator += "="
	}
	if of.key == "" {
		return condition{`u.{users.id} ` + operator + ` ?`, []any{at.id}}
	}
	key, value := any(at.key), `?`
	switch n, err := strconv.ParseInt(at.key, 10, 64); {
	case of.moves != "":
		value = `CAST(CAST(? AS text) AS ` + of.moves + `)`
	case of.desc && err == nil && !p.db.layout.isText(): // an instant that is kept as a number
		key = n
	}
	if p.db.layout.dialect != MySQL {
		return condition{`(` + of.key + `, u.{users.id}) ` + operator + ` (` + value + `, ?)`, []any{key, at.id}}
	}
	// MySQL finds no range of an index in a comparison of rows.
	strict := operator[:1]
	return condition{of.key + ` ` + strict + `= ? AND (` + of.key + ` ` + strict + ` ? OR u.{users.id} ` + operator + ` ?)`, []any{key, key, at.id}}
}

// joined returns a WHERE clause that demands all conditions, and their arguments in
// order. Without conditions it returns "".
func joined(all []condition) (where string, args []any) {
	var texts []string
	for _, c := range all {
		texts, args = append(texts, c.sql), append(args, c.args...)
	}
	if len(texts) == 0 {
		return "", nil
	}
	return ` WHERE ` + strings.Join(texts, " AND "), args
}

// place is where a row stands in a list.
type place struct {
	mark byte
	key  string
	id   string // empty: before the first row of the part
}

// String returns the place as the text of a position, which parsePlace reads.
func (p place) String() string { return string(p.mark) + strconv.Quote(p.key) + p.id }

// parsePlace reads the text that String returns. It returns errPosition for any other
// text, and panics on an empty one.
func parsePlace(text string) (p place, err error) {
	key, err := strconv.QuotedPrefix(text[1:])
	if err != nil {
		return p, errPosition
	}
	p = place{mark: text[0], id: text[1+len(key):]}
	if p.key, err = strconv.Unquote(key); err != nil || !findable(p.key, p.id) {
		return p, errPosition
	}
	return p, nil
}
