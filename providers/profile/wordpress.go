package profile

// WordPress is what WordPress.com says about a person.
type WordPress struct {
	ID             int64  `json:"ID"`
	DisplayName    string `json:"display_name"`
	Username       string `json:"username"` // may change and be taken over by another person
	Email          string `json:"email"`
	EmailVerified  bool   `json:"email_verified"`
	PrimaryBlog    int64  `json:"primary_blog"`
	PrimaryBlogURL string `json:"primary_blog_url"`
	Language       string `json:"language"`
	AvatarURL      string `json:"avatar_URL"`
	ProfileURL     string `json:"profile_URL"`
	SiteCount      int64  `json:"site_count"`
	Verified       bool   `json:"verified"`
}
