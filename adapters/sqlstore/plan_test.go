package sqlstore

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
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

// Somewhere a database has gone through each step. What a changed step brings,
// it would never get: a new step brings it.
func TestStepsNeverChange(t *testing.T) {
	sums := map[string]string{
		"mysql/0001_tables.sql":         "bdb8019eba33",
		"mysql/0002_user_handle.sql":    "180c33335c84",
		"mysql/0003_limits.sql":         "cbb06b15fc3c",
		"mysql/0004_people.sql":         "c4a84b002cd1",
		"mysql/0005_proofs.sql":         "4743ab828e2d",
		"mysql/0006_leases.sql":         "bd9513f6df75",
		"mysql/0007_audit.sql":          "7beaa535413a",
		"postgres/0001_tables.sql":      "f5598ee42ebe",
		"postgres/0002_user_handle.sql": "f0f216c13e6c",
		"postgres/0003_limits.sql":      "f76c74434ee0",
		"postgres/0004_people.sql":      "7f9164a0f196",
		"postgres/0005_proofs.sql":      "046f54f5400c",
		"postgres/0006_leases.sql":      "5818600da31d",
		"postgres/0007_audit.sql":       "e62703d4d3e7",
		"sqlite/0001_tables.sql":        "0452e718f13b",
		"sqlite/0002_user_handle.sql":   "884b41583fb6",
		"sqlite/0003_limits.sql":        "697d42711fc9",
		"sqlite/0004_people.sql":        "4feb54f944f4",
		"sqlite/0005_proofs.sql":        "3d18462a450e",
		"sqlite/0006_leases.sql":        "4cc5a7241b9f",
		"sqlite/0007_audit.sql":         "f815ec8ffe8e",
	}
	for _, d := range []Dialect{Postgres, MySQL, SQLite} {
		steps, err := migrations(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps {
			source, err := schemas.ReadFile(step.file)
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(source)
			name := path.Join(string(d), path.Base(step.file))
			if got := hex.EncodeToString(sum[:6]); got != sums[name] {
				t.Errorf("%q: %q is the sum now", name, got)
			}
		}
	}
}
