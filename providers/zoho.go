package providers

import "github.com/latchkeyhq/latchkey"

// Zoho signs in with a Zoho account. Its profile is a [profile.Zoho].
//
// Make a server-based client at https://api-console.zoho.com with a redirect URI that
// ends in /callback/zoho. Zoho keeps people apart by the part of the world that they are in.
// Issuer, or AUTH_ZOHO_ISSUER, names the part where the client was made, such as [ZohoEurope].
// If both are empty, it is the United States. A site for several parts needs a provider for
// each, with an ID of its own.
//
// Whether an e-mail is verified is unknown. There is no picture.
//
// See https://www.zoho.com/accounts/protocol/oauth/web-server-applications.html.
func Zoho(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:             "zoho",
		Name:           "Zoho",
		Issuer:         "https://accounts.zoho.com",
		Derive:         below("/oauth/v2/auth", "/oauth/v2/token", "/oauth/user/info"),
		ClientAuth:     latchkey.ClientSecretPost, // all that is documented
		Scopes:         []string{"AaaServer.profile.Read"},
		ScopeSeparator: ",",
		Identify:       fields{subject: "ZUID", name: "First_Name+Last_Name", email: "Email", noImage: true}.identify,
		Style:          latchkey.Style{Color: "#e42527"},
	})
}

// The issuers of [Zoho] outside of the United States.
const (
	ZohoEurope    = "https://accounts.zoho.eu"
	ZohoIndia     = "https://accounts.zoho.in"
	ZohoAustralia = "https://accounts.zoho.com.au"
	ZohoJapan     = "https://accounts.zoho.jp"
	ZohoCanada    = "https://accounts.zohocloud.ca"
	ZohoChina     = "https://accounts.zoho.com.cn"
)
