package providers

import "github.com/latchkeyhq/latchkey"

// BattleNet signs in with a Battle.net account. Its profile is a [profile.BattleNet]. If
// Issuer is empty, AUTH_BATTLENET_ISSUER is used, or else the issuer for everywhere but
// mainland China. For mainland China set Issuer to [BattleNetChina].
//
// A BattleTag may change. There is neither an e-mail nor a picture. See
// https://develop.battle.net/documentation/guides/using-oauth.
func BattleNet(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:         "battlenet",
		Name:       "Battle.net",
		OIDC:       true,
		Issuer:     "https://oauth.battle.net",
		Scopes:     []string{"openid"}, // there is none for more
		Identify:   fields{subject: "sub", name: "battle_tag|battletag", noImage: true}.identify,
		EmailTrust: latchkey.EmailUnproven,
		Style:      latchkey.Style{Color: "#148eff", Mark: markBattleNet},
	})
}

// BattleNetChina is the issuer for accounts of mainland China.
const BattleNetChina = "https://oauth.battlenet.com.cn"
