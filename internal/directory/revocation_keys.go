package directory

import (
	"time"

	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/keys"
)

// ids returns what names a token's sign-in and user within this process. Every
// token of one sign-in has the same.
func (o TokenOrigin) ids() []string { return []string{o.SessionID, o.UserID, o.Subject} }

// The end of a sign-in is written under a name that needs no secret: it outlives the secret
// of the instance that records it, and its id is random. The ids of users and their
// names at a provider may be those of another site on the same store, which the secrets keep
// apart. So may an adopted id, which is as random as the jti that it is made of.
// Ends of those are written under all secrets that the instance has.

// signInNames returns the names under which a token's sign-in is revoked, and none if the
// token does not name its sign-in. They name no site: every site that has the secret would
// accept the token.
func (r *Revocations) signInNames(o TokenOrigin) []string {
	switch of := r.Keys.AnySite(); {
	case o.SessionID == "":
		return nil
	case jwtclaims.IsAdopted(o.SessionID):
		return of.All(keys.RevokedSignIn, o.SessionID)
	default:
		return []string{of.Lasting(keys.RevokedSignIn, o.SessionID)}
	}
}

// signInKeys returns the names under which a token's sign-in may be revoked, and none if
// the token does not name it.
func (r *Revocations) signInKeys(o TokenOrigin) []string {
	if o.SessionID == "" {
		return nil
	}
	all := r.Keys.AnySite().All(keys.RevokedSignIn, o.SessionID)
	if jwtclaims.IsAdopted(o.SessionID) {
		return all
	}
	return append(all, r.signInNames(o)...)
}

// keysThere returns the keys under which sessions are revoked that have one of the names
// at their provider.
func (r *Revocations) keysThere(names []string) (all []string) {
	for _, name := range names {
		all = append(all, r.Keys.All(keys.RevokedThere, name)...)
	}
	return all
}

// issuedThere returns the keys under which a session with the names is revoked, and for
// each the earliest iat of an ID token that has the name.
func (r *Revocations) issuedThere(named []ProviderNames) map[string]time.Time {
	if len(named) == 0 {
		return nil
	}
	issued := map[string]time.Time{}
	for _, n := range named {
		for _, key := range r.keysThere(n.all()) {
			if at, known := issued[key]; !known || n.Issued.Before(at) {
				issued[key] = n.Issued
			}
		}
	}
	return issued
}

// writtenFor returns the keys under which the sign-ins of a user are revoked, or none for an
// empty userID. The key in the Adapter names no tenant or site and needs no secret, because
// every configuration of that Adapter has the same users. The keys in any other store name
// tenant and site, because these may share it and have two users with one id.
func (r *Revocations) writtenFor(userID string) []string {
	switch {
	case userID == "":
		return nil
	case r.InAdapter:
		return new(keys.Keys).All(keys.RevokedUser, userID)
	}
	return r.Keys.All(keys.RevokedUser, userID)
}

// userKeys returns the keys under which the sign-ins of a user may be revoked. A
// job may have revoked them that does not say which site it is for.
func (r *Revocations) userKeys(userID string) []string {
	written := r.writtenFor(userID)
	if len(written) == 0 || r.InAdapter || !r.Keys.NamesSite() {
		return written
	}
	return append(written, r.Keys.AnySite().All(keys.RevokedUser, userID)...)
}
