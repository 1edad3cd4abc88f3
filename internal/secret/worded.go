package secret

import "strings"

// words stand in the secrets of guides, tests and templates.
var words = []string{"secret", "openssl", "changeme", "change-me", "change_me", "password", "replace-me", "your-key", "example"}

// IsWorded reports whether text contains one of words, in upper or lower case. A random
// secret of 44 base64 characters contains one by chance in 1 of 20 million cases.
func IsWorded(text string) bool {
	text = strings.ToLower(text)
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
