package latchkeytest

import (
	"crypto"
	"crypto/rand"
	_ "crypto/sha256" // for at_hash and PKCE
	_ "crypto/sha512"
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

// token answers a request for the token endpoint (RFC 6749, sections 4.1.3 and 6).
func (iss *Issuer) token(bad Misbehaviour, r *http.Request) reply {
	if r.Method != http.MethodPost {
		return oauthError(http.StatusMethodNotAllowed, "invalid_request")
	}
	if !iss.isClient(r) {
		a := oauthError(http.StatusUnauthorized, "invalid_client")
		a.header.Set("WWW-Authenticate", `Basic realm="issuer"`)
		return a
	}
	var (
		g      grant
		usable bool
	)
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		g, usable = iss.spend(iss.codes, r.PostForm.Get("code"))
		proven := g.proves(r.PostForm.Get("code_verifier")) || bad.LaxPKCE && g.challenge == ""
		usable = usable && proven && g.redirectURI == r.PostForm.Get("redirect_uri")
	case "refresh_token":
		g, usable = iss.useRefreshToken(r.PostForm.Get("refresh_token"))
		g.nonce = "" // OpenID Connect Core 1.0, section 12.2
	default:
		return oauthError(http.StatusBadRequest, "unsupported_grant_type")
	}
	if !usable {
		return oauthError(http.StatusBadRequest, "invalid_grant")
	}
	return iss.issueTokens(bad, g)
}

// spend removes token from store and returns its grant. It returns false if the token is
// unknown or has expired.
func (iss *Issuer) spend(store map[string]grant, token string) (grant, bool) {
	iss.mu.Lock()
	defer iss.mu.Unlock()
	g, found := store[token]
	delete(store, token)
	return g, found && (g.expires.IsZero() || iss.config.Time().Before(g.expires))
}

// proves reports whether a PKCE verifier fits the challenge of g (RFC 7636, section 4.6).
// Without a challenge only an empty verifier fits: otherwise an attacker has stripped the
// challenge (RFC 9700, section 4.8).
func (g grant) proves(verifier string) bool {
	if g.challenge == "" {
		return verifier == ""
	}
	return len(verifier) >= 43 && len(verifier) <= 128 && sum(crypto.SHA256, verifier, 1) == g.challenge
}

// sum returns the beginning of the hash of text in base64url: all of it if part is 1, and
// the first half if part is 2.
func sum(hash crypto.Hash, text string, part int) string {
	h := hash.New()
	h.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:hash.Size()/part])
}

// issueTokens returns the answer of the token endpoint with new tokens for g, and stores
// them. It issues no refresh token if g was renewed and the rotation is RotateNever.
func (iss *Issuer) issueTokens(bad Misbehaviour, g grant) reply {
	access, refresh := rand.Text(), rand.Text()
	setDefault(&g.id, rand.Text())
	hasOne := g.renewed && iss.config.Rotation == RotateNever
	idToken, err := iss.idToken(bad, g, access)
	if err != nil {
		return plain(http.StatusInternalServerError, err.Error())
	}
	forAccess, forRefresh := g, g
	forAccess.expires = iss.config.Time().Add(iss.config.Lifetime)
	forRefresh.expires = time.Time{} // never
	iss.mu.Lock()
	iss.access[access] = forAccess
	if !hasOne {
		iss.refresh[refresh] = forRefresh
	}
	iss.mu.Unlock()
	answer := map[string]any{
		"access_token":  access,
		"refresh_token": refresh,
		"id_token":      idToken,
		"token_type":    "Bearer",
		"expires_in":    int(iss.config.Lifetime.Seconds()),
		"scope":         g.scope,
	}
	if hasOne {
		delete(answer, "refresh_token")
	}
	a := document(answer, bad.Token)
	a.header.Set("Cache-Control", "no-store")
	return a
}

// idToken returns the ID token of a grant, with the hash of the access token.
func (iss *Issuer) idToken(bad Misbehaviour, g grant, access string) (string, error) {
	now := iss.config.Time()
	claims := g.person.allClaims()
	claims["iss"] = iss.URL
	claims["aud"] = iss.config.ClientID
	claims["iat"] = now.Unix()
	claims["exp"] = now.Add(iss.config.Lifetime).Unix()
	claims["auth_time"] = g.authTime.Unix()
	claims["at_hash"] = sum(hashOf(iss.config.Algorithm), access, 2)
	if g.nonce != "" {
		claims["nonce"] = g.nonce
	}
	if bad.IDToken != nil {
		bad.IDToken(claims)
	}
	return iss.sign(bad, claims)
}

// hashOf returns the hash inside a signature algorithm. Ed25519 has SHA-512.
func hashOf(algorithm string) crypto.Hash {
	if strings.HasSuffix(algorithm, "256") {
		return crypto.SHA256
	}
	return crypto.SHA512
}
