package profile

// Keycloak is what Keycloak says about a person.
type Keycloak struct {
	Standard
	Type string `json:"typ"` // "ID"
}
