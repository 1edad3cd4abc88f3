package providers_test

import (
	"fmt"
	"net/url"

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

func ExampleShopifyShop() {
	p := providers.Shopify(latchkey.OAuth{Issuer: providers.ShopifyShop("acme")})
	fmt.Println(p.Issuer)
	// Output: https://acme.myshopify.com
}

func ExampleVipps() {
	p := providers.Vipps(latchkey.OAuth{Issuer: providers.VippsTest, Scopes: []string{"openid", "name", "email", "phoneNumber"}})
	fmt.Println(p.Issuer)
	// Output: https://apitest.vipps.no/access-management-1.0/access/
}

func ExampleWebexAt() {
	p := providers.WebexAt("https://api-usgov.webex.com/v1", latchkey.OAuth{})
	fmt.Println(p.Token.URL)
	// Output: https://api-usgov.webex.com/v1/access_token
}

// A site can have both: one for people inside of WeChat, one for all others.
func ExampleWeChatWebsite() {
	inside := providers.WeChat(latchkey.OAuth{})
	elsewhere := providers.WeChatWebsite(latchkey.OAuth{ID: "wechat-web"})
	fmt.Println(inside.Scopes, elsewhere.Scopes)
	// Output: [snsapi_userinfo] [snsapi_login]
}

func ExampleWeComAgent() {
	p := providers.WeCom(latchkey.OAuth{Authorization: providers.WeComAgent("1000002")})
	fmt.Println(p.Authorization.URL, p.Authorization.Params.Get("agentid"))
	// Output: https://open.work.weixin.qq.com/wwopen/sso/qrConnect 1000002
}

func ExampleWorkOSConnection() {
	p := providers.WorkOS(latchkey.OAuth{Authorization: providers.WorkOSConnection("conn_01E4ZCR3C56J083X43JQXF3JK5")})
	fmt.Println(p.Authorization.URL, p.Authorization.Params.Get("connection"))
	// Output: https://api.workos.com/sso/authorize conn_01E4ZCR3C56J083X43JQXF3JK5
}

// A client that was made in Europe knows people of Europe alone.
func ExampleZoho() {
	p := providers.Zoho(latchkey.OAuth{ID: "zoho-eu", Issuer: providers.ZohoEurope})
	fmt.Println(p.ID, p.Issuer)
	// Output: zoho-eu https://accounts.zoho.eu
}

// X gives an e-mail to apps that may ask for it.
func ExampleTwitter() {
	p := providers.Twitter(latchkey.OAuth{
		Scopes:   []string{"users.read", "tweet.read", "users.email"},
		UserInfo: latchkey.Endpoint{Params: url.Values{"user.fields": {"profile_image_url,confirmed_email"}}},
	})
	who, err := p.Identify(latchkey.Grant{Profile: latchkey.Claims{"data": map[string]any{"id": "1", "name": "Ada", "confirmed_email": "ada@example.com"}}})
	fmt.Println(who.Email, who.EmailTrust == latchkey.EmailProven, err)
	// Output: ada@example.com true <nil>
}
