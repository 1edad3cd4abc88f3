package model

import (
	"slices"
	"strings"
)

// IsInteger reports whether kind is the lower-case name of an integer type wider than 8 bits.
func IsInteger(kind string) bool {
	return slices.Contains([]string{"smallint", "integer", "bigint", "mediumint", "int"}, kind)
}

// Affinity returns the affinity that SQLite derives from the name of a type in
// lower case: "text", "integer", "real" or "numeric". It returns "" for columns
// that keep values as they come (sqlite.org/datatype3.html 3.1).
func Affinity(kind string) string {
	for _, rule := range []struct{ part, is string }{
		{"int", "integer"}, {"char", "text"}, {"clob", "text"}, {"text", "text"}, {"blob", ""}, {"real", "real"}, {"floa", "real"}, {"doub", "real"},
	} {
		if strings.Contains(kind, rule.part) {
			return rule.is
		}
	}
	if kind == "" {
		return ""
	}
	return "numeric"
}
