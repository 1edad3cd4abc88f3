package profile

// BoxyHQSAML is what BoxyHQ SAML says about a person.
type BoxyHQSAML struct {
	ID        string `json:"id"`
	Email     string `json:"email"`
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
}
