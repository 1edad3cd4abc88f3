package profile

// Logto is what a Logto ID token says. Most members need a scope of their own.
type Logto struct {
	OpenID
	Username          string           `json:"username"` // may change and be taken over by another person
	CustomData        map[string]any   `json:"custom_data"`
	Identities        map[string]any   `json:"identities"`
	SSOIdentities     []map[string]any `json:"sso_identities"`
	Organizations     []string         `json:"organizations"`
	OrganizationData  []map[string]any `json:"organization_data"`
	OrganizationRoles []string         `json:"organization_roles"`
}
