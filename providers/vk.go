package providers

import (
	"context"
	"fmt"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// VK signs in with a VK account. Its profile is a [profile.VK].
//
// This is the interface of applications that were made before VK ID, at
// https://vk.com/apps?act=manage, with a redirect URI that ends in /callback/vk;
// those made at https://id.vk.com cannot use it.
//
// The e-mail is part of the token answer, if the person gave it, and is then
// added to the profile. Whether it is verified is unknown. With the scope offline
// tokens do not end.
//
// See https://dev.vk.com/en/api/access-token/authcode-flow-user.
func VK(p latchkey.OAuth) *latchkey.OAuth {
	version := url.Values{"v": {"5.131"}}
	repair := func(c latchkey.Claims) latchkey.Claims { return unending(asBearer(c)) }
	return fetching(dialect{answer: repair}.of(p).Or(latchkey.OAuth{
		ID:            "vk",
		Name:          "VK",
		Authorization: latchkey.Endpoint{URL: "https://oauth.vk.com/authorize", Params: version},
		Token:         latchkey.Endpoint{URL: "https://oauth.vk.com/access_token", Params: version},
		UserInfo:      latchkey.Endpoint{URL: "https://api.vk.com/method/users.get", Params: url.Values{"fields": {"photo_100"}, "v": {"5.131"}}},
		ClientAuth:    latchkey.ClientSecretPost,
		Scopes:        []string{"email"},
		Identify:      fields{subject: "id", name: "first_name+last_name", email: "email", image: "photo_100"}.identify,
		Style:         latchkey.Style{Color: "#0077ff", Mark: markVK},
	}), fetchVK)
}

// fetchVK returns the profile with the e-mail of the token answer, or an error of VK,
// which has status 200.
func fetchVK(ctx context.Context, a api) (latchkey.Claims, error) {
	list, err := a.userInfo(ctx)
	user := member(list, "response", "0")
	if err == nil && user == nil { // errors have status 200
		err = fmt.Errorf("providers: VK answered with error %.16q", member(list, "error").String("error_code"))
	}
	if email, ok := a.tokens.Extra["email"].(string); ok && err == nil {
		user["email"] = email
	}
	return user, err
}
