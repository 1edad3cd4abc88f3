package profile

// Mastodon is the account of a person at one Mastodon server.
type Mastodon struct {
	ID             string `json:"id"`
	Username       string `json:"username"` // may change and be taken over by another person
	Acct           string `json:"acct"`     // the user name; with the server for accounts elsewhere
	DisplayName    string `json:"display_name"`
	Locked         bool   `json:"locked"`
	Bot            bool   `json:"bot"`
	CreatedAt      string `json:"created_at"`
	Note           string `json:"note"` // HTML
	URL            string `json:"url"`
	Avatar         string `json:"avatar"`
	AvatarStatic   string `json:"avatar_static"`
	Header         string `json:"header"`
	HeaderStatic   string `json:"header_static"`
	FollowersCount int64  `json:"followers_count"`
	FollowingCount int64  `json:"following_count"`
	StatusesCount  int64  `json:"statuses_count"`
	LastStatusAt   string `json:"last_status_at"` // a date
}
