// Package redact takes secrets out of text that is about to be logged.
package redact

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Text makes a text fit for a log: cut to limit bytes, on one line, without any
// of the secrets and without what URLs in it may carry. Secrets of fewer than
// four bytes are left: they would take half the text with them.
func Text(text string, secrets []string, limit int) string {
	secrets = spellings(secrets)
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may be part of another
	cut := len(text) > 4*limit
	if cut {
		text = text[:4*limit]
	}
	for _, secret := range secrets {
		if len(secret) < shortest {
			break
		}
		text = strings.ReplaceAll(text, secret, redacted)
		if cut {
			text = withoutStart(text, secret)
		}
	}
	return Printable(URLs(text), limit)
}

// spellings adds to each secret the forms in which it may stand between quotes
// or in a URL: quotes, line breaks and what is not ASCII are written otherwise
// there.
func spellings(secrets []string) []string {
	all := slices.Clone(secrets)
	for _, secret := range secrets {
		if len(secret) < shortest {
			continue
		}
		quoted, _ := json.Marshal(secret)
		for _, other := range []string{
			inQuotes(strconv.Quote(secret)), inQuotes(strconv.QuoteToASCII(secret)), inQuotes(strconv.QuoteToGraphic(secret)),
			inQuotes(string(quoted)), url.QueryEscape(secret), url.PathEscape(secret),
		} {
			if !slices.Contains(all, other) {
				all = append(all, other)
			}
		}
	}
	return all
}

func inQuotes(quoted string) string { return quoted[1 : len(quoted)-1] }

const shortest = 4

const redacted = "[redacted]"

// withoutStart drops the beginning of a secret that text was cut in.
func withoutStart(text, secret string) string {
	for n := min(len(secret)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, secret[:n]) {
			return text[:len(text)-n]
		}
	}
	return text
}

// URLs redacts what URLs in an error's text may carry: the password of a data
// source, and the query of a request.
func URLs(text string) string {
	text = urlPassword.ReplaceAllString(text, "://"+redacted+"@")
	text = urlQuery.ReplaceAllString(text, "$1?"+redacted)
	return dsnPassword.ReplaceAllString(text, "$1="+redacted)
}

var (
	urlPassword = regexp.MustCompile(`://[^\s/?#"]*@`)
	urlQuery    = regexp.MustCompile(`(://[^\s?"]*)\?[^\s"]*`)
	dsnPassword = regexp.MustCompile(`(?i)\b(password|passwd|pwd)=('[^']*'|\S+)`)
)

// Printable cuts text to limit bytes and escapes what could forge a line.
func Printable(text string, limit int) string {
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
