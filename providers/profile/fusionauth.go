package profile

// FusionAuth is what FusionAuth says about a person.
type FusionAuth struct {
	Standard
	AuthenticationType string   `json:"authenticationType"`
	Scope              string   `json:"scope"`
	TenantID           string   `json:"tid"`
	ApplicationID      string   `json:"applicationId"`
	Roles              []string `json:"roles"`
}
