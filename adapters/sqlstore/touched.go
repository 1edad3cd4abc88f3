package sqlstore

import "time"

// touches returns an argument for each touched column of a table: the present, by the
// clock of this process. It returns nil if the table has none.
func (l grammar) touches(table string) (now []any) {
	for range l.touched[table] {
		now = append(now, l.arg(time.Now()))
	}
	return now
}
