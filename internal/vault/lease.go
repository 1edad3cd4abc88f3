package vault

import (
	"crypto/sha256"
	"encoding/hex"
)

// LeaseKey returns the key of the lease of a grant: a hash of issuer, client and account
// id. No secret is in it, because instances must agree on it while a secret is replaced.
// No tenant is in it, because tenants that share a store share the row. It may be seen:
// it opens nothing.
func LeaseKey(g Grant, accountID string) string {
	named := appendText(appendText(appendText([]byte("latchkey grant"), g.Issuer), g.Client), accountID)
	sum := sha256.Sum256(named)
	return hex.EncodeToString(sum[:])
}
