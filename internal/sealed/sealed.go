// Package sealed seals values that clients keep and bring back, such as the position of a
// list, for one tenant and for a time.
package sealed

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/latchkeyhq/latchkey/jwt"
)

// Box seals values and opens them. It is safe for concurrent use.
type Box struct {
	codec  *jwt.Codec
	tenant string
	now    func() time.Time
}

// longest is how many bytes a sealed text may have. Open decrypts nothing longer.
const longest = 8 << 10

// New returns a Box. secrets has the secret in use first, and then older ones, which still
// open. salt keeps the keys apart from all others made of the same secrets. tenant is
// empty if there is one site.
func New(secrets []string, salt, tenant string, now func() time.Time) *Box {
	return &Box{jwt.NewCodec(secrets, salt), tenant, now}
}

// envelope is the plaintext of a sealed text.
type envelope struct {
	Tenant  string          `json:"tenant,omitempty"`
	Expires time.Time       `json:"expires"`
	Value   json.RawMessage `json:"value"`
}

// Seal returns a value as a sealed text that opens for life. It returns an error if the
// value has no form in JSON.
func (b *Box) Seal(value any, life time.Duration) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(envelope{b.tenant, b.now().Add(life), text})
	if err != nil {
		return "", err
	}
	return b.codec.Seal(payload)
}

// Open decodes the value in a sealed text into value, a pointer. It returns false for a
// text of another tenant or salt, one that has expired, and one that is too long or was
// changed. value may then be changed in part. A nil Box opens nothing.
func (b *Box) Open(text string, value any) bool {
	if b == nil || text == "" || len(text) > longest {
		return false
	}
	var e envelope
	payload, err := b.codec.Open(text)
	return err == nil && json.Unmarshal(payload, &e) == nil && e.Tenant == b.tenant && b.now().Before(e.Expires) &&
		json.Unmarshal(e.Value, value) == nil
}

// Digest returns a hash of the JSON of a value, which has to have one. Sealed beside a
// position, it ties the position to the query that it is of.
func Digest(value any) string {
	text, _ := json.Marshal(value)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
