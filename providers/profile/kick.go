package profile

// Kick is what Kick says about a person, who is the only one of the list.
type Kick struct {
	Data []struct {
		UserID         int64  `json:"user_id"`
		Name           string `json:"name"`
		Email          string `json:"email"`
		ProfilePicture string `json:"profile_picture"`
	} `json:"data"`
	Message string `json:"message"`
}
