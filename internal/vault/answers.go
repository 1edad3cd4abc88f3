package vault

import (
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/oauth"
)

// The details of event.TokenDisconnected.
const (
	GrantRefused  = "grant.refused"  // the provider refuses the refresh token
	GrantLost     = "grant.lost"     // and a process may have ended before it stored a newer one
	GrantRevoked  = "grant.revoked"  // Users.RevokeTokens
	GrantLogout   = "grant.logout"   // the provider has ended it with a logout
	GrantUnlinked = "grant.unlinked" // the account or its user was removed
)

// meaning is what an error of a token endpoint means for the grant.
type meaning int

const (
	passing       meaning = iota // the same request may succeed later
	grantEnded                   // the refresh token is dead
	needsPerson                  // the user has to sign in at the provider
	misconfigured                // the operator has to change something
)

// answer is an error of a token endpoint.
type answer struct {
	kind meaning
	code string        // the provider's; empty: none
	wait time.Duration // that the provider asks for; 0: none
}

var meanings = map[string]meaning{
	"invalid_grant":          grantEnded,
	"invalid_client":         misconfigured,
	"unauthorized_client":    misconfigured,
	"invalid_scope":          misconfigured,
	"unsupported_grant_type": misconfigured,
	"interaction_required":   needsPerson,
	"consent_required":       needsPerson,
	"login_required":         needsPerson,
}

// answerOf classifies an error of a token endpoint (RFC 6749 section 5.2). A code in
// refused means invalid_grant at this provider, whatever the status. Otherwise the status
// 429 or 5xx, an unknown code, and an error that is no answer of the provider are
// passing.
func answerOf(err error, refused []string) answer {
	a := answer{wait: oauth.WaitOf(err)}
	said, ok := errors.AsType[*oauth.ResponseError](err)
	if !ok {
		return a
	}
	a.code = said.Code
	switch {
	case slices.Contains(refused, a.code):
		a.kind = grantEnded
	case said.Status == 429 || said.Status >= 500: // whatever the body says
	default:
		a.kind = meanings[a.code]
	}
	return a
}
