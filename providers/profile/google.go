package profile

// Google is what a Google ID token says.
type Google struct {
	IDToken
	Name          string `json:"name"`
	GivenName     string `json:"given_name"`
	FamilyName    string `json:"family_name"`
	Picture       string `json:"picture"`
	Locale        string `json:"locale"`
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
	HostedDomain  string `json:"hd"` // of the person's Workspace or Cloud organization; empty: a consumer account
}
