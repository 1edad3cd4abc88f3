package providers

import (
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// Salesforce signs in with a Salesforce account. Its profile is a
// [profile.Salesforce].
//
// Make an external client app, or a connected app, in the setup of an
// organization, with OAuth, the scopes openid, profile and email, and a callback
// URL that ends in /callback/salesforce. Issuer, or AUTH_SALESFORCE_ISSUER, may
// be the URL of My Domain, or https://test.salesforce.com for sandboxes.
//
// A person is known by a URL, with the organization in it. Salesforce says in
// email_verified whether an e-mail is verified. That is the word of an organization, and
// its administrators make its users: it counts where Issuer is My Domain of one that you
// chose, and not at the hosts that all of them share. The scope refresh_token brings a
// refresh token; of one person and app five are good at a time, and rotation is optional.
// Token answers do not say when a token expires. Tokens can be revoked at
// /services/oauth2/revoke.
//
// See https://help.salesforce.com/s/articleView?id=sf.remoteaccess_using_openid.htm.
func Salesforce(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:                  "salesforce",
		Name:                "Salesforce",
		OIDC:                true,
		Issuer:              "https://login.salesforce.com",
		Checks:              []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState, latchkey.CheckNonce},
		ProfileFromUserInfo: true, // the ID token has no names
		Refresh:             latchkey.Refresh{AskScopes: []string{"refresh_token"}},
		Derive:              deriveSalesforce,
		Style:               latchkey.Style{Color: "#00a1e0"},
	})
}

// salesforceShared are the issuers that all organizations share.
var salesforceShared = []string{"https://login.salesforce.com", "https://test.salesforce.com"}

// deriveSalesforce sets Identify, unless it is set. At an issuer of salesforceShared no e-mail
// counts as proven. At any other issuer email_verified counts.
func deriveSalesforce(p *latchkey.OAuth) error {
	if p.Identify != nil {
		return nil
	}
	who := fields{subject: "sub", name: "name|nickname|preferred_username", email: "email", image: "picture", verified: "email_verified"}
	if slices.Contains(salesforceShared, strings.TrimRight(p.Issuer, "/")) {
		who.verified, who.trust = "", latchkey.EmailUnproven
	}
	p.Identify = who.identify
	return nil
}
