package profile

// Dribbble is what Dribbble says about a person.
type Dribbble struct {
	ID             int64             `json:"id"`
	Name           string            `json:"name"`
	Login          string            `json:"login"` // may change
	HTMLURL        string            `json:"html_url"`
	AvatarURL      string            `json:"avatar_url"`
	Email          string            `json:"email"`
	Bio            string            `json:"bio"`
	Location       string            `json:"location"`
	Links          map[string]string `json:"links"` // by kind
	CanUploadShot  bool              `json:"can_upload_shot"`
	Pro            bool              `json:"pro"`
	FollowersCount int64             `json:"followers_count"`
	CreatedAt      string            `json:"created_at"`
	Type           string            `json:"type"`
}
