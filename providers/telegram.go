package providers

import "github.com/latchkeyhq/latchkey"

// Telegram signs in with a Telegram account. Its profile is a [profile.Telegram].
//
// A bot stands for the site. BotFather gives its client id and secret, and registers
// the redirect URI, which ends in /callback/telegram. There is no e-mail. The scope
// phone asks for the telephone number, which Telegram has proven.
//
// See https://core.telegram.org/bots/telegram-login (read on 23 November 2026).
func Telegram(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:         "telegram",
		Name:       "Telegram",
		OIDC:       true,
		Issuer:     "https://oauth.telegram.org",
		Checks:     []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Scopes:     []string{"openid", "profile"},
		Identify:   fields{subject: "sub", name: "name", image: "picture", trust: latchkey.EmailUnproven}.identify,
		EmailTrust: latchkey.EmailUnproven,
		Style:      latchkey.Style{Color: "#26a5e4"},
	})
}
