package profile

// FACEIT is what FACEIT says about a person.
type FACEIT struct {
	GUID     string `json:"guid"`
	Name     string `json:"name"`
	Nickname string `json:"nickname"`
	Email    string `json:"email"`
	Picture  string `json:"picture"`
	Locale   string `json:"locale"`
}
