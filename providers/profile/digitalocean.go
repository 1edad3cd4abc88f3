package profile

// DigitalOcean is what DigitalOcean says about a person.
type DigitalOcean struct {
	Account struct {
		DropletLimit    int64  `json:"droplet_limit"`
		FloatingIPLimit int64  `json:"floating_ip_limit"`
		Email           string `json:"email"`
		Name            string `json:"name"`
		UUID            string `json:"uuid"`
		EmailVerified   bool   `json:"email_verified"`
		Status          string `json:"status"`
		StatusMessage   string `json:"status_message"`
	} `json:"account"`
}
