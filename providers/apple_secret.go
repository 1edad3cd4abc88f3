package providers

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"sync"
	"time"
)

// AppleKey is a key for signing client secrets, as Apple's developer site hands
// it out. All fields are needed.
type AppleKey struct {
	hidden

	TeamID   string // of the developer account, 10 characters
	KeyID    string // of the key, 10 characters
	ClientID string // of the Services ID, as in latchkey.OAuth
	PEM      string // the content of the .p8 file
}

const (
	// appleSecretLifetime is far below the six months Apple allows: no program has
	// to store or copy a secret that makes itself.
	appleSecretLifetime = time.Hour
	// appleSecretReserve is how long before its end a secret is replaced, so
	// that none expires on its way.
	appleSecretReserve = 5 * time.Minute
)

// NewAppleSecret returns a NewClientSecret for [Apple]. A secret is valid for an hour, and is
// used for 55 minutes. The returned function is safe for concurrent use; its copies share
// their secret. The error names a field that is empty, or a PEM without a P-256 key.
func NewAppleSecret(k AppleKey) (func(ctx context.Context, now time.Time) (string, error), error) {
	for name, value := range map[string]string{"TeamID": k.TeamID, "KeyID": k.KeyID, "ClientID": k.ClientID} {
		if value == "" {
			return nil, fmt.Errorf("providers: AppleKey.%s is empty", name)
		}
	}
	key, err := parseAppleKey(k.PEM)
	if err != nil {
		return nil, err
	}
	s := &appleSecret{AppleKey: k, key: key}
	return s.current, nil
}

// parseAppleKey returns the key in PEM, which has to be one of P-256 in PKCS #8.
func parseAppleKey(text string) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("providers: AppleKey.PEM holds no PEM block")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*ecdsa.PrivateKey)
	if err != nil || !ok || key.Curve != elliptic.P256() {
		return nil, errors.New("providers: AppleKey.PEM holds no P-256 key in PKCS#8")
	}
	return key, nil
}

// appleSecret makes secrets and remembers the last one.
type appleSecret struct {
	AppleKey
	key *ecdsa.PrivateKey

	mu     sync.Mutex
	secret string
	issued time.Time
}

// current returns a secret that is valid at now, and signs a new one if it has to.
func (s *appleSecret) current(_ context.Context, now time.Time) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	age := now.Sub(s.issued)
	if s.secret != "" && age >= 0 && age < appleSecretLifetime-appleSecretReserve {
		return s.secret, nil
	}
	secret, err := s.sign(now)
	if err != nil {
		return "", err
	}
	s.secret, s.issued = secret, now
	return secret, nil
}

// sign returns a new client secret: a JWT signed with ES256 (RFC 7518 section 3.4).
func (s *appleSecret) sign(now time.Time) (string, error) {
	header, err := json.Marshal(map[string]string{"alg": "ES256", "kid": s.KeyID, "typ": "JWT"})
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(map[string]any{
		"iss": s.TeamID,
		"iat": now.Unix(),
		"exp": now.Add(appleSecretLifetime).Unix(),
		"aud": "https://appleid.apple.com",
		"sub": s.ClientID,
	})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	input := encode(header) + "." + encode(payload)
	hash := sha256.Sum256([]byte(input))
	r, t, err := ecdsa.Sign(rand.Reader, s.key, hash[:])
	if err != nil {
		return "", errors.New("providers: the client secret cannot be signed")
	}
	var signature [64]byte
	r.FillBytes(signature[:32])
	t.FillBytes(signature[32:])
	return input + "." + encode(signature[:]), nil
}
