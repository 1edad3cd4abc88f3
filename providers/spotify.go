package providers

import "github.com/latchkeyhq/latchkey"

// Spotify signs in with a Spotify account. Its profile is a [profile.Spotify].
//
// Make an app at https://developer.spotify.com/dashboard with a redirect URI
// that ends in /callback/spotify, with https or on 127.0.0.1; localhost is
// refused. In development mode five people on a list of the app's can sign in, and
// the owner of the app needs Spotify Premium (rules of 11 February 2026:
// https://developer.spotify.com/documentation/web-api/tutorials/february-2026-migration-guide).
//
// Spotify itself calls the e-mail unverified, so none counts as proven. There is always
// a refresh token, and it stays; nothing can be revoked.
//
// See https://developer.spotify.com/documentation/web-api/tutorials/code-flow.
func Spotify(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "spotify",
		Name:          "Spotify",
		Authorization: latchkey.Endpoint{URL: "https://accounts.spotify.com/authorize"},
		Token:         latchkey.Endpoint{URL: "https://accounts.spotify.com/api/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.spotify.com/v1/me"},
		Scopes:        []string{"user-read-email"},
		Identify:      fields{subject: "id", name: "display_name", email: "email", image: "images.0.url", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#1db954", Mark: markSpotify},
	})
}
