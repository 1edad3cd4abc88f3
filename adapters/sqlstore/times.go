package sqlstore

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Times is the form in which a [Layout] keeps instants. They have milliseconds,
// unless the form or the type of a column has none.
type Times string

// The forms of times.
const (
	TimesUsual      Times = ""                     // timestamptz or timestamp on PostgreSQL; elsewhere as TimesMillis
	TimesUTC        Times = "UTC"                  // the clock of UTC without a zone: timestamp, datetime; on SQLite text such as "2026-11-21 12:00:00.000 +00:00"
	TimesISO        Times = "ISO"                  // text such as "2026-11-21T12:00:00.000Z"
	TimesMillis     Times = "milliseconds"         // a number since 1970
	TimesMillisText Times = "milliseconds as text" // the same in digits: thirteen of them
	TimesSeconds    Times = "seconds"              // a number since 1970
)

// form is a way to keep instants in one database.
type form struct {
	times   Times
	dialect Dialect
}

// The formats of instants that are kept as text.
const (
	isoText    = "2006-01-02T15:04:05.000Z"
	clockText  = "2006-01-02 15:04:05.000"
	zonedClock = clockText + " +00:00"
)

// native reports whether the database and its driver have a type for instants.
func (f form) native() bool {
	return f.dialect == Postgres && (f.times == TimesUsual || f.times == TimesUTC)
}

// isText reports whether instants are kept in columns of text.
func (f form) isText() bool {
	return f.times == TimesISO || f.times == TimesMillisText || f.times == TimesUTC && f.dialect == SQLite
}

// storage returns the storage class of SQLite that instants of the form have: "text" or
// "integer".
func (f form) storage() string {
	if f.isText() {
		return "text"
	}
	return "integer"
}

// arg returns the argument that stores an instant in UTC, cut to what the form holds:
// milliseconds or seconds. It returns nil for the zero time. The argument is a
// [time.Time], a string or an int64.
func (f form) arg(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	t = t.Truncate(time.Millisecond).UTC()
	switch {
	case f.native():
		return t
	case f.times == TimesUTC && f.dialect == SQLite:
		return t.Format(zonedClock)
	case f.times == TimesUTC:
		return t.Format(clockText)
	case f.times == TimesISO:
		return t.Format(isoText)
	case f.times == TimesMillisText:
		return strconv.FormatInt(t.UnixMilli(), 10)
	case f.times == TimesSeconds:
		return t.Unix()
	}
	return t.UnixMilli()
}

// kept returns an instant as it reads back after arg has stored it: in UTC, cut to what
// the form holds.
func (f form) kept(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	if f.times == TimesSeconds {
		return t.Truncate(time.Second).UTC()
	}
	return t.Truncate(time.Millisecond).UTC()
}

// read returns the expression that reads a column with an instant, for a destination of
// type instant. quoted is the name of the column as a statement has it. Some columns are
// read as text, because drivers would make times of them in ways of their own.
func (f form) read(quoted string) string {
	switch {
	case f.dialect == MySQL && f.times == TimesUTC:
		return "CAST(" + quoted + " AS CHAR)"
	case f.dialect == SQLite && f.isText():
		return "CAST(" + quoted + " AS TEXT)"
	}
	return quoted
}

// pattern returns the pattern for LIKE that texts of the form match. Texts that match
// sort as their instants do. pattern returns "" if the form is no text.
func (f form) pattern() string {
	switch {
	case !f.isText():
		return ""
	case f.times == TimesMillisText:
		return strings.Repeat("_", 13)
	case f.times == TimesUTC:
		return "____-__-__ __:__:__%"
	}
	return "____-__-__T__:__:__%"
}

// parse returns the instant that a text stands for: one that arg has made, or another
// notation of the same form. For a form with numbers the text has the number in digits.
// parse returns an error for any other text.
func (f form) parse(text string) (time.Time, error) {
	switch {
	case f.times == TimesISO:
		return time.Parse(time.RFC3339, text)
	case f.times == TimesUTC && f.dialect == SQLite:
		return time.Parse("2006-01-02 15:04:05 -07:00", text)
	case f.times == TimesUTC:
		return time.Parse(time.DateTime, text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return f.count(n), err
}

// count returns the instant that a number stands for. The number counts seconds since
// 1970 with TimesSeconds, and milliseconds with all other forms.
func (f form) count(n int64) time.Time {
	if f.times == TimesSeconds {
		return time.Unix(n, 0)
	}
	return time.UnixMilli(n)
}

// timesOf guesses the form of times from one value of a column, read as text. It returns
// false if the value has none of the forms. Digits in a column of text, which inText
// says, are TimesMillisText. Other numbers are TimesSeconds if they have ten or eleven
// digits. Else they are milliseconds: TimesMillis on PostgreSQL, and TimesUsual
// elsewhere.
func timesOf(d Dialect, value string, inText bool) (Times, bool) {
	for _, times := range []Times{TimesISO, TimesUTC} {
		if f := (form{times, d}); f.isText() {
			if _, err := f.parse(value); err == nil {
				return times, true
			}
		}
	}
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil:
		return TimesUsual, false
	case inText:
		return TimesMillisText, true
	case n >= 1e9 && n < 1e11:
		return TimesSeconds, true
	case d == Postgres:
		return TimesMillis, true
	}
	return TimesUsual, true
}

// ErrUnreadableTime reports a row with a time that is kept in another form than
// the layout says. The row is no session and opens no link.
var ErrUnreadableTime = errors.New("a time is kept in a form that the layout does not have")

// instant is what a column with an instant is read into. Null is the zero time.
type instant struct {
	t  time.Time
	of *form // nil: the usual form
}

// Scan implements sql.Scanner. It reads null as the zero time. It cuts an instant to the
// millisecond and returns it in UTC. It returns ErrUnreadableTime for a value that does
// not have the form i.of.
func (i *instant) Scan(v any) error {
	var f form
	if i.of != nil {
		f = *i.of
	}
	var at time.Time
	err := ErrUnreadableTime
	switch v := v.(type) {
	case nil:
		i.t = time.Time{}
		return nil
	case time.Time:
		at, err = v, nil
	case int64:
		if !f.isText() {
			at, err = f.count(v), nil
		}
	case []byte: // MySQL without prepared statements
		at, err = f.parse(string(v))
	case string:
		if f.isText() || f.times == TimesUTC {
			at, err = f.parse(v)
		}
	}
	if err != nil {
		return ErrUnreadableTime
	}
	i.t = at.Truncate(time.Millisecond).UTC()
	return nil
}
