package sqlstore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// GoString implements [fmt.GoStringer]. It returns the layout as an expression of Go.
// Fields with their zero value are left out.
func (l Layout) GoString() string {
	if l.is(AuthJS()) {
		return "sqlstore.AuthJS()"
	}
	var b strings.Builder
	b.WriteString("sqlstore.Layout{")
	if len(l.Names) > 0 {
		b.WriteString("\n\tNames: map[string]string{")
		b.WriteString(l.nameLines())
		b.WriteString("\n\t},")
	}
	for _, option := range []struct {
		name string
		on   bool
	}{{"PlainTokens", l.PlainTokens}, {"DatabaseIDs", l.DatabaseIDs}, {"UUIDs", l.UUIDs}, {"Unindexed", l.Unindexed}} {
		if option.on {
			b.WriteString("\n\t" + option.name + ": true,")
		}
	}
	if l.Times != TimesUsual {
		b.WriteString("\n\tTimes: sqlstore." + timesNames[l.Times] + ",")
	}
	if len(l.Touched) > 0 {
		fmt.Fprintf(&b, "\n\tTouched: %#v,", l.Touched)
	}
	if b.Len() > len("sqlstore.Layout{") {
		b.WriteString("\n")
	}
	return b.String() + "}"
}

// timesNames has the names of the constants.
var timesNames = map[Times]string{
	TimesUTC: "TimesUTC", TimesISO: "TimesISO", TimesMillis: "TimesMillis", TimesMillisText: "TimesMillisText", TimesSeconds: "TimesSeconds",
}

// nameLines returns the entries of l.Names as Go writes them in a map, ordered by table
// and wrapped to lines of about 100 characters.
func (l Layout) nameLines() string {
	var b strings.Builder
	for _, table := range model.Tables {
		var line string
		for _, name := range slices.Sorted(maps.Keys(l.Names)) {
			if of, _, _ := strings.Cut(name, "."); of != table.Name {
				continue
			}
			entry := fmt.Sprintf(" %q: %q,", name, l.Names[name])
			if len(line)+len(entry) > 100 {
				b.WriteString("\n\t\t" + line[1:])
				line = ""
			}
			line += entry
		}
		if line != "" {
			b.WriteString("\n\t\t" + line[1:])
		}
	}
	return b.String()
}

// is reports whether two layouts mean the same, even if their Names differ as maps. The
// order of Touched counts.
func (l Layout) is(o Layout) bool {
	if l.PlainTokens != o.PlainTokens || l.DatabaseIDs != o.DatabaseIDs || l.UUIDs != o.UUIDs || l.Unindexed != o.Unindexed ||
		l.Times != o.Times || !slices.Equal(l.Touched, o.Touched) {
		return false
	}
	return model.Names(l.Names).Same(o.Names)
}
