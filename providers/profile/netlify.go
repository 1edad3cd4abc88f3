package profile

// Netlify is what Netlify says about a person.
type Netlify struct {
	ID             string   `json:"id"`
	UID            string   `json:"uid"`
	FullName       string   `json:"full_name"`
	AvatarURL      string   `json:"avatar_url"`
	Email          string   `json:"email"`
	AffiliateID    string   `json:"affiliate_id"`
	SiteCount      int64    `json:"site_count"`
	CreatedAt      string   `json:"created_at"`
	LastLogin      string   `json:"last_login"`
	LoginProviders []string `json:"login_providers"`
}
