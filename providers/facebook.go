package providers

import (
	"context"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Facebook signs in with a Facebook account. Its profile is a [profile.Facebook].
//
// Live applications need callback URLs with https that are no localhost. A person
// with a telephone sign-up has no e-mail, and Facebook does not say whether one was
// proven. There is no refresh token: tokens live for two hours, and fb_exchange_token
// makes one of them that lives for 60 days. DELETE /me/permissions ends the grant.
// More members of the profile have to be asked for, in UserInfo.Params ("fields").
// The URLs name no version of the Graph API: Facebook then takes the oldest one that
// is open to the application, and no version here can end. See
// https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow.
func Facebook(p latchkey.OAuth) *latchkey.OAuth {
	return revoking(dialect{answer: repairFacebook}.of(p).Or(latchkey.OAuth{
		ID:            "facebook",
		Name:          "Facebook",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://www.facebook.com/dialog/oauth"},
		Token:         latchkey.Endpoint{URL: "https://graph.facebook.com/oauth/access_token"},
		UserInfo:      latchkey.Endpoint{URL: "https://graph.facebook.com/me", Params: url.Values{"fields": {"id,name,email,picture"}}},
		Scopes:        []string{"email"},
		Identify:      fields{subject: "id", name: "name", email: "email", image: "picture.data.url"}.identify,
		Style:         latchkey.Style{Color: "#0866ff"},
	}), func(*latchkey.OAuth) revoke { return revokeFacebook })
}

// revokeFacebook takes all permissions away from the application.
func revokeFacebook(ctx context.Context, c *http.Client, t latchkey.Tokens) error {
	return endedByBearer(ctx, c, http.MethodDelete, "https://graph.facebook.com/me/permissions", t)
}

// repairFacebook turns an error of Facebook, which is an object, into one of OAuth. It
// adds the type of the token, and drops the ID token.
func repairFacebook(c latchkey.Claims) latchkey.Claims {
	if stated := member(c, "error"); stated != nil {
		return fault("facebook_"+stated.String("code"), stated.String("message"))
	}
	return withoutIDToken(asBearer(c))
}
