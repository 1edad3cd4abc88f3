package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Threads signs in with a Threads account. Its profile is a [profile.Threads].
//
// Make an app with the use case "Access the Threads API" at
// https://developers.facebook.com/apps; the client id and secret are those of
// Threads, and the redirect callback URL ends in /callback/threads, with https,
// on localhost too. Until Meta has reviewed the app only its testers can sign
// in. Threads gives no e-mail. The fields of the profile are chosen by the
// parameter fields of UserInfo.
//
// See https://developers.facebook.com/docs/threads/get-started/get-access-tokens-and-permissions.
func Threads(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: repairThreads}.of(p).Or(latchkey.OAuth{
		ID:             "threads",
		Name:           "Threads",
		Authorization:  latchkey.Endpoint{URL: "https://threads.net/oauth/authorize"},
		Token:          latchkey.Endpoint{URL: "https://graph.threads.net/oauth/access_token"},
		UserInfo:       latchkey.Endpoint{URL: "https://graph.threads.net/v1.0/me", Params: url.Values{"fields": {"id,username,threads_profile_picture_url"}}},
		ClientAuth:     latchkey.ClientSecretPost,
		Scopes:         []string{"threads_basic"},
		ScopeSeparator: ",",
		Checks:         []latchkey.Check{latchkey.CheckState},
		Identify:       fields{subject: "id", name: "username", image: "threads_profile_picture_url", noImage: true, trust: latchkey.EmailUnproven}.identify,
		EmailTrust:     latchkey.EmailUnproven,
		Style:          latchkey.Style{Color: "#000", Mark: markThreads},
	})
}

// repairThreads adds the type of a token, and turns an error of Threads into one of
// OAuth.
func repairThreads(c latchkey.Claims) latchkey.Claims {
	if kind := c.String("error_type"); kind != "" {
		return fault(kind, c.String("error_message"))
	}
	return asBearer(c)
}
