package profile

// TikTok is what TikTok says about a person, in its envelope.
type TikTok struct {
	Data struct {
		User TikTokUser `json:"user"`
	} `json:"data"`
	Error struct {
		Code    string `json:"code"`   // "ok": no error
		LogID   string `json:"log_id"` // what TikTok's support asks for
		Message string `json:"message"`
	} `json:"error"`
}

// TikTokUser holds the fields that were asked for; the others are empty or nil.
type TikTokUser struct {
	OpenID          string `json:"open_id"`  // of the person in this application
	UnionID         string `json:"union_id"` // of the person in all applications of the developer
	AvatarURL       string `json:"avatar_url"`
	AvatarURL100    string `json:"avatar_url_100"`   // 100 by 100 pixels
	AvatarLargeURL  string `json:"avatar_large_url"` // more pixels than AvatarURL
	DisplayName     string `json:"display_name"`
	Username        string `json:"username"`
	BioDescription  string `json:"bio_description"`
	ProfileDeepLink string `json:"profile_deep_link"` // URL of the profile's page
	IsVerified      *bool  `json:"is_verified"`       // the badge, not the e-mail
	FollowerCount   *int64 `json:"follower_count"`
	FollowingCount  *int64 `json:"following_count"`
	LikesCount      *int64 `json:"likes_count"` // of all videos together
	VideoCount      *int64 `json:"video_count"` // public ones
	Email           string `json:"email"`       // TikTok does not support it: always empty so far
}
