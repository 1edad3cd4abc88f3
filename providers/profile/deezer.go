package profile

// Deezer is what Deezer says about a person.
type Deezer struct {
	ID                   int64  `json:"id"`
	Name                 string `json:"name"`
	Lastname             string `json:"lastname"`
	Firstname            string `json:"firstname"`
	Email                string `json:"email"`
	Status               int64  `json:"status"`
	Birthday             string `json:"birthday"`
	InscriptionDate      string `json:"inscription_date"`
	Gender               string `json:"gender"`
	Link                 string `json:"link"`
	Picture              string `json:"picture"`
	Country              string `json:"country"`
	Lang                 string `json:"lang"`
	IsKid                bool   `json:"is_kid"`
	ExplicitContentLevel string `json:"explicit_content_level"`
	Tracklist            string `json:"tracklist"`
	Type                 string `json:"type"`
}
