package profile

// Authentik is what Authentik says about a person.
type Authentik struct {
	Standard
	Groups []string `json:"groups"`
}
