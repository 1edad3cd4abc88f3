package providers

import (
	"context"

	"github.com/latchkeyhq/latchkey"
)

// Bitbucket signs in with an account of bitbucket.org, through an OAuth consumer.
// Its profile is a [profile.Bitbucket].
//
// The e-mail needs a second call. Only an e-mail that Bitbucket has confirmed is taken;
// email_verified is then added to the profile. A token that lives for two hours comes
// with a refresh token. See
// https://support.atlassian.com/bitbucket-cloud/docs/use-oauth-on-bitbucket-cloud/.
func Bitbucket(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(p.Or(latchkey.OAuth{
		ID:            "bitbucket",
		Name:          "Bitbucket",
		Authorization: latchkey.Endpoint{URL: "https://bitbucket.org/site/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://bitbucket.org/site/oauth2/access_token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.bitbucket.org/2.0/user"},
		Scopes:        []string{"account"},
		Identify:      fields{subject: "account_id", name: "display_name|username", email: "email", image: "links.avatar.href"}.identify,
		EmailTrust:    latchkey.EmailProven,
		Style:         latchkey.Style{Color: "#205081", Mark: markBitbucket},
	}), fetchBitbucket)
}

// fetchBitbucket returns the profile, with the proven e-mail of a second call if there is one.
// It is no error if Bitbucket refuses the second call.
func fetchBitbucket(ctx context.Context, a api) (latchkey.Claims, error) {
	profile, err := a.userInfo(ctx)
	if err != nil {
		return nil, err
	}
	emails, err := a.get(ctx, a.user.URL+"/emails")
	if err != nil {
		return nil, err
	}
	page, _ := object(emails.body) // a token without the scope gets no list
	list, _ := page["values"].([]any)
	if email := proven(list, "is_confirmed", "is_primary"); email != "" {
		profile["email"], profile["email_verified"] = email, true
	}
	return profile, nil
}
