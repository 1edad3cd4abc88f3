package providers

import "github.com/latchkeyhq/latchkey"

// LinkedIn signs in with a LinkedIn account. Its profile is a [profile.OpenID].
//
// The application, made at https://www.linkedin.com/developers/apps, needs the
// product "Sign In with LinkedIn using OpenID Connect". Its callback URLs end in
// /callback/linkedin.
//
// LinkedIn says in email_verified whether an e-mail is verified. Refresh tokens
// are for approved partners only and end after a year, however often they are
// used; nothing can be revoked.
//
// See https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2.
func LinkedIn(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:         "linkedin",
		Name:       "LinkedIn",
		OIDC:       true,
		Issuer:     "https://www.linkedin.com/oauth",
		ClientAuth: latchkey.ClientSecretPost,
		Refresh:    latchkey.Refresh{AskScopes: []string{}}, // partners of LinkedIn always have one
		// LinkedIn refuses a code_verifier of a confidential client, and leaves
		// the nonce out of its ID tokens.
		Checks: []latchkey.Check{latchkey.CheckState, latchkey.CheckNone},
		Style:  latchkey.Style{Color: "#069"},
	})
}
