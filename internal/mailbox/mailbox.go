// Package mailbox has the one rule for what an e-mail address is.
package mailbox

import (
	"errors"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// ErrInvalid reports what is not exactly one mailbox.
var ErrInvalid = errors.New("what was typed is not one plain e-mail address")

// Normalize turns what was typed into one mailbox, as Auth.js does: NFKC,
// trimmed, lower-cased, the domain cut at its first comma.
func Normalize(typed string) (string, error) {
	if strings.ContainsRune(typed, '"') {
		return "", ErrInvalid
	}
	email := strings.ToLower(strings.TrimSpace(norm.NFKC.String(typed)))
	local, domain, ok := strings.Cut(email, "@")
	if !ok || strings.Contains(domain, "@") {
		return "", ErrInvalid
	}
	domain, _, _ = strings.Cut(domain, ",")
	return local + "@" + domain, nil
}

// Check makes sure that email is exactly one mailbox, whoever normalised it:
// the last look before it is stored and mailed to.
func Check(email string) error {
	local, domain, ok := strings.Cut(email, "@")
	switch {
	case !ok, local == "", len(email) > 254, len(local) > 64,
		strings.ContainsAny(email, "\"<>;:,[]()\\ "), weburl.HasControl(email), hasSpaceOrInvisible(email),
		strings.Contains(domain, "@"), !validDomain(domain),
		strings.HasPrefix(local, "."), strings.HasSuffix(local, "."), strings.Contains(local, ".."):
		return ErrInvalid
	}
	return nil
}

// hasSpaceOrInvisible finds what a person would not see.
func hasSpaceOrInvisible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		switch {
		case r == '\uFFFD', r == '\u00AD', r == '\u2060', r == '\uFEFF', r >= '\u200B' && r <= '\u200F',
			r >= '\u2028' && r <= '\u202E', r >= '\u2066' && r <= '\u2069', r >= 0x80 && r < 0xA0:
			return true
		}
		return r == '\u3000' || r == '\u00A0' || (r >= '\u2000' && r <= '\u200A')
	})
}

// validDomain accepts a host name of labels, in Unicode or as xn--.
func validDomain(domain string) bool {
	if domain == "" || len(domain) > 253 {
		return false
	}
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') && !isForeignLetter(r) {
				return false
			}
		}
	}
	return true
}

// Lower is email as users are found by it.
func Lower(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// isForeignLetter accepts what Unicode host names are made of, and not the
// dots of other scripts, which would end a label (RFC 3490, section 3.1).
func isForeignLetter(r rune) bool {
	return r >= 0x80 && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
}
