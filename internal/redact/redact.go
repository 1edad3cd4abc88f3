// Package redact takes secrets out of text that is about to be logged.
package redact

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Text returns text in a form that is fit for a log. It replaces the secrets, also in the
// forms that quotes and URLs give them, and what URLs redacts. Then it cuts and escapes
// the text as Printable does. Secrets of fewer than four bytes stay: to replace them
// would take half the text away.
func Text(text string, secrets []string, limit int) string {
	secrets = spellings(secrets, len(text))
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may be part of another
	cut := len(text) > 4*limit
	if cut {
		text = text[:4*limit]
	}
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, redacted)
		if cut {
			text = withoutStart(text, secret)
		}
	}
	return Printable(URLs(text), limit)
}

// spellings returns the secrets that a text of longest bytes can hold, each once, and the
// other forms of each. These are the forms between quotes or in a URL, where quotes, line
// breaks and characters outside ASCII are written otherwise. It leaves out secrets of
// fewer than four bytes. A client may send a hundred thousand secrets in one header, so
// the work is in proportion to their length.
func spellings(secrets []string, longest int) (all []string) {
	seen := make(map[string]bool, len(secrets))
	add := func(text string) {
		if len(text) >= shortest && len(text) <= longest && !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	for _, secret := range secrets {
		add(secret)
		if len(secret) < shortest || len(secret) > longest || !strings.ContainsFunc(secret, isRewritten) {
			continue
		}
		quoted, _ := json.Marshal(secret)
		for _, other := range []string{
			inQuotes(strconv.Quote(secret)), inQuotes(strconv.QuoteToASCII(secret)), inQuotes(strconv.QuoteToGraphic(secret)),
			inQuotes(string(quoted)), url.QueryEscape(secret), url.PathEscape(secret),
		} {
			add(other)
		}
	}
	return all
}

// isRewritten reports whether a form in quotes or in a URL may write a character
// otherwise.
func isRewritten(c rune) bool {
	letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	return !letter && c != '-' && c != '_' && c != '.' && c != '~'
}

// inQuotes returns what a quoted text has between its quotes.
func inQuotes(quoted string) string { return quoted[1 : len(quoted)-1] }

const shortest = 4

const redacted = "[redacted]"

// withoutStart removes the beginning of secret from the end of text, where the cut of a
// longer text may have left it.
func withoutStart(text, secret string) string {
	for n := min(len(secret)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, secret[:n]) {
			return text[:len(text)-n]
		}
	}
	return text
}

// URLs redacts what URLs and connection settings in an error's text may carry: the user
// and password of a URL, its query, and the value after password=, passwd= or pwd=.
func URLs(text string) string {
	text = urlPassword().ReplaceAllString(text, "://"+redacted+"@")
	text = urlQuery().ReplaceAllString(text, "$1?"+redacted)
	return dsnPassword().ReplaceAllString(text, "$1="+redacted)
}

var (
	urlPassword = compiled(`://[^\s/?#"]*@`)
	urlQuery    = compiled(`(://[^\s?"]*)\?[^\s"]*`)
	dsnPassword = compiled(`(?i)\b(password|passwd|pwd)=('[^']*'|\S+)`)
)

// compiled returns a function that returns the regular expression, which its first call
// compiles. A program without failures needs none.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// Printable cuts text to limit bytes, marks the cut with "…", and escapes line breaks and
// other characters that could forge a line as Go string literals do. Escapes may make the
// result longer than limit.
func Printable(text string, limit int) string {
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
