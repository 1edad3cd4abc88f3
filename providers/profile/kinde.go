package profile

// Kinde is what Kinde says about a person: the claims of the ID token, and beside them
// the members of the type that Auth.js has, which older businesses send.
type Kinde struct {
	Standard
	ID             string `json:"id"`
	FirstName      string `json:"first_name"`
	LastName       string `json:"last_name"`
	PreferredEmail string `json:"preferred_email"`
	ProvidedID     string `json:"provided_id"` // in the system before Kinde
	Username       string `json:"username"`
}
