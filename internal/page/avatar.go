package page

import (
	"cmp"
	"html/template"
	"net/url"
	"strings"
	"unicode"
)

// ownPicture returns the URL of a user's picture if showing it asks no other site,
// which would learn that the user manages an account here. It is empty otherwise.
func ownPicture(image, origin string) template.URL {
	source, err := imageSource("Image", image)
	site, _ := Source(origin)
	if u, wrong := url.Parse(image); wrong != nil || u.User != nil {
		return ""
	}
	if image == "" || err != nil || strings.HasPrefix(image, "//") || strings.HasPrefix(source, "http") && source != site {
		return ""
	}
	return template.URL(image)
}

// initials returns the first letters of the first and the last word of name, in upper
// case. If name is empty, it returns the first letter of email, an e-mail address.
// Digits count as letters. It returns a bullet if there is no letter, and "" if both are
// empty.
func initials(name, email string) string {
	words := strings.FieldsFunc(cmp.Or(strings.TrimSpace(name), email), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	switch {
	case name == "" && email == "":
		return ""
	case len(words) == 0:
		return "•"
	case len(words) == 1 || strings.TrimSpace(name) == "":
		return string(firstLetter(words[0]))
	}
	return string(firstLetter(words[0])) + string(firstLetter(words[len(words)-1]))
}
