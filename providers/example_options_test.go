package providers_test

import (
	"fmt"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
)

// The account is part of two hosts, and the script that says who somebody is
// has to be the account's own.
func ExampleNetSuiteAccount() {
	p := providers.NetSuite(latchkey.OAuth{
		Issuer:   providers.NetSuiteAccount("1234567-sb1"),
		UserInfo: latchkey.Endpoint{URL: "https://1234567-sb1.restlets.api.netsuite.com/app/site/hosting/restlet.nl?script=1&deploy=1"},
	})
	fmt.Println(p.Issuer)
	// Output: https://1234567-sb1.app.netsuite.com
}

func ExamplePayPalSandbox() {
	p := providers.PayPalSandbox(latchkey.OAuth{})
	fmt.Println(p.Authorization.URL)
	// Output: https://www.sandbox.paypal.com/signin/authorize
}
