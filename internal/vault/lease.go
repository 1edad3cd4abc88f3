package vault

import (
	"crypto/sha256"
	"encoding/hex"
)

// LeaseKey returns the key of the lease of a grant. It names no secret and no tenant:
// instances must agree on it while a secret is replaced, tenants that share a store
// share the row, and it opens nothing.
func LeaseKey(g Grant, accountID string) string {
	named := appendText(appendText(appendText([]byte("latchkey grant"), g.Issuer), g.Client), accountID)
	sum := sha256.Sum256(named)
	return hex.EncodeToString(sum[:])
}
