package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// EVEOnline signs in with a character of EVE Online. Its profile is a
// [profile.EVEOnline].
//
// People are known by their character, and a character can be sold: compare
// CharacterOwnerHash of the profile where that matters, because it changes with the
// owner. There is no e-mail. See https://developers.eveonline.com/docs/services/sso/.
func EVEOnline(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "eveonline",
		Name:          "EVE Online",
		Authorization: latchkey.Endpoint{URL: "https://login.eveonline.com/v2/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://login.eveonline.com/v2/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://login.eveonline.com/oauth/verify"},
		Scopes:        []string{"publicData"},
		Checks:        []latchkey.Check{latchkey.CheckState},
		Identify:      identifyEVEOnline,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#1a1a1a"},
	})
}

func identifyEVEOnline(g latchkey.Grant) (latchkey.Identity, error) {
	m := mapping{from: g.Profile}
	who := latchkey.Identity{Subject: m.id("CharacterID"), Name: m.text("CharacterName")}
	if who.Subject != "" {
		who.Image = "https://images.evetech.net/characters/" + url.PathEscape(who.Subject) + "/portrait?size=128"
	}
	return m.identity(who)
}
