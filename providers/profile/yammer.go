package profile

// Yammer is what Yammer says about a person.
type Yammer struct {
	ID          int64  `json:"id"`
	NetworkID   int64  `json:"network_id"`
	FullName    string `json:"full_name"`
	FirstName   string `json:"first_name"`
	LastName    string `json:"last_name"`
	Name        string `json:"name"`
	Email       string `json:"email"`
	JobTitle    string `json:"job_title"`
	Location    string `json:"location"`
	MugshotURL  string `json:"mugshot_url"`
	WebURL      string `json:"web_url"`
	Timezone    string `json:"timezone"`
	NetworkName string `json:"network_name"`
	State       string `json:"state"`
	Type        string `json:"type"`
	ActivatedAt string `json:"activated_at"`
}
