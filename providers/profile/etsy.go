package profile

// Etsy is what Etsy says about a person.
type Etsy struct {
	UserID       int64  `json:"user_id"`
	PrimaryEmail string `json:"primary_email"`
	FirstName    string `json:"first_name"`
	LastName     string `json:"last_name"`
	ImageURL75   string `json:"image_url_75x75"`
}
