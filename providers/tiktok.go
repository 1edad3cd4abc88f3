package providers

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// TikTok signs in with a TikTok account. Its profile is a [profile.TikTok].
//
// The client id is what TikTok calls the client key. TikTok wants the domain
// and the callback URL registered and approved, and applications in production
// cannot use localhost; there is a sandbox for trying things out.
//
// TikTok never gives an e-mail address, so the user has none. The user name, which is no
// mailbox and may change, is in the profile. More fields of the profile than the usual
// ones have to be asked for, and some need a scope:
//
//	providers.TikTok(latchkey.OAuth{
//		Scopes:   []string{"user.info.profile", "user.info.stats"},
//		UserInfo: providers.TikTokFields(providers.TikTokDisplayName, providers.TikTokFollowerCount),
//	})
//
// An error that TikTok reports instead of a profile is a [*TikTokError].
//
// Tokens live for a day. A refresh token always comes, lives for a year, and may be
// another one after each use; /v2/oauth/revoke/ ends a token.
func TikTok(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(dialect{answer: repairTikTok}.of(p).Or(latchkey.OAuth{
		ID:             "tiktok",
		Name:           "TikTok",
		ClientAuth:     latchkey.ClientSecretPost,
		ClientIDParam:  "client_key",
		Authorization:  latchkey.Endpoint{URL: "https://www.tiktok.com/v2/auth/authorize"},
		Token:          latchkey.Endpoint{URL: "https://open.tiktokapis.com/v2/oauth/token/"},
		Revocation:     latchkey.Endpoint{URL: "https://open.tiktokapis.com/v2/oauth/revoke/"},
		UserInfo:       TikTokFields(TikTokOpenID, TikTokAvatarURL, TikTokDisplayName, TikTokUsername),
		Scopes:         []string{"user.info.profile"},
		ScopeSeparator: ",",
		Identify:       identifyTikTok,
		EmailTrust:     latchkey.EmailUnproven,
		Style:          latchkey.Style{Color: "#000"},
	}), fetchTikTok)
}

// repairTikTok turns an error in TikTok's old envelope into one of OAuth.
func repairTikTok(c latchkey.Claims) latchkey.Claims {
	if stated := member(c, "data"); stated.String("error_code") != "" && stated.String("error_code") != "0" {
		return fault("tiktok_"+stated.String("error_code"), stated.String("description"))
	}
	return c
}

// identifyTikTok returns the person. The name is the display name, or else the user
// name.
func identifyTikTok(g latchkey.Grant) (latchkey.Identity, error) {
	m := mapping{from: member(g.Profile, "data", "user")}
	name := m.text("display_name")
	if name == "" {
		name = m.text("username")
	}
	return m.identity(latchkey.Identity{
		Subject:    m.id("open_id"),
		Name:       name,
		Email:      m.text("email"), // none so far
		Image:      m.text("avatar_url"),
		EmailTrust: latchkey.EmailUnproven,
	})
}

// fetchTikTok returns the profile. An error that TikTok reports is a *TikTokError: its
// envelope says more than the status.
func fetchTikTok(ctx context.Context, a api) (latchkey.Claims, error) {
	got, err := a.get(ctx, endpointURL(a.user))
	if err != nil {
		return nil, err
	}
	profile, err := object(got.body)
	if err != nil {
		return nil, fmt.Errorf("providers: TikTok answered with status %d and no JSON object", got.status)
	}
	if err := tikTokFault(profile); err != nil {
		return nil, err
	}
	if !got.isOK() {
		return nil, fmt.Errorf("providers: TikTok answered with status %d", got.status)
	}
	return profile, nil
}

// tikTokFault returns the error that an answer reports, or nil.
func tikTokFault(profile latchkey.Claims) error {
	stated := member(profile, "error")
	code, _ := stated["code"].(string)
	if code == "" || code == "ok" {
		return nil
	}
	return &TikTokError{Code: code, LogID: stated.String("log_id"), Message: stated.String("message")}
}

// TikTokError is an error that TikTok reported.
type TikTokError struct {
	Code    string `json:"code"`   // the category, such as "access_token_invalid"; "ok": no error
	LogID   string `json:"log_id"` // what TikTok's support asks for
	Message string `json:"message"`
}

// Error implements error. It leaves out the message, which is TikTok's text.
func (e *TikTokError) Error() string {
	return fmt.Sprintf("providers: TikTok answered with error %.64q (log id %.64q)", e.Code, e.LogID)
}

// TikTokField is a member of a TikTok profile that can be asked for.
type TikTokField string

// The fields. The comments name the scope that a field needs beside
// user.info.basic.
const (
	TikTokOpenID          TikTokField = "open_id"
	TikTokUnionID         TikTokField = "union_id"
	TikTokAvatarURL       TikTokField = "avatar_url"
	TikTokAvatarURL100    TikTokField = "avatar_url_100"
	TikTokAvatarLargeURL  TikTokField = "avatar_large_url"
	TikTokDisplayName     TikTokField = "display_name"
	TikTokUsername        TikTokField = "username"          // user.info.profile
	TikTokBioDescription  TikTokField = "bio_description"   // user.info.profile
	TikTokProfileDeepLink TikTokField = "profile_deep_link" // user.info.profile
	TikTokIsVerified      TikTokField = "is_verified"       // user.info.profile
	TikTokFollowerCount   TikTokField = "follower_count"    // user.info.stats
	TikTokFollowingCount  TikTokField = "following_count"   // user.info.stats
	TikTokLikesCount      TikTokField = "likes_count"       // user.info.stats
	TikTokVideoCount      TikTokField = "video_count"       // user.info.stats
)

// TikTokFields returns the endpoint that answers with the given fields. The open id
// is always among them, because no person can be signed in without it.
func TikTokFields(fields ...TikTokField) latchkey.Endpoint {
	if !slices.Contains(fields, TikTokOpenID) {
		fields = append([]TikTokField{TikTokOpenID}, fields...)
	}
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = string(field)
	}
	return latchkey.Endpoint{
		URL:    "https://open.tiktokapis.com/v2/user/info/",
		Params: url.Values{"fields": {strings.Join(names, ",")}},
	}
}
