package providers

import "github.com/latchkeyhq/latchkey"

// Mastodon signs in with an account at one Mastodon server. Its profile is a
// [profile.Mastodon].
//
// Issuer, or AUTH_MASTODON_ISSUER, is the URL of the server, such as
// https://mastodon.social. Register an application there, under Preferences,
// Development, with a redirect URI that ends in /callback/mastodon and the
// scope read. A site that accepts several servers gives each an ID of its own.
//
// Mastodon gives no e-mail.
//
// See https://docs.joinmastodon.org/client/authorized/.
func Mastodon(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:         "mastodon",
		Name:       "Mastodon",
		Derive:     below("/oauth/authorize", "/oauth/token", "/api/v1/accounts/verify_credentials"),
		Scopes:     []string{"read"},
		Identify:   fields{subject: "id", name: "username", image: "avatar_static", trust: latchkey.EmailUnproven}.identify,
		EmailTrust: latchkey.EmailUnproven,
		Style:      latchkey.Style{Color: "#6364ff", Mark: markMastodon},
	})
}
