package sqlstore

import (
	"strings"
	"testing"
)

func TestVersionIsTheNumberOfSteps(t *testing.T) {
	for _, d := range []Dialect{Postgres, MySQL, SQLite} {
		if v := Version(d); v < 1 || Schema(d) == "" {
			t.Errorf("%s: version %d, schema of %d bytes", d, v, len(Schema(d)))
		}
	}
	if Version("oracle") != 0 {
		t.Error("an unknown dialect has a version")
	}
}

func TestAdoptionIsForPostgres(t *testing.T) {
	if s := AdoptionSchema(Postgres); !strings.Contains(s, "ALTER TABLE users ADD COLUMN") || !strings.HasSuffix(s, ";\n") {
		t.Errorf("statements %q", s)
	}
	if AdoptionSchema(MySQL)+AdoptionSchema(SQLite) != "" {
		t.Error("another dialect has statements")
	}
}
