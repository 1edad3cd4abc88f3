package secret

import "strings"

// words stand in the secrets of guides, tests and templates.
var words = []string{"secret", "openssl", "changeme", "change-me", "change_me", "password", "replace-me", "your-key", "example"}

// IsWorded reports whether text has a word that secrets of guides, tests and templates
// have, in any case. Of random secrets of 44 base64 characters, one in 20 million has one.
func IsWorded(text string) bool {
	text = strings.ToLower(text)
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
