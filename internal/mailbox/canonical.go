package mailbox

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Canonical is the one form in which e-mail addresses are stored, compared and
// mailed to, whoever has said them: trimmed, NFKC, lower-cased, the
// domain in ASCII. Text that is no e-mail address is only trimmed and
// folded.
//
// What is not ASCII and would become ASCII is refused: it would turn one
// person's e-mail address into another's, as the Kelvin sign does.
func Canonical(email string) (string, error) {
	email = strings.TrimSpace(email)
	if isASCII(email) {
		return strings.ToLower(email), nil
	}
	if strings.ContainsFunc(email, becomesASCII) {
		return "", ErrInvalid
	}
	email = norm.NFKC.String(email)
	if strings.ContainsFunc(email, becomesASCII) { // what was in two pieces before, such as a dotted I
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

// becomesASCII: some folding of r, by compatibility or by case, has ASCII in it.
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

// hasASCIICase: r, or r in another case, is ASCII.
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

// EqualASCII compares two e-mail addresses as databases may that tell no case of
// ASCII apart. Whatever else folds is different.
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

// asciiDomain is a domain as mail servers without SMTPUTF8 know it (RFC 5891,
// section 4.4).
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

// asciiLabel encodes one label. It may hold neither what no label holds, nor
// what is already encoded, nor begin with a mark (RFC 5891, section 4.2.3).
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
