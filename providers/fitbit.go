package providers

import "github.com/latchkeyhq/latchkey"

// Fitbit signs in with a Fitbit account. Its profile is a [profile.Fitbit].
//
// Its API has ended: support on 30 September 2026, and on 2 November 2026 the
// endpoints, which answer status 410 since (https://developers.google.com/health/about).
// The Google Health API in its place takes sign-ins of [Google], with scopes that
// Google has to approve. There is no e-mail. See
// https://dev.fitbit.com/build/reference/web-api/developer-guide/authorization/.
func Fitbit(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: repairFitbit}.of(p).Or(latchkey.OAuth{
		ID:            "fitbit",
		Name:          "Fitbit",
		Authorization: latchkey.Endpoint{URL: "https://www.fitbit.com/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.fitbit.com/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.fitbit.com/1/user/-/profile.json"},
		Scopes:        []string{"profile"},
		Identify:      fields{subject: "user.encodedId", name: "user.fullName", image: "user.avatar"}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#00b0b9", Mark: markFitbit},
	})
}

// repairFitbit knows that Fitbit lists errors.
func repairFitbit(c latchkey.Claims) latchkey.Claims {
	if code, _ := at(map[string]any(c), "errors.0.errorType").(string); code != "" {
		message, _ := at(map[string]any(c), "errors.0.message").(string)
		return fault(code, message)
	}
	return c
}
