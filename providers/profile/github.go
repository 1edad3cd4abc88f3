package profile

import (
	"time"
)

// GitHub is what GitHub says about a person. Texts that GitHub leaves null are empty.
// GitHub gives the fields from PrivateGists on only to tokens with the scope user: they
// are nil or false otherwise.
type GitHub struct {
	Login             string    `json:"login"` // may change and be taken over by another person
	ID                int64     `json:"id"`
	NodeID            string    `json:"node_id"`
	AvatarURL         string    `json:"avatar_url"`
	GravatarID        string    `json:"gravatar_id"`
	URL               string    `json:"url"`
	HTMLURL           string    `json:"html_url"`
	FollowersURL      string    `json:"followers_url"`
	FollowingURL      string    `json:"following_url"`
	GistsURL          string    `json:"gists_url"`
	StarredURL        string    `json:"starred_url"`
	SubscriptionsURL  string    `json:"subscriptions_url"`
	OrganizationsURL  string    `json:"organizations_url"`
	ReposURL          string    `json:"repos_url"`
	EventsURL         string    `json:"events_url"`
	ReceivedEventsURL string    `json:"received_events_url"`
	Type              string    `json:"type"`
	SiteAdmin         bool      `json:"site_admin"`
	Name              string    `json:"name"`
	Company           string    `json:"company"`
	Blog              string    `json:"blog"`
	Location          string    `json:"location"`
	Email             string    `json:"email"`
	EmailVerified     bool      `json:"email_verified"` // set by this package; see GitHub
	Hireable          *bool     `json:"hireable"`       // nil: not said
	Bio               string    `json:"bio"`
	TwitterUsername   string    `json:"twitter_username"`
	PublicRepos       int64     `json:"public_repos"`
	PublicGists       int64     `json:"public_gists"`
	Followers         int64     `json:"followers"`
	Following         int64     `json:"following"`
	CreatedAt         time.Time `json:"created_at"`
	UpdatedAt         time.Time `json:"updated_at"`
	SuspendedAt       time.Time `json:"suspended_at"` // zero: not suspended

	PrivateGists            *int64      `json:"private_gists"`
	TotalPrivateRepos       *int64      `json:"total_private_repos"`
	OwnedPrivateRepos       *int64      `json:"owned_private_repos"`
	DiskUsage               *int64      `json:"disk_usage"` // KiB
	Collaborators           *int64      `json:"collaborators"`
	TwoFactorAuthentication bool        `json:"two_factor_authentication"`
	Plan                    *GitHubPlan `json:"plan"`
}

// GitHubPlan is the plan that the user pays GitHub for.
type GitHubPlan struct {
	Name          string `json:"name"`
	Space         int64  `json:"space"` // KiB
	Collaborators int64  `json:"collaborators"`
	PrivateRepos  int64  `json:"private_repos"`
}
