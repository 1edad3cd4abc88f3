package providers

import "github.com/latchkeyhq/latchkey"

// Stripe signs in an account of Stripe's, by Connect, and no person. Its profile
// is a [profile.Stripe].
//
// The client id is that of the platform's Connect settings at
// https://dashboard.stripe.com/settings/connect/onboarding-options/oauth, where
// the redirect URI, which ends in /callback/stripe, is entered too; the client
// secret is the platform's secret API key. A token is a key to the account.
//
// Whether an e-mail is verified is unknown.
//
// See https://docs.stripe.com/connect/oauth-reference.
func Stripe(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "stripe",
		Name:          "Stripe",
		Authorization: latchkey.Endpoint{URL: "https://connect.stripe.com/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://connect.stripe.com/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.stripe.com/v1/account"},
		ClientAuth:    latchkey.ClientSecretPost,
		Scopes:        []string{"read_only"},
		Checks:        []latchkey.Check{latchkey.CheckState}, // Stripe refuses parameters that it does not know
		Identify: fields{
			subject: "id", name: "settings.dashboard.display_name||business_profile.name", email: "email", noImage: true,
		}.identify,
		Style: latchkey.Style{Color: "#635bff", Mark: markStripe},
	})
}
