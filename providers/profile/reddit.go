package profile

// Reddit is what Reddit says about a person.
type Reddit struct {
	ID               string  `json:"id"`
	Name             string  `json:"name"` // the user name
	IconImg          string  `json:"icon_img"`
	CreatedUtc       float64 `json:"created_utc"` // seconds since 1970
	LinkKarma        int64   `json:"link_karma"`
	CommentKarma     int64   `json:"comment_karma"`
	TotalKarma       int64   `json:"total_karma"`
	HasVerifiedEmail bool    `json:"has_verified_email"` // Reddit does not say which
	Verified         bool    `json:"verified"`
	Over18           bool    `json:"over_18"`
	IsGold           bool    `json:"is_gold"`
	IsMod            bool    `json:"is_mod"`
	IsSuspended      bool    `json:"is_suspended"`
}
