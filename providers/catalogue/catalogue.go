// Package catalogue lists the providers of package providers, for programs that
// show all of them. Importing it links them all.
package catalogue

import (
	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
	"github.com/latchkeyhq/latchkey/providers/profile"
)

// Entry is one provider.
type Entry struct {
	New     func(latchkey.OAuth) *latchkey.OAuth
	Profile any // a zero value of the type in package profile that its profiles have
	// Options are the functions and constants of package providers, beside New,
	// that offer something to choose, the required ones first. nil: none.
	Options []string
	// Issuer is the form of an issuer that has to be set, as the documentation of New
	// says it, with names in braces or an example. Empty: none has to be.
	Issuer string
	// Fields are those of latchkey.OAuth that it takes as a rule, as an example in
	// Go. Empty: none.
	Fields string
}

// Providers lists all OAuth and OpenID Connect providers, in no order that
// matters. The list is the caller's own.
func Providers() []Entry {
	return []Entry{
		{New: providers.Apple, Profile: profile.Apple{}, Options: []string{"NewAppleSecret"}},
		{New: providers.GitHub, Profile: profile.GitHub{}, Options: []string{"GitHubEnterprise"}},
		{New: providers.Google, Profile: profile.Google{}},
		{New: providers.MicrosoftEntraID, Profile: profile.Entra{}, Options: []string{"EntraCommon", "EntraOrganizations", "EntraConsumers", "EntraPhoto"}},
		{New: providers.LinkedIn, Profile: profile.OpenID{}},
		{New: providers.Logto, Profile: profile.Logto{}, Issuer: "such as https://acme.logto.app/oidc"},
		{New: providers.Mailchimp, Profile: profile.Mailchimp{}},
		{New: providers.MailRu, Profile: profile.MailRu{}},
		{New: providers.Mastodon, Profile: profile.Mastodon{}, Issuer: "such as https://mastodon.social"},
		{New: providers.Mattermost, Profile: profile.Mattermost{}, Issuer: "the URL of the server"},
		{New: providers.Medium, Profile: profile.Medium{}},
		{New: providers.Meetup, Profile: profile.Meetup{}},
		{New: providers.Naver, Profile: profile.Naver{}},
		{New: providers.Netlify, Profile: profile.Netlify{}},
		{New: providers.NetSuite, Profile: profile.NetSuite{}, Options: []string{"NetSuiteAccount"}, Issuer: "https://{account}.app.netsuite.com", Fields: `UserInfo: latchkey.Endpoint{URL: "https://1234567-sb1.restlets.api.netsuite.com/app/site/hosting/restlet.nl?script=1&deploy=1"}`},
		{New: providers.Nextcloud, Profile: profile.Nextcloud{}, Issuer: "the URL of the server"},
		{New: providers.Notion, Profile: profile.Notion{}},
		{New: providers.Okta, Profile: profile.Okta{}, Issuer: "such as https://acme.okta.com/oauth2/default"},
		{New: providers.OneLogin, Profile: profile.OpenID{}, Issuer: "such as https://acme.onelogin.com/oidc/2"},
		{New: providers.OpenIDConnect, Profile: profile.OpenID{}, Issuer: "what the discovery document names as its issuer"},
		{New: providers.Osso, Profile: profile.OpenID{}, Issuer: "the URL of the server"},
		{New: providers.Osu, Profile: profile.Osu{}},
		{New: providers.Oura, Profile: profile.Oura{}},
		{New: providers.Patreon, Profile: profile.Patreon{}},
		{New: providers.PayPal, Profile: profile.PayPal{}, Options: []string{"PayPalSandbox"}},
		{New: providers.PingID, Profile: profile.PingID{}, Issuer: "such as https://auth.pingone.eu/{environment}/as"},
		{New: providers.Pinterest, Profile: profile.Pinterest{}},
		{New: providers.Pipedrive, Profile: profile.Pipedrive{}},
		{New: providers.Reddit, Profile: profile.Reddit{}},
		{New: providers.Roblox, Profile: profile.Roblox{}},
		{New: providers.Salesforce, Profile: profile.Salesforce{}},
		{New: providers.SeaTalk, Profile: profile.SeaTalk{}},
		{New: providers.Shopify, Profile: profile.Shopify{}, Options: []string{"ShopifyShop"}, Issuer: "https://{shop}.myshopify.com"},
		{New: providers.SimpleLogin, Profile: profile.SimpleLogin{}},
		{New: providers.Slack, Profile: profile.Slack{}},
		{New: providers.SoundCloud, Profile: profile.SoundCloud{}},
		{New: providers.Spotify, Profile: profile.Spotify{}},
		{New: providers.Strava, Profile: profile.Strava{}},
		{New: providers.Stripe, Profile: profile.Stripe{}},
		{New: providers.Threads, Profile: profile.Threads{}},
		{New: providers.Todoist, Profile: profile.Todoist{}},
		{New: providers.Trakt, Profile: profile.Trakt{}},
		{New: providers.Tumblr, Profile: profile.Tumblr{}},
		{New: providers.Twitch, Profile: profile.OpenID{}},
		{New: providers.Twitter, Profile: profile.Twitter{}},
		{New: providers.Uber, Profile: profile.Uber{}},
		{New: providers.UnitedEffects, Profile: profile.OpenID{}, Issuer: "https://auth.unitedeffects.com/{auth group id}"},
		{New: providers.Vipps, Profile: profile.Vipps{}, Options: []string{"VippsTest"}},
		{New: providers.VK, Profile: profile.VK{}},
		{New: providers.VKID, Profile: profile.VKID{}},
		{New: providers.Steam, Profile: profile.Steam{}},
		{New: providers.Webex, Profile: profile.Webex{}, Options: []string{"WebexAt"}},
		{New: providers.WeChat, Profile: profile.WeChat{}, Options: []string{"WeChatWebsite"}},
		{New: providers.WeCom, Profile: profile.WeCom{}, Options: []string{"WeComAgent"}, Fields: `Authorization: providers.WeComAgent("1000002")`},
		{New: providers.Wikimedia, Profile: profile.Wikimedia{}},
		{New: providers.WordPress, Profile: profile.WordPress{}},
		{New: providers.WorkOS, Profile: profile.WorkOS{}, Options: []string{"WorkOSConnection"}, Fields: `Authorization: providers.WorkOSConnection("conn_01E4ZCR3C56J083X43JQXF3JK5")`},
		{New: providers.Xero, Profile: profile.Xero{}},
		{New: providers.Yahoo, Profile: profile.Yahoo{}},
		{New: providers.Yammer, Profile: profile.Yammer{}},
		{New: providers.Zitadel, Profile: profile.Zitadel{}, Issuer: "such as https://acme.zitadel.cloud"},
		{New: providers.Zoho, Profile: profile.Zoho{}, Options: []string{"ZohoEurope", "ZohoIndia", "ZohoAustralia", "ZohoJapan", "ZohoCanada", "ZohoChina"}},
		{New: providers.Zoom, Profile: profile.Zoom{}},
		{New: providers.TikTok, Profile: profile.TikTok{}, Options: []string{"TikTokFields"}},
		{New: providers.Yandex, Profile: profile.Yandex{}, Options: []string{"YandexAvatarURL"}},
		{New: providers.FortyTwoSchool, Profile: profile.FortyTwoSchool{}},
		{New: providers.Amazon, Profile: profile.Amazon{}},
		{New: providers.Asgardeo, Profile: profile.Standard{}, Issuer: "https://api.asgardeo.io/t/{organization}/oauth2/token"},
		{New: providers.Atlassian, Profile: profile.Atlassian{}},
		{New: providers.Auth0, Profile: profile.Auth0{}, Issuer: "https://{tenant domain}/"},
		{New: providers.Authentik, Profile: profile.Authentik{}, Issuer: "{server}/application/o/{slug of the application}/"},
		{New: providers.AzureAD, Profile: profile.Entra{}},
		{New: providers.AzureADB2C, Profile: profile.AzureADB2C{}, Issuer: "https://{tenant}.b2clogin.com/tfp/{tenant id}/{user flow}/v2.0/"},
		{New: providers.BankIDNorway, Profile: profile.BankIDNorway{}},
		{New: providers.BattleNet, Profile: profile.BattleNet{}, Options: []string{"BattleNetChina"}},
		{New: providers.BeyondIdentity, Profile: profile.Standard{}, Issuer: "https://auth-{region}.beyondidentity.com/v1/tenants/{tenant}/realms/{realm}/applications/{application}"},
		{New: providers.Bitbucket, Profile: profile.Bitbucket{}},
		{New: providers.Box, Profile: profile.Box{}},
		{New: providers.BoxyHQSAML, Profile: profile.BoxyHQSAML{}, Issuer: "the URL of the service"},
		{New: providers.Bungie, Profile: profile.Bungie{}, Options: []string{"BungieProfile"}, Fields: `FetchProfile: providers.BungieProfile("the API key")`},
		{New: providers.ClassLink, Profile: profile.ClassLink{}},
		{New: providers.ClickUp, Profile: profile.ClickUp{}},
		{New: providers.CloudFoundry, Profile: profile.CloudFoundry{}, Issuer: "the URL of the UAA"},
		{New: providers.Cognito, Profile: profile.Cognito{}, Issuer: "https://cognito-idp.{region}.amazonaws.com/{pool id}"},
		{New: providers.Coinbase, Profile: profile.Coinbase{}},
		{New: providers.Concept2, Profile: profile.Concept2{}},
		{New: providers.Dailymotion, Profile: profile.Dailymotion{}},
		{New: providers.Deezer, Profile: profile.Deezer{}},
		{New: providers.Descope, Profile: profile.Standard{}},
		{New: providers.DigitalOcean, Profile: profile.DigitalOcean{}},
		{New: providers.DingTalk, Profile: profile.DingTalk{}, Options: []string{"DingTalkCompany"}},
		{New: providers.Discord, Profile: profile.Discord{}},
		{New: providers.Dribbble, Profile: profile.Dribbble{}},
		{New: providers.Dropbox, Profile: profile.Dropbox{}},
		{New: providers.DuendeIdentityServer6, Profile: profile.Standard{}, Issuer: "the URL of the server"},
		{New: providers.Eventbrite, Profile: profile.Eventbrite{}},
		{New: providers.EVEOnline, Profile: profile.EVEOnline{}},
		{New: providers.Facebook, Profile: profile.Facebook{}},
		{New: providers.FACEIT, Profile: profile.FACEIT{}},
		{New: providers.Figma, Profile: profile.Figma{}},
		{New: providers.Fitbit, Profile: profile.Fitbit{}},
		{New: providers.Foursquare, Profile: profile.Foursquare{}},
		{New: providers.FreshBooks, Profile: profile.FreshBooks{}},
		{New: providers.Frontegg, Profile: profile.Frontegg{}, Issuer: "https://{subdomain}.frontegg.com"},
		{New: providers.FusionAuth, Profile: profile.FusionAuth{}, Issuer: "the issuer of the tenant"},
		{New: providers.Gitea, Profile: profile.Gitea{}},
		{New: providers.GitLab, Profile: profile.GitLab{}},
		{New: providers.Heroku, Profile: profile.Heroku{}},
		{New: providers.HubSpot, Profile: profile.HubSpot{}},
		{New: providers.HuggingFace, Profile: profile.HuggingFace{}},
		{New: providers.Hydra, Profile: profile.Standard{}, Issuer: "the URL of the server"},
		{New: providers.IdentityServer4, Profile: profile.Standard{}, Issuer: "the URL of the server"},
		{New: providers.InfluxCloud, Profile: profile.InfluxCloud{}},
		{New: providers.Instagram, Profile: profile.Instagram{}},
		{New: providers.Intercom, Profile: profile.Intercom{}},
		{New: providers.Kakao, Profile: profile.Kakao{}},
		{New: providers.Keycloak, Profile: profile.Keycloak{}, Issuer: "{server}/realms/{realm}"},
		{New: providers.Kinde, Profile: profile.Standard{}, Issuer: "https://{business}.kinde.com"},
		{New: providers.Lark, Profile: profile.Lark{}, Options: []string{"LarkInternational"}},
		{New: providers.LINE, Profile: profile.Standard{}},
	}
}
