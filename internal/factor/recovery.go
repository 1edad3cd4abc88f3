package factor

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/otp"
)

const (
	// RecoveryCodes is the number of recovery codes in a set.
	RecoveryCodes = 10

	recoveryLen = 24 // characters of five bits
	crockford   = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// NewRecoveryCodes returns a set of recovery codes, of 120 random bits each, in
// Crockford's base32 and groups of four characters.
func NewRecoveryCodes() []string {
	codes := make([]string, RecoveryCodes)
	for i := range codes {
		random := make([]byte, recoveryLen)
		rand.Read(random) // never fails
		var b strings.Builder
		for at, r := range random {
			if at > 0 && at%4 == 0 {
				b.WriteByte('-')
			}
			b.WriteByte(crockford[r%32]) // 256 is a multiple of 32
		}
		codes[i] = b.String()
	}
	return codes
}

var crockfordTyped = strings.NewReplacer("O", "0", "I", "1", "L", "1")

// TypedRecovery returns a recovery code that a user typed, in upper case, without spaces and
// hyphens, and with 0 for O and 1 for I and L. It returns "" for text that can be no code.
func TypedRecovery(text string) string {
	code := crockfordTyped.Replace(strings.ToUpper(otp.Typed(text)))
	if len(code) != recoveryLen || strings.Trim(code, crockford) != "" {
		return ""
	}
	return code
}

// RecoveryHash returns the hash that is stored of a recovery code, in hex: SHA-256 over
// "latchkey recovery", the user's id and the code, each preceded by its length. It reads
// the code as [TypedRecovery] does: whatever is no code has the hash of an empty one.
func RecoveryHash(userID, code string) string {
	hash := sha256.New()
	for _, text := range []string{"latchkey recovery", userID, TypedRecovery(code)} {
		hash.Write(binary.AppendUvarint(nil, uint64(len(text))))
		hash.Write([]byte(text))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// RecoveryHashes returns the hashes of a set.
func RecoveryHashes(userID string, codes []string) []string {
	hashes := make([]string, len(codes))
	for i, code := range codes {
		hashes[i] = RecoveryHash(userID, code)
	}
	return hashes
}
