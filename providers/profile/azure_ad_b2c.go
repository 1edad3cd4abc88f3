package profile

// AzureADB2C is what Azure AD B2C says about a person.
type AzureADB2C struct {
	Standard
	Version    string   `json:"ver"`
	ObjectID   string   `json:"oid"` // of the person in the directory
	Country    string   `json:"country"`
	PostalCode string   `json:"postalCode"`
	Emails     []string `json:"emails"`
	UserFlow   string   `json:"tfp"`
}
