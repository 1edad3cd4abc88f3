package providers

import "github.com/latchkeyhq/latchkey"

// Fitbit signs in with a Fitbit account. Its profile is a [profile.Fitbit].
//
// There is no e-mail. Google replaces this API by that of Google Health. Tokens live
// for eight hours; a refresh token works once. See
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
