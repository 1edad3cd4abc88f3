package people

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of what a user or an administrator may write into a user.
const (
	LongestName  = 256  // characters of a name
	LongestImage = 2048 // bytes of the URL of an image
)

// CheckName returns an InputError for a name of more than 256 characters, of spaces alone, or
// with control characters, direction characters or invalid UTF-8. An empty name is good.
func CheckName(name string) error {
	switch {
	case !utf8.ValidString(name), strings.ContainsFunc(name, isUnfit):
		return wrong("Name", "it has control characters, or characters that change the direction of writing")
	case utf8.RuneCountInString(name) > LongestName:
		return wrong("Name", "it has more than 256 characters")
	case name != "" && strings.TrimSpace(name) == "":
		return wrong("Name", "it has nothing to show")
	}
	return nil
}

// CheckImage returns an InputError unless image is empty or an http or https URL of at
// most 2,048 bytes without a user name. It does not fetch the image.
func CheckImage(image string) error {
	if image == "" {
		return nil
	}
	parsed, err := url.Parse(image)
	switch {
	case len(image) > LongestImage:
		return wrong("Image", "it has more than 2,048 bytes")
	case err != nil, parsed.Scheme != "https" && parsed.Scheme != "http", parsed.Host == "", strings.ContainsFunc(image, isUnfit):
		return wrong("Image", "it is no http(s) URL")
	case parsed.User != nil:
		return wrong("Image", "it names a user")
	}
	return nil
}

// isUnfit reports whether r is a control character, ends a line, or overrides or embeds
// a direction (Unicode UAX 9).
func isUnfit(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}
