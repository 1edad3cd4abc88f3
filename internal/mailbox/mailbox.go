// Package mailbox has the one rule for what an e-mail address is.
package mailbox

import (
	"errors"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// ErrInvalid reports that a text is not exactly one mailbox.
var ErrInvalid = errors.New("not one plain e-mail address")

// Normalize returns the Canonical form of the e-mail address that a user has typed. It
// returns ErrInvalid if the text has a double quote or has not exactly one @, or if Canonical
// does. Before the address is stored or mailed to, the caller calls Check. ASCII becomes what
// Auth.js makes of it: trimmed, lower-cased, with the domain cut at its first comma.
// Full-width letters, which East Asian keyboards type, become ASCII first. Mails go to that
// ASCII form, so full-width letters do not let a user prove another user's e-mail address.
func Normalize(typed string) (string, error) {
	typed = width.Fold.String(typed)
	if strings.ContainsRune(typed, '"') {
		return "", ErrInvalid
	}
	local, domain, ok := strings.Cut(typed, "@")
	if !ok || strings.Contains(domain, "@") {
		return "", ErrInvalid
	}
	domain, _, _ = strings.Cut(domain, ",")
	return Canonical(local + "@" + domain)
}

// Check returns ErrInvalid unless email is exactly one mailbox, with ASCII letters of the
// domain in lower case. It is the last check of a typed address before that is stored or
// mailed to, also if the application has normalised it. It refuses a local part that
// begins with a hyphen, because a program that gets it as an argument would take it for an
// option.
func Check(email string) error {
	local, domain, ok := strings.Cut(email, "@")
	switch {
	case !ok, local == "", len(email) > 254, len(local) > 64,
		strings.ContainsAny(email, "\"<>;:,[]()\\ "), weburl.HasControl(email), strings.ContainsFunc(email, isInvisible),
		strings.Contains(domain, "@"), !validDomain(domain),
		strings.HasPrefix(local, "."), strings.HasSuffix(local, "."), strings.Contains(local, ".."),
		strings.HasPrefix(local, "-"):
		return ErrInvalid
	}
	return nil
}

// isInvisible reports whether r is outside ASCII and does not show, or is U+FFFD, which
// replaces invalid text.
func isInvisible(r rune) bool {
	return r == unicode.ReplacementChar || r >= 0x80 && unicode.In(r,
		unicode.Cc, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// validDomain reports whether domain is a host name, in Unicode or as xn--, whose ASCII
// letters are in lower case. The limits of DNS, 63 bytes for a label and 253 in all, are
// those of the ASCII form (RFC 5890, section 2.3.2.1).
func validDomain(domain string) bool {
	if domain == "" || len(domain) > 4*253 {
		return false
	}
	size := -1
	for label := range strings.SplitSeq(domain, ".") {
		n := asciiLen(label)
		if size += n + 1; n == 0 || n > 63 || size > 253 || label[0] == '-' || label[len(label)-1] == '-' {
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

// asciiLen returns how many bytes the ASCII form of a label has.
func asciiLen(label string) int {
	if isASCII(label) {
		return len(label)
	}
	return len("xn--" + punycode([]rune(label)))
}

// isForeignLetter reports whether r is outside ASCII and may be part of a Unicode
// host name. The dots of other scripts may not: they would end a label (RFC 3490,
// section 3.1).
func isForeignLetter(r rune) bool {
	return r >= 0x80 && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)) && !isInvisible(r)
}
