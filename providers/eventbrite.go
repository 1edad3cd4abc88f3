package providers

import (
	"cmp"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Eventbrite signs in with an Eventbrite account. Its profile is a
// [profile.Eventbrite].
//
// The e-mail is the primary one of a list, which says for each whether it was
// proven. Tokens do not expire. See
// https://www.eventbrite.com/platform/api#/introduction/authentication.
func Eventbrite(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "eventbrite",
		Name:          "Eventbrite",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://www.eventbrite.com/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://www.eventbrite.com/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://www.eventbriteapi.com/v3/users/me/"},
		Scopes:        []string{"user.profile"},
		Identify:      identifyEventbrite,
		Style:         latchkey.Style{Color: "#f05537"},
	})
}

// identifyEventbrite returns the person with the primary e-mail of the list. It makes
// the URL of the picture from its id.
func identifyEventbrite(g latchkey.Grant) (latchkey.Identity, error) {
	m := mapping{from: g.Profile}
	who := latchkey.Identity{Subject: m.id("id"), Name: m.text("name"), EmailTrust: latchkey.EmailUnproven, WithoutImage: true}
	list, _ := g.Profile["emails"].([]any)
	for _, entry := range list {
		if email, _ := entry.(map[string]any); email["primary"] == true {
			entry := mapping{from: email}
			who.Email, who.EmailTrust = entry.text("email"), trust(email["verified"])
			m.err = cmp.Or(m.err, entry.err)
		}
	}
	if id := m.id("image_id"); id != "" {
		who.Image = "https://img.evbuc.com/https%3A%2F%2Fcdn.evbuc.com%2Fimages%2F" + url.PathEscape(id) + "%2F1%2Foriginal.jpg"
	}
	return m.identity(who)
}
