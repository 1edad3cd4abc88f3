package profile

// InfluxCloud is what InfluxCloud says about a person.
type InfluxCloud struct {
	ID        int64  `json:"id"`
	Email     string `json:"email"`
	Bio       string `json:"bio"`
	Name      string `json:"name"`
	Login     string `json:"login"`
	AvatarURL string `json:"avatar_url"`
	Location  string `json:"location"`
}
