package profile

// Bitbucket is what Bitbucket says about a person.
type Bitbucket struct {
	DisplayName string `json:"display_name"`
	Links       struct {
		Self struct {
			Href string `json:"href"`
		} `json:"self"`
		Avatar struct {
			Href string `json:"href"`
		} `json:"avatar"`
		HTML struct {
			Href string `json:"href"`
		} `json:"html"`
	} `json:"links"`
	CreatedOn     string `json:"created_on"`
	Type          string `json:"type"`
	UUID          string `json:"uuid"`
	Has2FAEnabled *bool  `json:"has_2fa_enabled"` // nil: not said
	Username      string `json:"username"`        // may change
	IsStaff       bool   `json:"is_staff"`
	AccountID     string `json:"account_id"`
	Nickname      string `json:"nickname"`
	AccountStatus string `json:"account_status"`
	Location      string `json:"location"`
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"` // set by package providers, and so is Email
}
