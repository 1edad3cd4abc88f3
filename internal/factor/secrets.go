package factor

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkeyhq/latchkey/internal/otp"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// Sealer seals the secrets of factors. It is safe for concurrent use.
type Sealer struct {
	all    *jwt.Codec // of every secret
	newest *jwt.Codec // of the secret in use alone
}

// salt keeps keys of factors apart from all others made of the same secrets.
const salt = "latchkey factor"

// NewSealer returns the sealer of a configuration. secrets has the secret in use
// first, and then older ones, which still open.
func NewSealer(secrets []string) *Sealer {
	return &Sealer{jwt.NewCodec(secrets, salt), jwt.NewCodec(secrets[:min(1, len(secrets))], salt)}
}

// sealedSecret names the row that it belongs to, so that it opens in no other.
type sealedSecret struct {
	Table  string             `json:"table"`
	ID     string             `json:"id"`
	UserID string             `json:"user"`
	Kind   storage.FactorKind `json:"kind"`
	Secret string             `json:"secret"`
}

// Seal returns secret sealed for the factor f, of which ID, UserID and Kind count: it
// opens for no other factor. Seal does not change f.
func (s *Sealer) Seal(f *storage.Factor, secret []byte) (string, error) {
	payload, err := json.Marshal(sealedSecret{"factors", f.ID, f.UserID, f.Kind, base64.RawStdEncoding.EncodeToString(secret)})
	if err != nil {
		return "", err
	}
	return s.all.Seal(payload)
}

// ErrUnreadable reports a factor whose secret does not open: it was sealed under a
// secret that the configuration has no more, or belongs to another row.
var ErrUnreadable = errors.New("the secret of the factor does not open")

// Open returns the secret of a factor, or ErrUnreadable. isStale reports that it was
// sealed under an older secret of the configuration.
func (s *Sealer) Open(f *storage.Factor) (secret []byte, isStale bool, err error) {
	payload, err := s.newest.Open(f.Secret)
	if err != nil {
		isStale = true
		payload, err = s.all.Open(f.Secret)
	}
	var read sealedSecret
	if err == nil {
		err = json.Unmarshal(payload, &read)
	}
	if err == nil && (read.Table != "factors" || read.ID != f.ID || read.UserID != f.UserID || read.Kind != f.Kind) {
		err = errors.New("it was sealed for another row")
	}
	if err == nil {
		secret, err = base64.RawStdEncoding.DecodeString(read.Secret)
	}
	if err != nil || len(secret) == 0 {
		return nil, false, fmt.Errorf("%w: %v (was a secret of the site removed? Put it back as AUTH_SECRET_1)", ErrUnreadable, err)
	}
	return secret, isStale, nil
}

// Hit is a code that fits an authenticator app.
type Hit struct {
	Factor storage.Factor
	Step   int64
	Secret string // the secret sealed anew; empty: the stored one stays
}

// Match returns the first app that a code fits, or nil. A code of the last used time
// step, or of an earlier one, does not fit. Match tries every app, and calls unreadable
// for an app with a secret that does not open. It returns an error only if a secret
// cannot be sealed anew.
func (s *Sealer) Match(apps []storage.Factor, code string, now time.Time, skew int, unreadable func(storage.Factor, error)) (*Hit, error) {
	var found *Hit
	for _, app := range apps {
		secret, isStale, err := s.Open(&app)
		if err != nil {
			unreadable(app, err)
			continue
		}
		step, ok := otp.Check(secret, code, now, skew)
		if !ok || step <= app.Step || found != nil {
			continue
		}
		found = &Hit{Factor: app, Step: step}
		if isStale {
			if found.Secret, err = s.Seal(&app, secret); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}
