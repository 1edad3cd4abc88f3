package jwtclaims

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Names of claims in our session tokens. Auth.js has sub; the others are ours.
const (
	Subject   = "sub"       // the user's id (RFC 7519, section 4.1.2)
	SessionID = "sid"       // one sign-in, however often its token is renewed
	AuthTime  = "auth_time" // the time of that sign-in, in Unix seconds
	Tenant    = "tenant"    // absent: a site without tenants
	Proved    = "proved"    // the latest proof of the user's identity, as exact as auth_time; absent: auth_time
	AMR       = "amr"       // what was proven (RFC 8176)
	ACR       = "acr"       // what the proofs are worth
	Provider  = "op"        // names of the session at its provider (p, sid, sub, iat), for a logout there
	StoreID   = "uid"       // the stored user's id, where the application has replaced sub; absent: sub is that id

	Actor = "act" // the administrator who acts as the user (RFC 8693, section 4.1); absent: the session is the user's own

	// ActorSession is the administrator's own session, without which the token is void.
	ActorSession = "latchkey.actor"

	// Credential is what the token may be used as; absent: the session cookie. No
	// profile has a claim of this name.
	Credential = "latchkey.credential"
)

// adoptedPrefix begins the session id of a token that was made without one.
const adoptedPrefix = "jti:"

// AdoptedID returns the session id for a token that was made without one, such as one of
// Auth.js. It is made of the token's jti, so that every copy of the token, and what it is
// renewed to, belong to one session. jti must not be empty: all such tokens would share
// one session. A jti for which IsAdopted is true is returned as it is, whatever its
// length; another that is longer than 64 bytes is hashed.
func AdoptedID(jti string) string {
	if IsAdopted(jti) {
		return jti
	}
	if len(jti) > 64 {
		sum := sha256.Sum256([]byte(jti))
		jti = hex.EncodeToString(sum[:])
	}
	return adoptedPrefix + jti
}

// IsAdopted reports whether AdoptedID made the session id. The time of the
// sign-in is not known then: auth_time is the iat of the first token.
func IsAdopted(sessionID string) bool { return strings.HasPrefix(sessionID, adoptedPrefix) }

// UnixSeconds returns t as a NumericDate, to the millisecond (RFC 7519, section 2).
func UnixSeconds(t time.Time) json.Number {
	return json.Number(strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', -1, 64))
}

// Said has the raw JSON, such as null or "", that a token or a provider has sent for those
// fields of a user that are empty. A nil field was absent.
type Said struct{ Name, Email, Image []byte }
