package providers

import (
	"context"
	"net/http"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// SoundCloud signs in with a SoundCloud account. Its profile is a
// [profile.SoundCloud].
//
// Register an app at https://soundcloud.com/you/apps with a redirect URI that
// ends in /callback/soundcloud. SoundCloud gives no e-mail. Refresh tokens are
// used once.
//
// See https://developers.soundcloud.com/docs/api/guide#authentication.
func SoundCloud(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(p.Or(latchkey.OAuth{
		ID:            "soundcloud",
		Name:          "SoundCloud",
		Authorization: latchkey.Endpoint{URL: "https://secure.soundcloud.com/authorize"},
		Token:         latchkey.Endpoint{URL: "https://secure.soundcloud.com/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.soundcloud.com/me"},
		ClientAuth:    latchkey.ClientSecretPost,
		Scopes:        []string{},
		Identify:      identifySoundCloud,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#ff5500", Mark: markSoundCloud},
	}), func(ctx context.Context, a api) (latchkey.Claims, error) {
		req, err := a.request(ctx, http.MethodGet, endpointURL(a.user), nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "OAuth "+a.tokens.AccessToken) // no Bearer here
		return a.object(req)
	})
}

// identifySoundCloud takes the id, which SoundCloud is about to drop, or if that is
// missing the number at the end of the URN, which is the same.
func identifySoundCloud(g latchkey.Grant) (latchkey.Identity, error) {
	who, err := fields{subject: "id", name: "full_name", image: "avatar_url", trust: latchkey.EmailUnproven}.identify(g)
	if number, ok := strings.CutPrefix(g.Profile.String("urn"), "soundcloud:users:"); ok && err == nil && who.Subject == "" {
		who.Subject = number
	}
	return who, err
}
