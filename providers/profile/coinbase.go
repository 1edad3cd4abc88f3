package profile

// Coinbase is what Coinbase says about a person.
type Coinbase struct {
	Data struct {
		ID              string `json:"id"`
		Name            string `json:"name"`
		Username        string `json:"username"`
		ProfileLocation string `json:"profile_location"`
		ProfileBio      string `json:"profile_bio"`
		ProfileURL      string `json:"profile_url"`
		AvatarURL       string `json:"avatar_url"`
		Resource        string `json:"resource"`
		ResourcePath    string `json:"resource_path"`
		Email           string `json:"email"`
	} `json:"data"`
}
