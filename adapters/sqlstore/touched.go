package sqlstore

import "time"

// touches returns the arguments for the columns that are set to the present.
func (l grammar) touches(table string) (now []any) {
	for range l.touched[table] {
		now = append(now, l.arg(time.Now()))
	}
	return now
}
