package model

import "testing"

func TestNames(t *testing.T) {
	names := Names{"users": "auth.people", "users.email": "mail", "sessions.tenant": "", "limits": ""}
	for logical, want := range map[string]string{
		"users":                 "auth.people",
		"users.email":           "mail",
		"users.name":            "name",
		"sessions":              "sessions",
		"sessions.tenant":       "",
		"limits":                "",
		"verification_token.id": "", // only tables of others have it
	} {
		if got := names.Of(logical); got != want || names.Has(logical) != (want != "") {
			t.Errorf("%s is called %q, want %q", logical, got, want)
		}
	}
	if (Names{"verification_token.id": "id"}).Of("verification_token.id") != "id" {
		t.Error("a column of others is not found under its name")
	}
}

func TestSameNames(t *testing.T) {
	for name, c := range map[string]struct {
		a, b Names
		want bool
	}{
		"none, and the usual name":    {nil, Names{"users": "users"}, true},
		"another name":                {nil, Names{"users": "people"}, false},
		"a column that is left out":   {nil, Names{"users.extra": ""}, false},
		"a column of a missing table": {Names{"authenticators": ""}, Names{"authenticators": "", "authenticators.name": ""}, true},
	} {
		if got := c.a.Same(c.b); got != c.want || c.b.Same(c.a) != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestForeignOnly: Names.Of knows the only column that tables of others have alone.
func TestForeignOnly(t *testing.T) {
	for _, table := range Tables {
		for _, c := range table.Columns {
			if logical := table.Name + "." + c.Name; (Names{}).Has(logical) == (c.Presence == ForeignOnly) {
				t.Errorf("%s: it is there by default exactly if others alone have it", logical)
			}
		}
	}
}
