package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Dailymotion signs in with a Dailymotion account. Its profile is a
// [profile.Dailymotion].
//
// The API returns only the members that are asked for: the usual ones, or those in the
// parameter fields of UserInfo.Params, which has to name id. Dailymotion does not say
// whether the e-mail was proven. See
// https://developers.dailymotion.com/guides/authentication/.
func Dailymotion(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(p.Or(latchkey.OAuth{
		ID:            "dailymotion",
		Name:          "Dailymotion",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://www.dailymotion.com/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://www.dailymotion.com/oauth/token"},
		UserInfo: latchkey.Endpoint{URL: "https://api.dailymotion.com/me", Params: url.Values{
			"fields": {"id,email,fullname,first_name,last_name,username,description,avatar_720_url,city"},
		}},
		Scopes:   []string{"email"},
		Identify: fields{subject: "id", name: "fullname", email: "email", image: "avatar_720_url"}.identify,
		Style:    latchkey.Style{Color: "#0d0d0d", Mark: markDailymotion},
	}), tokenInQuery("access_token"))
}
