package profile

// Auth0 is what an Auth0 ID token says. Most of it only tokens have that a rule
// or an action of the tenant has added it to.
type Auth0 struct {
	Standard
	AppMetadata  map[string]any `json:"app_metadata"`
	Blocked      bool           `json:"blocked"`
	CreatedAt    string         `json:"created_at"`
	UserMetadata map[string]any `json:"user_metadata"`
	Username     string         `json:"username"`
	Identities   []struct {
		Connection  string         `json:"connection"`
		IsSocial    bool           `json:"isSocial"`
		Provider    string         `json:"provider"`
		UserID      string         `json:"user_id"`
		ProfileData map[string]any `json:"profileData"`
	} `json:"identities"`
	LastIP            string `json:"last_ip"`
	LastLogin         string `json:"last_login"`
	LastPasswordReset string `json:"last_password_reset"`
	LoginsCount       int64  `json:"logins_count"`
	Multifactor       any    `json:"multifactor"`
	PhoneVerified     bool   `json:"phone_verified"`
	UserID            string `json:"user_id"`
}
