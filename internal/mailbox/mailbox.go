// Package mailbox has the one rule for what an e-mail address is.
package mailbox

import (
	"errors"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// ErrInvalid reports what is not exactly one mailbox.
var ErrInvalid = errors.New("not one plain e-mail address")

// Normalize turns what was typed into one mailbox. ASCII ends up as with
// Auth.js: trimmed, lower-cased, the domain cut at its first comma. So does what
// East Asian keyboards make of it, full-width letters: the link goes to the
// ASCII form, so nobody proves another's e-mail address that way.
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

// Check makes sure that email is exactly one mailbox, whoever normalised it:
// the last look before it is stored and mailed to. A local part that
// begins with a hyphen would be an option to a program that gets the mailbox as
// an argument.
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

// isInvisible finds what a person would not see, and what was no text.
func isInvisible(r rune) bool {
	return r == unicode.ReplacementChar || r >= 0x80 && unicode.In(r,
		unicode.Cc, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
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

// isForeignLetter accepts what Unicode host names are made of, and not the
// dots of other scripts, which would end a label (RFC 3490, section 3.1).
func isForeignLetter(r rune) bool {
	return r >= 0x80 && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)) && !isInvisible(r)
}
