package main

import (
	"slices"
	"strings"
)

// readNames are the variables that the library reads, beside those of providers.
var readNames = []string{
	"AUTH_SECRET", "AUTH_SECRET_1", "AUTH_SECRET_2", "AUTH_SECRET_3", "AUTH_URL", "AUTH_TRUST_HOST", "AUTH_REDIRECT_PROXY_URL",
	"NEXTAUTH_SECRET", "NEXTAUTH_URL",
}

// providerEndings are what the variables of a provider end in.
var providerEndings = []string{"ID", "SECRET", "ISSUER"}

// checkNames warns of variables that are not read although their names look as if the
// operator meant them to be.
func (d *doctor) checkNames() {
	for _, name := range d.env.names() {
		if slices.Contains(readNames, name) || strings.HasPrefix(name, "AUTH_SECRET_") { // of those checkSecrets speaks
			continue
		}
		if meant := meantName(name); meant != "" {
			d.warn(name, "is not read. If %s is meant, rename it", meant)
		}
	}
	if url, former := d.env.get("AUTH_URL"), d.env.get("NEXTAUTH_URL"); url != "" && former != "" && url != former {
		d.warn("NEXTAUTH_URL", "is not read, because AUTH_URL is set, and says something else. Remove it")
	}
}

// meantName returns the variable that the operator may have meant with name, which is not
// read, or "".
func meantName(name string) string {
	for _, known := range readNames {
		if resembles(name, known) {
			return known
		}
	}
	if !strings.HasPrefix(name, "AUTH_") {
		return ""
	}
	stem, ending := name, ""
	if i := strings.LastIndexByte(name, '_'); i > len("AUTH") {
		stem, ending = name[:i], name[i+1:]
	}
	for _, known := range providerEndings {
		if stem != name && ending != known && len(ending) > 3 && resembles(ending, known) {
			return stem + "_" + known
		}
	}
	if short, ok := strings.CutSuffix(stem, "_CLIENT"); ok && slices.Contains(providerEndings, ending) {
		return short + "_" + ending
	}
	return ""
}

// resembles reports whether two names differ, and by at most two letters that are wrong,
// missing, too many or swapped.
func resembles(a, b string) bool { return a != b && distance(a, b) <= 2 }

// distance counts the changes between two names, swapped neighbours as one
// (Damerau and Levenshtein, in the form that never changes a letter twice).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
