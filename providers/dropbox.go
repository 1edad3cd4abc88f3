package providers

import (
	"context"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Dropbox signs in with a Dropbox account. Its profile is a [profile.Dropbox].
//
// The profile's email_verified says whether the e-mail was proven. Tokens live for
// four hours; Dropbox is asked for a refresh token, which does not expire
// (token_access_type), and /2/auth/token/revoke ends one. See
// https://developers.dropbox.com/oauth-guide.
func Dropbox(p latchkey.OAuth) *latchkey.OAuth {
	return revoking(fetching(p.Or(latchkey.OAuth{
		ID:            "dropbox",
		Name:          "Dropbox",
		Authorization: latchkey.Endpoint{URL: "https://www.dropbox.com/oauth2/authorize", Params: url.Values{"token_access_type": {"offline"}}},
		Token:         latchkey.Endpoint{URL: "https://api.dropboxapi.com/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.dropboxapi.com/2/users/get_current_account"},
		Scopes:        []string{"account_info.read"},
		Identify:      fields{subject: "account_id", name: "name.display_name", email: "email", image: "profile_photo_url", verified: "email_verified"}.identify,
		Style:         latchkey.Style{Color: "#0061fe", Mark: markDropbox},
	}), fetchDropbox), func(*latchkey.OAuth) revoke { return revokeDropbox })
}

// revokeDropbox ends the access token and the refresh token that it came from.
func revokeDropbox(ctx context.Context, c *http.Client, t latchkey.Tokens) error {
	return endedByBearer(ctx, c, http.MethodPost, "https://api.dropboxapi.com/2/auth/token/revoke", t)
}

// fetchDropbox returns the profile. It asks by a POST without a body, as Dropbox wants
// it.
func fetchDropbox(ctx context.Context, a api) (latchkey.Claims, error) {
	req, err := a.request(ctx, http.MethodPost, endpointURL(a.user), nil)
	if err != nil {
		return nil, err
	}
	return a.object(req)
}
