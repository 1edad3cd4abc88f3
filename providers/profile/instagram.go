package profile

// Instagram is what Instagram says about a person.
type Instagram struct {
	ID                string `json:"id"`       // of the person in this application
	UserID            string `json:"user_id"`  // of the professional account
	Username          string `json:"username"` // may change
	AccountType       string `json:"account_type"`
	Name              string `json:"name"`
	ProfilePictureURL string `json:"profile_picture_url"`
}
