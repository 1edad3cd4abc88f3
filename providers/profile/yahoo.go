package profile

// Yahoo is what a Yahoo ID token says.
type Yahoo struct {
	OpenID
	ProfileImages map[string]string `json:"profile_images"`
}
