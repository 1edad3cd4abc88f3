package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Instagram signs in with a professional Instagram account, business or creator:
// since Meta ended the Basic Display API in December 2024 others cannot. Its profile
// is a [profile.Instagram].
//
// Callback URLs need https, on localhost too. There is no e-mail. Tokens live for an
// hour; there is no refresh token, but an exchange for one that lives for 60 days.
// See https://developers.facebook.com/docs/instagram-platform/instagram-api-with-instagram-login.
func Instagram(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: repairInstagram}.of(p).Or(latchkey.OAuth{
		ID:            "instagram",
		Name:          "Instagram",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://www.instagram.com/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.instagram.com/oauth/access_token"},
		UserInfo: latchkey.Endpoint{URL: "https://graph.instagram.com/me", Params: url.Values{
			"fields": {"id,user_id,username,account_type,name,profile_picture_url"},
		}},
		Scopes:     []string{"instagram_business_basic"},
		Identify:   fields{subject: "id", name: "username", image: "profile_picture_url", noImage: true}.identify,
		EmailTrust: latchkey.EmailUnproven,
		Style:      latchkey.Style{Color: "#e4405f", Mark: markInstagram},
	})
}

// repairInstagram takes the token out of the list that the documentation shows, and turns
// an error of Instagram into one of OAuth. It adds the type of the token.
func repairInstagram(c latchkey.Claims) latchkey.Claims {
	if first, _ := at(map[string]any(c), "data.0").(map[string]any); first != nil {
		c = first
	}
	if code := c.String("error_type"); code != "" {
		return fault(code, c.String("error_message"))
	}
	return asBearer(c)
}
