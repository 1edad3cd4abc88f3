package providers

import (
	"net/url"
	"strconv"

	"github.com/latchkeyhq/latchkey"
)

// PayPal signs in with a PayPal account. Its profile is a [profile.PayPal].
//
// Make an application at https://developer.paypal.com/dashboard/applications,
// switch on "Log in with PayPal", choose there what PayPal gives, and enter a
// return URL that ends in /callback/paypal. Localhost is not accepted, but
// 127.0.0.1 is.
//
// The e-mail is the primary one; PayPal says whether it has been confirmed.
// There is no picture.
//
// See https://developer.paypal.com/docs/log-in-with-paypal/integrate/.
func PayPal(p latchkey.OAuth) *latchkey.OAuth {
	return payPal(p, "https://www.paypal.com", "https://api-m.paypal.com")
}

// PayPalSandbox signs in as [PayPal] does, with the accounts of its sandbox.
func PayPalSandbox(p latchkey.OAuth) *latchkey.OAuth {
	return payPal(p, "https://www.sandbox.paypal.com", "https://api-m.sandbox.paypal.com")
}

// payPal returns the provider with its pages at site and its API at api.
func payPal(p latchkey.OAuth, site, api string) *latchkey.OAuth {
	return dialect{answer: withoutIDToken}.of(p).Or(latchkey.OAuth{
		ID:            "paypal",
		Name:          "PayPal",
		Authorization: latchkey.Endpoint{URL: site + "/signin/authorize"},
		Token:         latchkey.Endpoint{URL: api + "/v1/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: api + "/v1/identity/oauth2/userinfo", Params: url.Values{"schema": {"paypalv1.1"}}},
		Identify:      identifyPayPal,
		Style:         latchkey.Style{Color: "#003087", Mark: markPayPal},
	})
}

// identifyPayPal returns the person with the primary e-mail of the list, or with the first
// e-mail if none is primary. The e-mail is proven if PayPal has confirmed it.
func identifyPayPal(g latchkey.Grant) (latchkey.Identity, error) {
	email := "emails.0"
	list, _ := g.Profile["emails"].([]any)
	for i := range list {
		if path := "emails." + strconv.Itoa(i); isTrue(at(map[string]any(g.Profile), path+".primary")) {
			email = path
			break
		}
	}
	return fields{
		subject: "user_id", name: "name", email: email + ".value", noImage: true,
		trust: trust(at(map[string]any(g.Profile), email+".confirmed")),
	}.identify(g)
}
