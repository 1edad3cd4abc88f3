package profile

// SimpleLogin is what a SimpleLogin ID token says.
type SimpleLogin struct {
	OpenID
	UserID    int64  `json:"id"`
	AvatarURL string `json:"avatar_url"`
	Client    string `json:"client"` // name of this application
}
