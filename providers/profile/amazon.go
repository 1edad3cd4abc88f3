package profile

// Amazon is what Amazon says about a person.
type Amazon struct {
	UserID     string `json:"user_id"`
	Email      string `json:"email"`
	Name       string `json:"name"`
	PostalCode string `json:"postal_code"`
}
