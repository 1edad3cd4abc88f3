package profile

// CloudFoundry is what Cloud Foundry says about a person.
type CloudFoundry struct {
	UserID        string `json:"user_id"`
	UserName      string `json:"user_name"`
	Name          string `json:"name"`
	GivenName     string `json:"given_name"`
	FamilyName    string `json:"family_name"`
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
	Subject       string `json:"sub"` // the same as UserID
}
