package oauth

import (
	"encoding/base64"
	"strings"
)

// UnverifiedClaims returns the claims of a token and does not check its signature. The
// caller must have verified the token when it came, and stored it since.
// UnverifiedClaims returns nil for anything that is no token.
func UnverifiedClaims(token string) map[string]any {
	_, rest, ok := strings.Cut(token, ".")
	payload, _, found := strings.Cut(rest, ".")
	if !ok || !found {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return nil
	}
	claims, err := decodeObject(raw)
	if err != nil {
		return nil
	}
	return claims
}
