package providers

import "github.com/latchkeyhq/latchkey"

// Vipps signs in with Vipps or MobilePay. Its profile is a [profile.Vipps].
//
// The client id and secret are those of a sales unit at
// https://portal.vippsmobilepay.com, where the login product is switched on and
// a redirect URI that ends in /callback/vipps is entered. Issuer may be
// [VippsTest].
//
// Vipps says in email_verified whether an e-mail is verified. There is no
// picture. More scopes: phoneNumber, address, birthDate, and nin with an
// agreement.
//
// See https://developer.vippsmobilepay.com/docs/APIs/login-api/.
func Vipps(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:                  "vipps",
		Name:                "Vipps",
		OIDC:                true,
		Issuer:              "https://api.vipps.no/access-management-1.0/access/", // with the slash
		Scopes:              []string{"openid", "name", "email"},
		Checks:              []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState, latchkey.CheckNonce},
		ProfileFromUserInfo: true, // the ID token says who, and nothing more
		Style:               latchkey.Style{Color: "#f05c18"},
	})
}

// VippsTest is the issuer of the test environment of [Vipps].
const VippsTest = "https://apitest.vipps.no/access-management-1.0/access/"
