package jwtclaims

import (
	"encoding/json"
	"strconv"
	"time"
)

// Names of claims in our session tokens. Auth.js has sub; the others are ours.
const (
	Subject   = "sub"       // the user's id (RFC 7519, section 4.1.2)
	SessionID = "sid"       // one sign-in, however often its token is renewed
	AuthTime  = "auth_time" // the time of that sign-in, in Unix seconds
	Tenant    = "tenant"    // absent: a site without tenants

	// Credential is what the token may be used as; absent: the session cookie. No
	// profile has a claim of this name.
	Credential = "latchkey.credential"
)

// UnixSeconds returns a NumericDate with milliseconds (RFC 7519, section 2).
func UnixSeconds(t time.Time) json.Number {
	return json.Number(strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', -1, 64))
}

// Said is what a token or a provider said in the fields of a user that are empty,
// as raw JSON. A nil field was absent.
type Said struct{ Name, Email, Image []byte }
