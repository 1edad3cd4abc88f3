package profile

// Dropbox is what Dropbox says about a person.
type Dropbox struct {
	AccountID string `json:"account_id"`
	Name      struct {
		GivenName       string `json:"given_name"`
		Surname         string `json:"surname"`
		FamiliarName    string `json:"familiar_name"`
		DisplayName     string `json:"display_name"`
		AbbreviatedName string `json:"abbreviated_name"`
	} `json:"name"`
	Email           string            `json:"email"`
	EmailVerified   bool              `json:"email_verified"`
	ProfilePhotoURL string            `json:"profile_photo_url"`
	Disabled        bool              `json:"disabled"`
	Country         string            `json:"country"`
	Locale          string            `json:"locale"`
	ReferralLink    string            `json:"referral_link"`
	IsPaired        bool              `json:"is_paired"`
	AccountType     map[string]string `json:"account_type"` // ".tag": basic, pro or business
}
