package profile

// Slack is what a Slack ID token says. A person is one in each workspace.
type Slack struct {
	OpenID
	OK                bool   `json:"ok"`
	UserID            string `json:"https://slack.com/user_id"`
	TeamID            string `json:"https://slack.com/team_id"`
	DateEmailVerified int64  `json:"date_email_verified"` // seconds since 1970
	TeamName          string `json:"https://slack.com/team_name"`
	TeamDomain        string `json:"https://slack.com/team_domain"`
	UserImage24       string `json:"https://slack.com/user_image_24"`
	UserImage32       string `json:"https://slack.com/user_image_32"`
	UserImage48       string `json:"https://slack.com/user_image_48"`
	UserImage72       string `json:"https://slack.com/user_image_72"`
	UserImage192      string `json:"https://slack.com/user_image_192"`
	UserImage512      string `json:"https://slack.com/user_image_512"`
	UserImage1024     string `json:"https://slack.com/user_image_1024"`
	TeamImage34       string `json:"https://slack.com/team_image_34"`
	TeamImage44       string `json:"https://slack.com/team_image_44"`
	TeamImage68       string `json:"https://slack.com/team_image_68"`
	TeamImage88       string `json:"https://slack.com/team_image_88"`
	TeamImage102      string `json:"https://slack.com/team_image_102"`
	TeamImage132      string `json:"https://slack.com/team_image_132"`
	TeamImage230      string `json:"https://slack.com/team_image_230"`
	TeamImageDefault  bool   `json:"https://slack.com/team_image_default"`
}
