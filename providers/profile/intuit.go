package profile

// Intuit is what Intuit says about a person.
type Intuit struct {
	Sub                 string `json:"sub"`
	GivenName           string `json:"givenName"`
	FamilyName          string `json:"familyName"`
	Email               string `json:"email"`
	EmailVerified       Flag   `json:"emailVerified"`
	PhoneNumber         string `json:"phoneNumber"`
	PhoneNumberVerified Flag   `json:"phoneNumberVerified"`
}
