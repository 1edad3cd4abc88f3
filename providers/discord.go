package providers

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// Discord signs in with a Discord account. Its profile is a [profile.Discord].
//
// The profile's verified says whether the e-mail was proven. A person without a
// picture gets one of Discord's own. Tokens live for a week; a refresh token works
// once, and /oauth2/token/revoke ends all tokens of the person and application. See
// https://discord.com/developers/docs/topics/oauth2.
func Discord(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "discord",
		Name:          "Discord",
		Authorization: latchkey.Endpoint{URL: "https://discord.com/api/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://discord.com/api/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://discord.com/api/users/@me"},
		Revocation:    latchkey.Endpoint{URL: "https://discord.com/api/oauth2/token/revoke"},
		Scopes:        []string{"identify", "email"},
		Identify:      identifyDiscord,
		Style:         latchkey.Style{Color: "#5865F2", Mark: markDiscord},
	})
}

// identifyDiscord returns the person, with the URL of the picture by discordImage.
func identifyDiscord(g latchkey.Grant) (latchkey.Identity, error) {
	m := mapping{from: g.Profile}
	who := latchkey.Identity{
		Subject:    m.id("id"),
		Name:       m.text("global_name", "username"),
		Email:      m.text("email"),
		EmailTrust: trust(g.Profile["verified"]),
	}
	who.Image = discordImage(who.Subject, m.text("avatar"), m.text("discriminator"))
	return m.identity(who)
}

// discordImage returns the URL of a person's picture. Without an avatar it takes a picture of
// Discord's own, by the discriminator of an old user name, or else by the id. It returns "" if
// it needs the id and that is no number.
func discordImage(id, avatar, discriminator string) string {
	if avatar != "" {
		extension := "png"
		if strings.HasPrefix(avatar, "a_") {
			extension = "gif"
		}
		return "https://cdn.discordapp.com/avatars/" + url.PathEscape(id) + "/" + url.PathEscape(avatar) + "." + extension
	}
	number, err := strconv.ParseUint(id, 10, 64)
	which := number >> 22 % 6
	if old, isOld := strconv.Atoi(discriminator); discriminator != "0" && isOld == nil {
		which, err = uint64(max(old, 0)%5), nil
	}
	if err != nil {
		return ""
	}
	return "https://cdn.discordapp.com/embed/avatars/" + strconv.FormatUint(which, 10) + ".png"
}
