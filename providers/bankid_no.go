package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// BankIDNorway signs in with Norwegian BankID, which identifies people by law. Its
// profile is a [profile.BankIDNorway].
//
// Name and e-mail come from the userinfo endpoint, with a signed answer. The
// person gives the e-mail, and none counts as proven. For the test
// environment set Issuer, or AUTH_BANKID_NO_ISSUER, to
// https://auth.current.bankid.no/auth/realms/current. See
// https://developer.bankid.no/bankid-oidc/.
func BankIDNorway(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:                  "bankid-no",
		Name:                "BankID Norge",
		OIDC:                true,
		Issuer:              "https://auth.bankid.no/auth/realms/prod",
		ClientAuth:          latchkey.ClientSecretPost,
		Authorization:       latchkey.Endpoint{Params: url.Values{"ui_locales": {"no"}, "login_hint": {"BIS"}}},
		VisitorParams:       []string{"ui_locales", "login_hint"},
		Checks:              []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState, latchkey.CheckNonce},
		ProfileFromUserInfo: true,
		Identify:            fields{subject: "sub", name: "name", email: "email", noImage: true, trust: latchkey.EmailUnproven}.identify,
		EmailTrust:          latchkey.EmailUnproven,
		Style:               latchkey.Style{Color: "#39134c"},
	})
}
