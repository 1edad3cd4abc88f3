package latchkeytest

import (
	"maps"
	"net/http"
)

// Rotation is what a provider does with a refresh token that was used.
type Rotation string

// The rotations.
const (
	RotateOnce   Rotation = "once"   // a new one replaces it; a second use ends the grant (RFC 9700, section 4.14.2)
	RotateWindow Rotation = "window" // it stays good until its successor is used
	RotateKeep   Rotation = "keep"   // a new one is issued, and it stays good
	RotateNever  Rotation = "never"  // it stays the only one
)

// useRefreshToken returns the grant of a refresh token, and does what the rotation says.
// It returns false for an unknown token. If that was replaced before, it ends the grant.
func (iss *Issuer) useRefreshToken(token string) (grant, bool) {
	iss.mu.Lock()
	defer iss.mu.Unlock()
	g, found := iss.refresh[token]
	if id, replaced := iss.used[token]; !found && replaced {
		iss.end(id)
	}
	if !found {
		return grant{}, false
	}
	g.renewed = true
	switch iss.config.Rotation {
	case RotateNever, RotateKeep:
		return g, true
	case RotateWindow:
		for other, of := range iss.refresh {
			if of.id == g.id && other != token {
				delete(iss.refresh, other)
			}
		}
		return g, true
	}
	delete(iss.refresh, token)
	iss.used[token] = g.id
	return g, true
}

// end ends a grant: its refresh and access tokens are dead. The caller holds the lock.
func (iss *Issuer) end(id string) {
	of := func(_ string, g grant) bool { return g.id == id }
	maps.DeleteFunc(iss.refresh, of)
	maps.DeleteFunc(iss.access, of)
}

// revoke answers a request for the revocation endpoint (RFC 7009). It answers with
// success for unknown tokens too.
func (iss *Issuer) revoke(r *http.Request) reply {
	if r.Method != http.MethodPost || !iss.isClient(r) {
		return oauthError(http.StatusUnauthorized, "invalid_client")
	}
	iss.mu.Lock()
	defer iss.mu.Unlock()
	token := r.PostForm.Get("token")
	if g, found := iss.refresh[token]; found {
		iss.end(g.id)
	}
	delete(iss.access, token)
	return plain(http.StatusOK, "")
}

// EndGrants voids all access and refresh tokens at once, as if users had disconnected the
// application at the provider. A code that was not redeemed yet stays good.
func (iss *Issuer) EndGrants() {
	iss.mu.Lock()
	defer iss.mu.Unlock()
	clear(iss.refresh)
	clear(iss.access)
}
