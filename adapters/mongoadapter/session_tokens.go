package mongoadapter

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkeyhq/latchkey/storage"
)

// sessionTokens says how the database keeps session tokens.
type sessionTokens struct{ plain bool }

// hashed marks stored tokens that are hashes. Without it, an attacker who has read a
// hash in a copy of the database could present it as an old plain token.
const hashed = "sha256:"

// stored returns what the database has in place of a token: the token itself with the
// option PlainTokens, and otherwise a hash.
func (t sessionTokens) stored(token string) string {
	if t.plain {
		return token
	}
	sum := sha256.Sum256([]byte(token))
	return hashed + hex.EncodeToString(sum[:])
}

// filter returns the filter for the session of a token. Without PlainTokens the filter
// finds both the hash and the plain token, which Auth.js may have stored. It never looks
// for a plain token that has the form of a hash. It returns ErrNotFound for a token that
// no session can have.
func (t sessionTokens) filter(token string) (bson.D, error) {
	looksHashed := strings.HasPrefix(token, hashed)
	if token == "" || !storable(token) || (t.plain && looksHashed) {
		return nil, storage.ErrNotFound
	}
	if t.plain || looksHashed {
		return bson.D{{Key: "sessionToken", Value: t.stored(token)}}, nil
	}
	return bson.D{{Key: "sessionToken", Value: bson.D{{Key: "$in", Value: bson.A{t.stored(token), token}}}}}, nil
}
