package profile

// Weibo is what Weibo says about a person.
type Weibo struct {
	ID              int64  `json:"id"`
	IDStr           string `json:"idstr"`
	ScreenName      string `json:"screen_name"`
	Name            string `json:"name"`
	Location        string `json:"location"`
	Description     string `json:"description"`
	URL             string `json:"url"`
	ProfileImageURL string `json:"profile_image_url"`
	AvatarLarge     string `json:"avatar_large"`
	Verified        bool   `json:"verified"` // by Weibo, as a public figure
}
