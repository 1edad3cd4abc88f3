package profile

// Eventbrite is what Eventbrite says about a person.
type Eventbrite struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	IsPublic  bool   `json:"is_public"`
	Emails    []struct {
		Email    string `json:"email"`
		Verified bool   `json:"verified"`
		Primary  bool   `json:"primary"`
	} `json:"emails"`
	ImageID string `json:"image_id"`
}
