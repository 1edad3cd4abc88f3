package sqlstore

import "time"

// touches returns the present as the argument of each touched column of a table.
func (l grammar) touches(table string) (now []any) {
	for range l.touched[table] {
		now = append(now, l.arg(time.Now()))
	}
	return now
}
