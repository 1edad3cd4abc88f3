package providers

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// Yandex signs in with a Yandex account. Its profile is a [profile.Yandex].
//
// The picture is the one of 200 by 200 pixels; see [YandexAvatarURL] for
// others. A person that never chose a picture has none. Yandex does not say
// whether an e-mail was proven.
//
// Tokens live for months, and a refresh token always comes; each use of it brings a
// new one. /revoke_token ends a token.
func Yandex(p latchkey.OAuth) *latchkey.OAuth {
	return revoking(p.Or(latchkey.OAuth{
		ID:            "yandex",
		Name:          "Yandex",
		Authorization: latchkey.Endpoint{URL: "https://oauth.yandex.ru/authorize"},
		Token:         latchkey.Endpoint{URL: "https://oauth.yandex.ru/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://login.yandex.ru/info", Params: url.Values{"format": {"json"}}},
		Scopes:        []string{"login:info", "login:email", "login:avatar"},
		Identify:      identifyYandex,
		Style:         latchkey.Style{Color: "#ffcc00"},
	}), func(p *latchkey.OAuth) revoke {
		client, secret := p.ClientID, p.ClientSecret
		return func(ctx context.Context, c *http.Client, t latchkey.Tokens) error {
			req, err := bare(ctx, http.MethodPost, "https://oauth.yandex.ru/revoke_token")
			if err != nil {
				return err
			}
			form := url.Values{"access_token": {t.AccessToken}, "client_id": {client}, "client_secret": {secret}}
			return ended(c, req, "application/x-www-form-urlencoded", form)
		}
	})
}

// identifyYandex returns the person, with the e-mail of yandexEmail and the picture of
// yandexImage.
func identifyYandex(g latchkey.Grant) (latchkey.Identity, error) {
	m := mapping{from: g.Profile}
	return m.identity(latchkey.Identity{
		Subject: m.id("id"),
		Name:    m.text("display_name", "real_name", "first_name"),
		Email:   yandexEmail(&m),
		Image:   yandexImage(&m),

		WithoutImage: true,
	})
}

// yandexEmail returns default_email, or the first entry of emails, or "".
func yandexEmail(m *mapping) string {
	if m.from["default_email"] != nil {
		return m.text("default_email")
	}
	if list, _ := m.from["emails"].([]any); len(list) > 0 {
		first := mapping{from: latchkey.Claims{"emails": list[0]}}
		email := first.text("emails")
		if m.err == nil {
			m.err = first.err
		}
		return email
	}
	return ""
}

// yandexImage returns the URL of the picture, or "" unless Yandex says that the picture
// is more than a stub.
func yandexImage(m *mapping) string {
	if empty, known := m.from["is_avatar_empty"].(bool); empty || !known {
		return ""
	}
	return YandexAvatarURL(m.text("default_avatar_id"), YandexAvatar200)
}

// YandexAvatarSize is the size of a picture, as it stands in its URL.
type YandexAvatarSize string

// The sizes of pictures, by the pixels of a side. Retina sizes are twice as
// many pixels as the name they share.
const (
	YandexAvatarSmall        YandexAvatarSize = "islands-small"         // 28
	YandexAvatar34           YandexAvatarSize = "islands-34"            // 34
	YandexAvatarMiddle       YandexAvatarSize = "islands-middle"        // 42
	YandexAvatar50           YandexAvatarSize = "islands-50"            // 50
	YandexAvatarRetinaSmall  YandexAvatarSize = "islands-retina-small"  // 56
	YandexAvatar68           YandexAvatarSize = "islands-68"            // 68
	YandexAvatar75           YandexAvatarSize = "islands-75"            // 75
	YandexAvatarRetinaMiddle YandexAvatarSize = "islands-retina-middle" // 84
	YandexAvatarRetina50     YandexAvatarSize = "islands-retina-50"     // 100
	YandexAvatar200          YandexAvatarSize = "islands-200"           // 200
)

// Pixels returns the length of a side of the square picture, or 0 for an unknown size.
func (s YandexAvatarSize) Pixels() int {
	switch s {
	case YandexAvatarSmall:
		return 28
	case YandexAvatarMiddle:
		return 42
	case YandexAvatarRetinaSmall:
		return 56
	case YandexAvatarRetinaMiddle:
		return 84
	case YandexAvatarRetina50:
		return 100
	case YandexAvatar34, YandexAvatar50, YandexAvatar68, YandexAvatar75, YandexAvatar200:
		pixels, _ := strconv.Atoi(strings.TrimPrefix(string(s), "islands-"))
		return pixels
	}
	return 0
}

// YandexAvatarURL returns the URL of a picture, given the id that a profile holds
// (default_avatar_id). It returns "" for an empty id.
func YandexAvatarURL(avatarID string, size YandexAvatarSize) string {
	if avatarID == "" {
		return ""
	}
	parts := strings.Split(avatarID, "/") // an id consists of a group and a name
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return "https://avatars.yandex.net/get-yapic/" + strings.Join(parts, "/") + "/" + string(size)
}
