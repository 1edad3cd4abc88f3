package profile

// SoundCloud is what SoundCloud says about a person.
type SoundCloud struct {
	ID              int64  `json:"id"`
	URN             string `json:"urn"` // such as soundcloud:users:123
	Kind            string `json:"kind"`
	Username        string `json:"username"` // may change and be taken over by another person
	FullName        string `json:"full_name"`
	FirstName       string `json:"first_name"`
	LastName        string `json:"last_name"`
	AvatarURL       string `json:"avatar_url"`
	Permalink       string `json:"permalink"`
	PermalinkURL    string `json:"permalink_url"`
	City            string `json:"city"`
	Country         string `json:"country"`
	Description     string `json:"description"`
	FollowersCount  int64  `json:"followers_count"`
	FollowingsCount int64  `json:"followings_count"`
	TrackCount      int64  `json:"track_count"`
}
