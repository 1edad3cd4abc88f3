package profile

// Strava is what Strava says about an athlete.
type Strava struct {
	ID            int64  `json:"id"`
	Username      string `json:"username"`
	ResourceState int64  `json:"resource_state"` // how much of the profile this is
	FirstName     string `json:"firstname"`
	LastName      string `json:"lastname"`
	City          string `json:"city"`
	State         string `json:"state"`
	Country       string `json:"country"`
	Sex           string `json:"sex"` // M or F
	Premium       bool   `json:"premium"`
	Summit        bool   `json:"summit"`
	CreatedAt     string `json:"created_at"`
	UpdatedAt     string `json:"updated_at"`
	Profile       string `json:"profile"`        // URL of a picture
	ProfileMedium string `json:"profile_medium"` // URL of a smaller one
}
