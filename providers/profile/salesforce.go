package profile

// Salesforce is what Salesforce says about a person.
type Salesforce struct {
	OpenID
	UserID         string `json:"user_id"`
	OrganizationID string `json:"organization_id"`
	Active         bool   `json:"active"`
	UserType       string `json:"user_type"`
	Language       string `json:"language"`
	UTCOffset      int64  `json:"utcOffset"` // of their time zone, in milliseconds
}
