package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// WorkOS signs in through a customer's identity provider, which WorkOS speaks
// to. Its profile is a [profile.WorkOS].
//
//	providers.WorkOS(latchkey.OAuth{Authorization: providers.WorkOSConnection("conn_01E4ZCR3C56J083X43JQXF3JK5")})
//
// The parameter connection, organization, provider or domain_hint chooses the identity
// provider, in Authorization.Params or at the sign-in. The redirect URI, to be
// entered at https://dashboard.workos.com, ends in /callback/workos. The client
// secret is an API key.
//
// A customer can state any e-mail, so none counts as proven: compare organization_id
// before you trust one.
//
// See https://workos.com/docs/reference/sso.
func WorkOS(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: asBearer}.of(p).Or(latchkey.OAuth{
		ID:            "workos",
		Name:          "WorkOS",
		Authorization: latchkey.Endpoint{URL: "https://api.workos.com/sso/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.workos.com/sso/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.workos.com/sso/profile"},
		ClientAuth:    latchkey.ClientSecretPost,
		Identify: fields{
			subject: "id", name: "first_name+last_name", email: "email", image: "raw_attributes.picture",
			noImage: true, trust: latchkey.EmailUnproven,
		}.identify,
		EmailTrust: latchkey.EmailUnproven,
		Style:      latchkey.Style{Color: "#6363f1"},
	})
}

// WorkOSConnection returns the Authorization of [WorkOS] for one connection.
func WorkOSConnection(id string) latchkey.Endpoint {
	return latchkey.Endpoint{Params: url.Values{"connection": {id}}}
}
