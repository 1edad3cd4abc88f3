package profile

// FreshBooks is what FreshBooks says about a person.
type FreshBooks struct {
	Response struct {
		ID          int64  `json:"id"`
		IdentityID  int64  `json:"identity_id"`
		FirstName   string `json:"first_name"`
		LastName    string `json:"last_name"`
		Email       string `json:"email"`
		Language    string `json:"language"`
		ConfirmedAt string `json:"confirmed_at"`
		CreatedAt   string `json:"created_at"`
	} `json:"response"`
}
