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
}

// Providers lists all OAuth and OpenID Connect providers, in no order that
// matters. The list is the caller's own.
func Providers() []Entry {
	return []Entry{
		{New: providers.Apple, Profile: profile.Apple{}},
		{New: providers.GitHub, Profile: profile.GitHub{}},
		{New: providers.Google, Profile: profile.Google{}},
		{New: providers.MicrosoftEntraID, Profile: profile.Entra{}},
		{New: providers.LinkedIn, Profile: profile.OpenID{}},
		{New: providers.Logto, Profile: profile.Logto{}},
		{New: providers.Mailchimp, Profile: profile.Mailchimp{}},
		{New: providers.MailRu, Profile: profile.MailRu{}},
		{New: providers.Mastodon, Profile: profile.Mastodon{}},
		{New: providers.Mattermost, Profile: profile.Mattermost{}},
		{New: providers.Medium, Profile: profile.Medium{}},
		{New: providers.Meetup, Profile: profile.Meetup{}},
		{New: providers.Naver, Profile: profile.Naver{}},
		{New: providers.Netlify, Profile: profile.Netlify{}},
		{New: providers.NetSuite, Profile: profile.NetSuite{}},
		{New: providers.Nextcloud, Profile: profile.Nextcloud{}},
		{New: providers.Notion, Profile: profile.Notion{}},
		{New: providers.Okta, Profile: profile.Okta{}},
		{New: providers.OneLogin, Profile: profile.OpenID{}},
		{New: providers.OpenIDConnect, Profile: profile.OpenID{}},
		{New: providers.Osso, Profile: profile.OpenID{}},
		{New: providers.Osu, Profile: profile.Osu{}},
		{New: providers.Oura, Profile: profile.Oura{}},
		{New: providers.Patreon, Profile: profile.Patreon{}},
		{New: providers.PayPal, Profile: profile.PayPal{}},
		{New: providers.PingID, Profile: profile.PingID{}},
		{New: providers.Pinterest, Profile: profile.Pinterest{}},
		{New: providers.Pipedrive, Profile: profile.Pipedrive{}},
		{New: providers.TikTok, Profile: profile.TikTok{}},
		{New: providers.Yandex, Profile: profile.Yandex{}},
		{New: providers.FortyTwoSchool, Profile: profile.FortyTwoSchool{}},
		{New: providers.Amazon, Profile: profile.Amazon{}},
		{New: providers.Asgardeo, Profile: profile.Standard{}},
		{New: providers.Atlassian, Profile: profile.Atlassian{}},
		{New: providers.Auth0, Profile: profile.Auth0{}},
		{New: providers.Authentik, Profile: profile.Authentik{}},
		{New: providers.AzureAD, Profile: profile.Entra{}},
		{New: providers.AzureADB2C, Profile: profile.AzureADB2C{}},
		{New: providers.BankIDNorway, Profile: profile.BankIDNorway{}},
		{New: providers.BattleNet, Profile: profile.BattleNet{}},
		{New: providers.BeyondIdentity, Profile: profile.Standard{}},
		{New: providers.Bitbucket, Profile: profile.Bitbucket{}},
		{New: providers.Box, Profile: profile.Box{}},
		{New: providers.BoxyHQSAML, Profile: profile.BoxyHQSAML{}},
		{New: providers.Bungie, Profile: profile.Bungie{}},
		{New: providers.ClassLink, Profile: profile.ClassLink{}},
		{New: providers.ClickUp, Profile: profile.ClickUp{}},
		{New: providers.CloudFoundry, Profile: profile.CloudFoundry{}},
		{New: providers.Cognito, Profile: profile.Cognito{}},
		{New: providers.Coinbase, Profile: profile.Coinbase{}},
		{New: providers.Concept2, Profile: profile.Concept2{}},
		{New: providers.Dailymotion, Profile: profile.Dailymotion{}},
		{New: providers.Deezer, Profile: profile.Deezer{}},
		{New: providers.Descope, Profile: profile.Standard{}},
		{New: providers.DigitalOcean, Profile: profile.DigitalOcean{}},
		{New: providers.DingTalk, Profile: profile.DingTalk{}},
		{New: providers.Discord, Profile: profile.Discord{}},
		{New: providers.Dribbble, Profile: profile.Dribbble{}},
		{New: providers.Dropbox, Profile: profile.Dropbox{}},
		{New: providers.DuendeIdentityServer6, Profile: profile.Standard{}},
		{New: providers.Eventbrite, Profile: profile.Eventbrite{}},
		{New: providers.EVEOnline, Profile: profile.EVEOnline{}},
		{New: providers.Facebook, Profile: profile.Facebook{}},
		{New: providers.FACEIT, Profile: profile.FACEIT{}},
		{New: providers.Figma, Profile: profile.Figma{}},
		{New: providers.Fitbit, Profile: profile.Fitbit{}},
		{New: providers.Foursquare, Profile: profile.Foursquare{}},
		{New: providers.FreshBooks, Profile: profile.FreshBooks{}},
		{New: providers.Frontegg, Profile: profile.Frontegg{}},
		{New: providers.FusionAuth, Profile: profile.FusionAuth{}},
		{New: providers.Gitea, Profile: profile.Gitea{}},
		{New: providers.GitLab, Profile: profile.GitLab{}},
		{New: providers.Heroku, Profile: profile.Heroku{}},
		{New: providers.HubSpot, Profile: profile.HubSpot{}},
		{New: providers.HuggingFace, Profile: profile.HuggingFace{}},
		{New: providers.Hydra, Profile: profile.Standard{}},
		{New: providers.IdentityServer4, Profile: profile.Standard{}},
		{New: providers.InfluxCloud, Profile: profile.InfluxCloud{}},
		{New: providers.Instagram, Profile: profile.Instagram{}},
		{New: providers.Intercom, Profile: profile.Intercom{}},
		{New: providers.Kakao, Profile: profile.Kakao{}},
		{New: providers.Keycloak, Profile: profile.Keycloak{}},
		{New: providers.Kinde, Profile: profile.Standard{}},
		{New: providers.Lark, Profile: profile.Lark{}},
		{New: providers.LINE, Profile: profile.Standard{}},
	}
}
