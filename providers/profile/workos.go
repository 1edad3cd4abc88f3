package profile

// WorkOS is what WorkOS says about a person.
type WorkOS struct {
	Object         string           `json:"object"`
	ID             string           `json:"id"`
	OrganizationID string           `json:"organization_id"`
	ConnectionID   string           `json:"connection_id"`
	ConnectionType string           `json:"connection_type"`
	IDPID          string           `json:"idp_id"` // of the person at their own identity provider
	Email          string           `json:"email"`
	FirstName      string           `json:"first_name"`
	LastName       string           `json:"last_name"`
	RawAttributes  WorkOSAttributes `json:"raw_attributes"` // as the identity provider of the person says
}

// WorkOSAttributes are members that identity providers often have.
type WorkOSAttributes struct {
	ID        string `json:"id"`
	Email     string `json:"email"`
	LastName  string `json:"lastName"`
	FirstName string `json:"firstName"`
	Picture   string `json:"picture"`
}
