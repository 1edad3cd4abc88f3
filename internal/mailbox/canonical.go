package mailbox

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Canonical returns the one form in which e-mail addresses from any source are stored,
// compared and mailed to. It is without ASCII spaces around it, NFKC,
// lower-cased, and with the domain in ASCII. Text without an @ is only trimmed
// and folded. Canonical does not say whether the text is an address: see [Check].
//
// Canonical returns ErrInvalid for a character outside ASCII that folding would turn into
// ASCII, such as the Kelvin sign or a space of another width. That would turn one user's
// e-mail address into another's. It also returns ErrInvalid for a control character or a
// line separator (R-516), and for a domain that has no ASCII form.
func Canonical(email string) (string, error) {
	email = strings.Trim(email, " \t\r\n\v\f")
	if strings.ContainsFunc(email, isControl) {
		return "", ErrInvalid
	}
	if isASCII(email) {
		return strings.ToLower(email), nil
	}
	if strings.ContainsFunc(email, becomesASCII) {
		return "", ErrInvalid
	}
	email = norm.NFKC.String(email)
	if strings.ContainsFunc(email, becomesASCII) { // NFKC may have composed it, such as a dotted I
		return "", ErrInvalid
	}
	email = norm.NFKC.String(strings.ToLower(email))
	at := strings.LastIndexByte(email, '@')
	if at < 0 {
		return email, nil
	}
	domain, err := asciiDomain(email[at+1:])
	return email[:at+1] + domain, err
}

// isControl reports whether r is a control character or ends a line.
func isControl(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// becomesASCII reports whether r is outside ASCII and some folding of it, by
// compatibility or by case, contains ASCII.
func becomesASCII(r rune) bool {
	if r < 0x80 {
		return false
	}
	for _, folded := range norm.NFKC.String(string(r)) {
		if hasASCIICase(folded) {
			return true
		}
	}
	return false
}

// hasASCIICase reports whether r, or r in another case, is ASCII.
func hasASCIICase(r rune) bool {
	if r < 0x80 || unicode.ToLower(r) < 0x80 || unicode.ToUpper(r) < 0x80 {
		return true
	}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		if other < 0x80 {
			return true
		}
	}
	return false
}

// EqualASCII reports whether two e-mail addresses are ASCII and equal without regard to case.
// Some databases compare like that. EqualASCII returns false for equal addresses outside
// ASCII.
func EqualASCII(a, b string) bool {
	return isASCII(a) && isASCII(b) && strings.EqualFold(a, b)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// asciiDomain returns the ASCII form of a domain (RFC 5891, section 4.4), or ErrInvalid if
// a label has none. It does not check labels that are ASCII already.
func asciiDomain(domain string) (string, error) {
	labels := strings.Split(domain, ".")
	for i, label := range labels {
		if isASCII(label) {
			continue
		}
		encoded, err := asciiLabel(label)
		if err != nil {
			return "", err
		}
		labels[i] = encoded
	}
	return strings.Join(labels, "."), nil
}

// asciiLabel encodes one label that is not ASCII. It returns ErrInvalid for a label that
// validDomain refuses, or with hyphens where an encoded label has them. It also does so for
// a label that begins with a mark (RFC 5891, section 4.2.3).
func asciiLabel(label string) (string, error) {
	if !validDomain(label) || len(label) > 3 && label[2:4] == "--" {
		return "", ErrInvalid
	}
	letters := []rune(label)
	if unicode.IsMark(letters[0]) {
		return "", ErrInvalid
	}
	return "xn--" + punycode(letters), nil
}
