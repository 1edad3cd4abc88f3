package providers

import (
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// What more than one provider needs of the seams.

// joinScopes makes the list of scopes that an answer has into the text that the
// standard asks for.
func joinScopes(c latchkey.Claims) latchkey.Claims {
	list, isList := c["scope"].([]any)
	if !isList {
		return c
	}
	scopes := make([]string, 0, len(list))
	for _, scope := range list {
		if text, ok := scope.(string); ok {
			scopes = append(scopes, text)
		}
	}
	c["scope"] = strings.Join(scopes, " ")
	return c
}
