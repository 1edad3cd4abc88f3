package sqlstore

import (
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/foreign"
)

// TestForeignNames: package foreign names dialects and forms of times as we do.
func TestForeignNames(t *testing.T) {
	for of, want := range map[foreign.Engine]Dialect{foreign.Postgres: Postgres, foreign.MySQL: MySQL, foreign.SQLite: SQLite} {
		if Dialect(of) != want {
			t.Errorf("%q is called %q", want, of)
		}
	}
	for of, want := range map[foreign.Times]Times{foreign.Usual: TimesUsual, foreign.UTC: TimesUTC, foreign.ISO: TimesISO, foreign.MillisText: TimesMillisText} {
		if Times(of) != want {
			t.Errorf("%q is called %q", want, of)
		}
	}
}
