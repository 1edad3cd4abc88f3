package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Google signs in with a Google account. Its profile is a [profile.Google].
//
// Google gives a refresh token only when asked for offline access, which
// [latchkey.OAuth].Offline does, and only at the first consent unless the call asks
// again by [latchkey.SignInOptions].Prompt "consent". With Offline, tokens also cover the
// scopes that the person has granted before.
//
// The parameter hd with the domain of an organization makes Google offer the
// accounts of that organization first. It is a convenience and no restriction,
// because browsers can remove it: compare the claim hd in
// [latchkey.Callbacks].SignIn. The domain of an e-mail proves nothing either.
//
// Access tokens live for an hour. A renewal brings no new refresh token. A refresh token
// ends after six months without use, and sooner if the application is in testing. To
// revoke a token ends the grant. There is no sign-out at Google.
func Google(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:         "google",
		Name:       "Google",
		OIDC:       true,
		Issuer:     "https://accounts.google.com",
		EmailTrust: latchkey.EmailProven,
		Refresh:    latchkey.Refresh{AskParams: url.Values{"access_type": {"offline"}, "include_granted_scopes": {"true"}}},
		Style:      latchkey.Style{Color: "#1a73e8"},
	})
}
