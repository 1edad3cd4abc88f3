package profile

// Dailymotion is what Dailymotion says about a person.
type Dailymotion struct {
	ID           string `json:"id"`
	Email        string `json:"email"`
	Fullname     string `json:"fullname"`
	FirstName    string `json:"first_name"`
	LastName     string `json:"last_name"`
	Username     string `json:"username"`
	Description  string `json:"description"`
	Avatar720URL string `json:"avatar_720_url"`
	City         string `json:"city"`
}
