package foreign

import (
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// documented returns the tables that a layout describes, with every id of a type.
func documented(l Layout, idType string) Database {
	db := Database{}
	for _, table := range model.Shared() {
		name := l.Names.Of(table.Name)
		if name == "" {
			continue
		}
		db[name] = map[string]string{}
		for _, c := range table.Columns {
			column := l.Names.Of(table.Name + "." + c.Name)
			switch {
			case column == "":
			case c.Kind == model.ID:
				db[name][column] = idType
			case c.Kind == model.Moment && l.Times == MillisText:
				db[name][column] = "varchar"
			case c.Kind == model.Moment:
				db[name][column] = "timestamp"
			default:
				db[name][column] = "text"
			}
		}
	}
	for _, column := range l.Touched {
		table, name, _ := strings.Cut(column, ".")
		db[l.Names.Of(table)][name] = "timestamp"
	}
	return db
}

// TestRecogniseDocumented, the tables that a documentation lays out are
// recognised, and the layout is found again.
func TestRecogniseDocumented(t *testing.T) {
	for _, a := range adapters {
		t.Run(a.name, func(t *testing.T) {
			want, err := SharedLayout(Postgres, a.name)
			if a.name == "d1" {
				want, err = SharedLayout(SQLite, a.name)
			}
			if err != nil {
				t.Fatal(err)
			}
			db, engine := documented(want, "text"), Postgres
			switch a.name {
			case "hasura":
				db["provider_type"] = map[string]string{"value": "text"}
			case "kysely": // Prisma has integer
				db["Account"]["expires_at"] = "bigint"
			case "d1":
				engine = SQLite
			}
			got, found := db.Recognise(engine)
			if !found || got.Adapter != a.title || got.Adoptable {
				t.Fatalf("recognised %q, %t", got.Adapter, found)
			}
			for logical := range want.Names {
				if table, _, _ := strings.Cut(logical, "."); got.Layout.Names.Of(logical) != want.Names.Of(logical) && want.Names.Has(table) {
					t.Errorf("%s is called %q, want %q", logical, got.Layout.Names.Of(logical), want.Names.Of(logical))
				}
			}
			if got.Layout.UUIDs != want.UUIDs || got.Layout.DatabaseIDs || !slices.Equal(got.Layout.Touched, want.Touched) {
				t.Errorf("layout %+v, want %+v", got.Layout, want)
			}
		})
	}
}

// TestSnakeCasePrisma: R-546, a schema of Prisma that maps its names to underscores is not
// Sequelize's: ids are text, and SQLite has times as Prisma writes them, rows or none.
func TestSnakeCasePrisma(t *testing.T) {
	for _, e := range []Engine{Postgres, MySQL, SQLite} {
		like, err := SharedLayout(e, "sequelize")
		if err != nil {
			t.Fatal(err)
		}
		db := documented(like, "text")
		if got, found := db.Recognise(e); !found || got.Adapter != "Sequelize" || !got.Layout.UUIDs {
			t.Fatalf("%s without a mark: %q, %t", e, got.Adapter, found)
		}
		db["_prisma_migrations"] = map[string]string{"id": "text"}
		got, found := db.Recognise(e)
		if !found || got.Adapter != "Prisma" || got.Layout.UUIDs {
			t.Errorf("%s: %q, UUIDs: %t", e, got.Adapter, got.Layout.UUIDs)
		}
		if e == SQLite && got.Layout.Times != ISO {
			t.Errorf("times are %q, want %q", got.Layout.Times, ISO)
		}
	}
}

func TestRecogniseOthers(t *testing.T) {
	for name, c := range map[string]struct {
		db    Database
		users bool
	}{
		"no tables":               {Database{}, false},
		"tables without users":    {Database{"orders": {"id": "bigint", "email": "text"}}, false},
		"users of another kind":   {Database{"people": {"email": "text", "email_verified": "timestamp"}}, true},
		"a table of the name":     {Database{"app.User": {"email": "text"}}, true},
		"users without an e-mail": {Database{"users": {"id": "bigint"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if guess, found := c.db.Recognise(Postgres); found {
				t.Errorf("recognised %+v", guess)
			}
			if got := c.db.HasUsers(); got != c.users {
				t.Errorf("HasUsers %t, want %t", got, c.users)
			}
		})
	}
}

func TestSharedLayoutUnknown(t *testing.T) {
	for _, of := range []struct {
		engine Engine
		name   string
	}{{Postgres, "mongodb"}, {MySQL, "d1"}, {SQLite, "supabase"}} {
		if l, err := SharedLayout(of.engine, of.name); err == nil {
			t.Errorf("%s on %s is %+v", of.name, of.engine, l)
		}
	}
}
