package providers

import "github.com/latchkeyhq/latchkey"

// Kakao signs in with a Kakao account. Its profile is a [profile.Kakao].
//
// The client id is the REST API key; the client secret has to be switched on in the
// console, and so have the scopes, none of which is asked for by name. The e-mail is
// proven where is_email_valid and is_email_verified both say so. See
// https://developers.kakao.com/docs/latest/en/kakaologin/rest-api.
func Kakao(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: withoutIDToken}.of(p).Or(latchkey.OAuth{
		ID:            "kakao",
		Name:          "Kakao",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://kauth.kakao.com/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://kauth.kakao.com/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://kapi.kakao.com/v2/user/me"},
		Scopes:        []string{},
		Identify:      identifyKakao,
		Style:         latchkey.Style{Color: "#fee500", Mark: markKakao},
	})
}

// identifyKakao returns the person, and an error where [fields.identify] does. Without an id
// the Subject is empty. The e-mail is proven if it is both verified and valid.
func identifyKakao(g latchkey.Grant) (latchkey.Identity, error) {
	account := member(g.Profile, "kakao_account")
	who, err := fields{
		subject: "id", name: "kakao_account.profile.nickname", email: "kakao_account.email", image: "kakao_account.profile.profile_image_url",
		verified: "kakao_account.is_email_verified",
	}.identify(g)
	if !isTrue(account["is_email_valid"]) {
		who.EmailTrust = latchkey.EmailUnproven // it belongs to another account now
	}
	return who, err
}
