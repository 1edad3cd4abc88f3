package profile

// Wikimedia is what Wikimedia says about a person.
type Wikimedia struct {
	Subject        string   `json:"sub"`
	Username       string   `json:"username"` // may change
	EditCount      int64    `json:"editcount"`
	ConfirmedEmail bool     `json:"confirmed_email"`
	Blocked        bool     `json:"blocked"`
	Registered     string   `json:"registered"` // YYYYMMDDHHMMSS
	Groups         []string `json:"groups"`
	Rights         []string `json:"rights"`
	Grants         []string `json:"grants"`
	RealName       string   `json:"realname"`
	Email          string   `json:"email"`
}
