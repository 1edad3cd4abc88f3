package profile

// GitLab is what GitLab says about a person.
type GitLab struct {
	ID          int64  `json:"id"`
	Username    string `json:"username"` // may change and be taken over by another person
	Email       string `json:"email"`
	Name        string `json:"name"`
	State       string `json:"state"`
	AvatarURL   string `json:"avatar_url"`
	WebURL      string `json:"web_url"`
	CreatedAt   string `json:"created_at"`
	Bio         string `json:"bio"`
	Location    string `json:"location"`
	PublicEmail string `json:"public_email"`
	Followers   int64  `json:"followers"`
	Following   int64  `json:"following"`
	ConfirmedAt string `json:"confirmed_at"` // empty: never
	Identities  []struct {
		Provider  string `json:"provider"`
		ExternUID string `json:"extern_uid"`
	} `json:"identities"`
	Skype                          string `json:"skype"`
	Linkedin                       string `json:"linkedin"`
	Twitter                        string `json:"twitter"`
	WebsiteURL                     string `json:"website_url"`
	Organization                   string `json:"organization"`
	JobTitle                       string `json:"job_title"`
	Pronouns                       string `json:"pronouns"`
	Bot                            bool   `json:"bot"`
	WorkInformation                string `json:"work_information"`
	LocalTime                      string `json:"local_time"`
	LastSignInAt                   string `json:"last_sign_in_at"`
	ThemeID                        int64  `json:"theme_id"`
	LastActivityOn                 string `json:"last_activity_on"`
	ColorSchemeID                  int64  `json:"color_scheme_id"`
	ProjectsLimit                  int64  `json:"projects_limit"`
	CurrentSignInAt                string `json:"current_sign_in_at"`
	CanCreateGroup                 bool   `json:"can_create_group"`
	CanCreateProject               bool   `json:"can_create_project"`
	TwoFactorEnabled               bool   `json:"two_factor_enabled"`
	External                       bool   `json:"external"`
	PrivateProfile                 bool   `json:"private_profile"`
	CommitEmail                    string `json:"commit_email"`
	SharedRunnersMinutesLimit      int64  `json:"shared_runners_minutes_limit"`
	ExtraSharedRunnersMinutesLimit int64  `json:"extra_shared_runners_minutes_limit"`
}
