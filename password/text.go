package password

import (
	"errors"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/norm"
)

var (
	errLong    = errors.New("password: longer than 1024 bytes")
	errControl = errors.New("password: empty, or with characters that cannot be typed everywhere (RFC 8265 4.2)")
)

// prepared returns a password as it is hashed: by the profile OpaqueString of RFC 8265,
// which normalizes to NFC and maps other spaces to U+0020. Nothing is trimmed or cut. It
// returns errLong or errControl.
func prepared(password string) (string, error) {
	if len(password) > maxBytes {
		return "", errLong
	}
	text, err := precis.OpaqueString.String(password)
	if err != nil || !utf8.ValidString(password) {
		return "", errControl
	}
	return text, nil
}

// asTyped returns the password alone.
func asTyped(password string) []string { return []string{password} }

// compatible returns the password in NFKC, as better-auth hashes it, as the only text to
// compare with the hash.
func compatible(password string) []string { return []string{norm.NFKC.String(password)} }

// preparedOrTyped returns the texts that an argon2id hash may have been made of: ours is
// of the prepared text, an imported one of the text as it was typed.
func preparedOrTyped(password string) []string {
	text, err := prepared(password)
	if err != nil || text == password {
		return []string{password}
	}
	return []string{text, password}
}

// folded returns a text for comparing without regard to case.
func folded(text string) string { return cases.Fold().String(norm.NFKC.String(text)) }

// foldAll does what folded does for each of the texts.
func foldAll(texts []string) []string {
	all := make([]string, 0, len(texts))
	for _, text := range texts {
		all = append(all, folded(text))
	}
	return slices.Clip(all)
}
