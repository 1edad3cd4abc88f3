package password

import (
	_ "embed"
	"sort"
	"strings"
	"sync"
)

// commonText holds the 10,000 most frequent leaked passwords of at least 8 characters,
// in lower case, sorted, one a line. They are of the dictionary of zxcvbn (Dropbox; MIT
// licence), which took them from the ten million passwords that Mark Burnett published.
//
//go:embed common.txt
var commonText string

var commonLines = sync.OnceValue(func() []string { return strings.Split(strings.TrimSpace(commonText), "\n") })

// isCommon reports whether a folded text is in the list.
func isCommon(text string) bool {
	lines := commonLines()
	i := sort.SearchStrings(lines, text)
	return i < len(lines) && lines[i] == text
}
