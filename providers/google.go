package providers

import "github.com/latchkeyhq/latchkey"

// Google signs in with a Google account. Its profile is a [profile.Google].
//
// Google gives a refresh token only when asked for offline access, and only at
// the first consent unless asked again:
//
//	providers.Google(latchkey.OAuth{Authorization: latchkey.Endpoint{
//		Params: url.Values{"access_type": {"offline"}, "prompt": {"consent"}},
//	}})
//
// The parameter hd with the domain of an organization makes Google offer the
// accounts of that organization first. It is a convenience and no restriction,
// because browsers can remove it: compare the claim hd in
// [latchkey.Callbacks].SignIn. The domain of an e-mail proves nothing either.
//
// Access tokens live for an hour. A refresh token is the same for good, unless it is
// not used for six months or the application is in testing; a form post to /revoke
// ends the grant. There is no sign-out at Google.
func Google(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:         "google",
		Name:       "Google",
		OIDC:       true,
		Issuer:     "https://accounts.google.com",
		EmailTrust: latchkey.EmailProven,
		Style:      latchkey.Style{Color: "#1a73e8"},
	})
}
