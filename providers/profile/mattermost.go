package profile

// Mattermost is what a Mattermost server says about a person. Times are milliseconds since 1970.
type Mattermost struct {
	ID                     string                `json:"id"`
	CreateAt               int64                 `json:"create_at"`
	UpdateAt               int64                 `json:"update_at"`
	DeleteAt               int64                 `json:"delete_at"`
	Username               string                `json:"username"` // may change and be taken over by another person
	AuthData               string                `json:"auth_data"`
	AuthService            string                `json:"auth_service"` // empty: signs in with a password
	Email                  string                `json:"email"`
	EmailVerified          bool                  `json:"email_verified"`
	Nickname               string                `json:"nickname"`
	FirstName              string                `json:"first_name"`
	LastName               string                `json:"last_name"`
	Position               string                `json:"position"`
	Roles                  string                `json:"roles"` // separated by spaces
	NotifyProps            MattermostNotifyProps `json:"notify_props"`
	LastPasswordUpdate     int64                 `json:"last_password_update"`
	Locale                 string                `json:"locale"`
	Timezone               MattermostTimezone    `json:"timezone"`
	DisableWelcomeEmail    bool                  `json:"disable_welcome_email"`
	TermsOfServiceID       string                `json:"terms_of_service_id"`
	TermsOfServiceCreateAt int64                 `json:"terms_of_service_create_at"`
}

// MattermostNotifyProps is how the person is notified: texts, "true" and "false" among them.
type MattermostNotifyProps struct {
	Channel        string `json:"channel"`
	Comments       string `json:"comments"`
	Desktop        string `json:"desktop"`
	DesktopSound   string `json:"desktop_sound"`
	DesktopThreads string `json:"desktop_threads"`
	Email          string `json:"email"`
	EmailThreads   string `json:"email_threads"`
	FirstName      string `json:"first_name"`
	MentionKeys    string `json:"mention_keys"`
	Push           string `json:"push"`
	PushStatus     string `json:"push_status"`
	PushThreads    string `json:"push_threads"`
}

// MattermostTimezone is the time zone of the person.
type MattermostTimezone struct {
	AutomaticTimezone    string `json:"automaticTimezone"`
	ManualTimezone       string `json:"manualTimezone"`
	UseAutomaticTimezone string `json:"useAutomaticTimezone"`
}
