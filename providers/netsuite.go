package providers

import (
	"cmp"
	"errors"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// NetSuite signs in with a user of one NetSuite account. Its profile is a
// [profile.NetSuite].
//
//	providers.NetSuite(latchkey.OAuth{
//		Issuer:   providers.NetSuiteAccount("1234567-sb1"),
//		UserInfo: latchkey.Endpoint{URL: "https://1234567-sb1.restlets.api.netsuite.com/app/site/hosting/restlet.nl?script=1&deploy=1"},
//	})
//
// AUTH_NETSUITE_ISSUER can name the account too, as https://{account}.app.netsuite.com.
// NetSuite has no endpoint that identifies the user: UserInfo is a RESTlet or Suitelet
// of the account, which answers with the members id, name and email of the current
// user; without it, New fails. The integration record of the account has a redirect URI
// that ends in /callback/netsuite, with https, and the scopes of RESTlets and REST web
// services.
//
// Whether an e-mail is verified is unknown: administrators enter it.
//
// See https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/section_157771733782.html.
func NetSuite(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:       "netsuite",
		Name:     "NetSuite",
		Derive:   deriveNetSuite,
		Scopes:   []string{"restlets", "rest_webservices"},
		Checks:   []latchkey.Check{latchkey.CheckState},
		Identify: fields{subject: "id", name: "name", email: "email", noImage: true}.identify,
		Style:    latchkey.Style{Color: "#181a1b"},
	})
}

// NetSuiteAccount returns the Issuer of [NetSuite] for an account id. Ids of
// sandboxes have a hyphen here, where NetSuite shows an underscore.
func NetSuiteAccount(id string) string { return "https://" + id + netSuiteSite }

const netSuiteSite = ".app.netsuite.com"

// deriveNetSuite sets empty endpoints by the issuer. It returns an error if neither UserInfo
// nor FetchProfile is set, and for an issuer that [NetSuiteAccount] would not return.
func deriveNetSuite(p *latchkey.OAuth) error {
	if p.UserInfo.URL == "" && p.FetchProfile == nil {
		return errors.New("providers: NetSuite does not say who somebody is: set UserInfo to a RESTlet or Suitelet of the account that does")
	}
	if p.Issuer == "" || p.Authorization.URL != "" && p.Token.URL != "" {
		return nil // New says what is missing
	}
	account, ok := strings.CutSuffix(strings.TrimRight(p.Issuer, "/"), netSuiteSite)
	if !ok {
		return errors.New("providers: NetSuite's issuer is https://{account}" + netSuiteSite + ": use NetSuiteAccount")
	}
	p.Authorization.URL = cmp.Or(p.Authorization.URL, account+netSuiteSite+"/app/login/oauth2/authorize.nl")
	p.Token.URL = cmp.Or(p.Token.URL, account+".suitetalk.api.netsuite.com/services/rest/auth/oauth2/v1/token")
	return nil
}
