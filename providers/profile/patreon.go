package profile

// Patreon is what Patreon says about a person, as a JSON:API document.
type Patreon struct {
	Data PatreonUser `json:"data"`
}

// PatreonUser is the person.
type PatreonUser struct {
	ID         string            `json:"id"`
	Type       string            `json:"type"`
	Attributes PatreonAttributes `json:"attributes"`
}

// PatreonAttributes are the fields that were asked for.
type PatreonAttributes struct {
	Email           string `json:"email"`
	FullName        string `json:"full_name"`
	ImageURL        string `json:"image_url"`
	IsEmailVerified bool   `json:"is_email_verified"`
}
