package profile

// Linear is what Linear says about a member, in the envelope of its GraphQL API.
type Linear struct {
	Data struct {
		Viewer struct {
			ID        string `json:"id"`
			Name      string `json:"name"`
			Email     string `json:"email"`
			AvatarURL string `json:"avatarUrl"`
		} `json:"viewer"`
	} `json:"data"`
}
