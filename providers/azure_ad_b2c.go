package providers

import "github.com/latchkeyhq/latchkey"

// AzureADB2C signs in with an account of an Azure AD B2C directory. Its profile is
// an [profile.AzureADB2C]. Microsoft sells B2C no longer to new customers.
//
// Issuer is https://{tenant}.b2clogin.com/tfp/{tenant id}/{user flow}/v2.0/. Set the
// claim iss in the properties of the user flow to the form with tfp: there is no
// discovery document at the URL of an issuer of the usual form. If Issuer is empty,
// AUTH_AZURE_AD_B2C_ISSUER is used. The user flow has to return "Email Addresses",
// which come as a list, and B2C does not say whether they were proven. See
// https://learn.microsoft.com/azure/active-directory-b2c/tokens-overview.
func AzureADB2C(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:       "azure-ad-b2c",
		Name:     "Azure AD B2C",
		OIDC:     true,
		Identify: fields{subject: "sub", name: "name|preferred_username", email: "emails.0", noImage: true}.identify,
		Style:    latchkey.Style{Color: "#0072c6"},
	})
}
