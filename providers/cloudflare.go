package providers

import "github.com/latchkeyhq/latchkey"

// Cloudflare signs in with Cloudflare Access, which asks the identity provider of a
// Zero Trust organization. Its profile is a [profile.Standard].
//
// Issuer is the one of the application, a SaaS application of type OIDC, such as
// https://acme.cloudflareaccess.com/cdn-cgi/access/sso/oidc/{client id}. If Issuer is
// empty, AUTH_CLOUDFLARE_ISSUER is used. Its redirect URL ends in
// /callback/cloudflare. Access does not say whether the e-mail was proven.
//
// See https://developers.cloudflare.com/cloudflare-one/access-controls/applications/http-apps/saas-apps/generic-oidc-saas/.
func Cloudflare(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:     "cloudflare",
		Name:   "Cloudflare",
		OIDC:   true,
		Checks: []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Style:  latchkey.Style{Color: "#f38020"},
	})
}
