package profile

// Frontegg is what Frontegg says about a person.
type Frontegg struct {
	Standard
	ProfilePictureURL string   `json:"profilePictureUrl"`
	Roles             []string `json:"roles"`
	TenantID          string   `json:"tenantId"`
}
